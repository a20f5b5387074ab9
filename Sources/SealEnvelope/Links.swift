public import SealPrimitives
internal import SealStatements

/// The secret part of a share URL: 32 random bytes that never reach the server.
public struct LinkSecret: Sendable {
    public let bytes: SecretBytes

    public init(random: inout some RandomSource) { bytes = SecretBytes(random: &random) }

    public init(_ bytes: SecretBytes) throws(SealError) {
        guard bytes.count == 32 else { throw .invalidLength }
        self.bytes = bytes
    }

    /// The keys of one invitation: bound to scope and invitation, so that they are good nowhere else.
    public func invitationKeys(scopeID: Digest, invitationID: ID16) throws(SealError) -> InvitationKeys {
        InvitationKeys(
            id: invitationID,
            signingKey: try SigningKey(seed: Hash.derive(bytes, .invitationSign, scopeID.bytes, invitationID.bytes)),
            grantSeed: Hash.derive(bytes, .invitationGrant, scopeID.bytes, invitationID.bytes))
    }

    /// The public name of this secret in a scope: what the roster's settings commit to, so that a copy that the server
    /// kept, or sealed itself, is checked before it is used.
    public func id(in scopeID: Digest) -> Digest { Hash.identifier(bytes, .linkID, scopeID.bytes) }

    /// - Throws: `keyMismatch` unless this is the secret that `linkID` names.
    public func check(linkID: Digest, scopeID: Digest) throws(SealError) {
        guard id(in: scopeID) == linkID else { throw .keyMismatch }
    }

    // MARK: Previews

    /// Title, type and thumbnail for whoever has the URL, as somebody who administers the share signed them.
    /// - Throws: `invalidLength` for more than `Limits.previewBytes`, sealed.
    public func seal(
        _ preview: SignedPreview, scopeID: Digest, random: inout some RandomSource
    ) throws(SealError) -> [UInt8] {
        let sealed = AEAD.seal(
            Padding.pad(preview.canonicalBytes()), under: previewKey(scopeID), associatedData: previewData(scopeID),
            random: &random)
        guard sealed.count <= Limits.previewBytes else { throw .invalidLength }
        return sealed
    }

    /// Nothing of what it says counts before it is verified (`SignedPreview.verified(in:)`).
    /// - Throws: `authenticationFailed`; `invalidLength`, `malformed`.
    public func openPreview(_ sealed: [UInt8], scopeID: Digest) throws(SealError) -> SignedPreview {
        guard sealed.count <= Limits.previewBytes else { throw .invalidLength }
        let plaintext = try AEAD.open(sealed, under: previewKey(scopeID), associatedData: previewData(scopeID))
        return try SignedPreview(padded: plaintext)
    }

    private func previewKey(_ scopeID: Digest) -> SecretBytes { Hash.derive(bytes, .previewKey, scopeID.bytes) }

    private func previewData(_ scopeID: Digest) -> [UInt8] {
        var pae = PAE(.preview, pieces: 1)
        pae.add(scopeID)
        return pae.finish()
    }
}

extension LinkSecret: CustomStringConvertible {
    public var description: String { "LinkSecret" }
}

/// What a link secret gives for one invitation.
public struct InvitationKeys: Sendable {
    public let id: ID16
    /// Signs the acceptance.
    public let signingKey: SigningKey
    /// X-Wing seed: opens the invitation's grant.
    public let grantSeed: SecretBytes
}

extension InvitationKeys: CustomStringConvertible {
    public var description: String { "InvitationKeys" }
}

/// `https://server/s/<routing id>#<secret part>`. The secret part is base64url of `version 1 ‖ link secret (32) ‖ first
/// 16 bytes of H("link", scopeID)`: another share or owner served behind the same URL is refused.
public struct ShareURL: Sendable {
    /// Scheme, host and port: `https://notes.example.org`.
    public let origin: String
    public let routingID: ID16
    public let secret: LinkSecret
    private let scopeCheck: ID16

    static let version: UInt8 = 1
    static let secretPartBytes = 1 + 32 + 16

    public init(origin: String, routingID: ID16, secret: LinkSecret, scopeID: Digest) {
        self.origin = origin
        self.routingID = routingID
        self.secret = secret
        scopeCheck = ShareURL.check(scopeID)
    }

    /// - Throws: `invalidURL` for anything cut short, altered or of another version.
    public init(_ text: String) throws(SealError) {
        guard let hash = text.utf8.firstIndex(of: 0x23) else { throw .invalidURL }
        let address = text[..<hash]
        guard let slash = address.utf8.lastIndex(of: 0x2F), address[..<slash].hasSuffix("/s"),
            let routing = try? Base64URL.decode(address[address.utf8.index(after: slash)...]),
            let id = try? ID16(routing),
            let part = try? Base64URL.decodeSecret(text[text.utf8.index(after: hash)...]),
            part.count == ShareURL.secretPartBytes,
            let version = part.part(0..<1)?.copyBytes(), version == [ShareURL.version], let bytes = part.part(1..<33),
            let check = part.part(33..<49)
        else { throw .invalidURL }
        origin = String(address[..<slash].dropLast(2))
        guard origin.hasPrefix("https://") || origin.hasPrefix("http://") else { throw .invalidURL }
        routingID = id
        secret = try LinkSecret(bytes)
        scopeCheck = try ID16(check.copyBytes())
    }

    /// The URL itself, a secret: show it to its user, keep it nowhere.
    public func text() -> String {
        let part = SecretBytes(joining: [
            SecretBytes(copying: [ShareURL.version]), secret.bytes, SecretBytes(copying: scopeCheck.bytes),
        ])
        return origin + "/s/" + Base64URL.encode(routingID.bytes) + "#" + Base64URL.encode(part)
    }

    /// - Throws: `invalidURL` when the server answers with another share than the one that the URL was made for.
    public func check(scopeID: Digest) throws(SealError) {
        guard ShareURL.check(scopeID) == scopeCheck else { throw .invalidURL }
    }

    private static func check(_ scopeID: Digest) -> ID16 { ID16(prefixOf: Hash.digest(.link, scopeID.bytes)) }
}

extension ShareURL: CustomStringConvertible {
    /// Without the secret part.
    public var description: String { origin + "/s/" + Base64URL.encode(routingID.bytes) }
}
