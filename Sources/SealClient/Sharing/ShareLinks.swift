public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// The URLs of a share that its owner or an administrator has: kept on the server under the account's storage key,
/// which the server does not have; the share-wide one that somebody else made, as it was sealed to the account.
public struct ShareLinks: Sendable {
    public struct Link: Sendable {
        public let routingID: ID16
        public let secret: LinkSecret
        /// nil for the share-wide URL.
        public let invitationID: ID16?
        /// What the server keeps for whoever looks at it, opened and not verified; nil for a new one, and for what is
        /// no preview.
        public internal(set) var shown: SignedPreview?

        /// The URL itself, a secret.
        public func url(origin: String, scopeID: Digest) -> String {
            ShareURL(origin: origin, routingID: routingID, secret: secret, scopeID: scopeID).text()
        }
    }

    /// What kept secrets are kept as.
    public static let purpose = "link-secret"
    /// The one-time URLs.
    public let links: [Link]
    /// The one whose secret the roster's settings name: another one that the server keeps is no link of this share.
    public let shareWide: Link?

    /// Of a share that has none yet.
    public init() { (links, shareWide) = ([], nil) }

    /// - Parameters:
    ///   - stored: what the server keeps, sealed as it is.
    ///   - seeds: of the account, oldest first.
    ///   - roster: the share's.
    /// - Throws: what a kept secret does not open with.
    public init<H: HybridEncryption>(
        _ stored: Wire.LinksResponse, keptBy seeds: [AccountSeed], of own: OwnIdentity, in roster: Roster, using: H.Type
    ) throws(SealError) {
        var links: [Link] = []
        for link in stored.links where !link.keptSecret.isEmpty {
            let routingID = try ID16(link.routingID)
            let secret = try StorageBox.open(
                link.keptSecret, purpose: Self.purpose, context: Self.context(roster.scopeID, routingID), keptBy: seeds)
            links.append(
                Link(
                    routingID: routingID, secret: try LinkSecret(secret),
                    invitationID: link.invitationID.isEmpty ? nil : try ID16(link.invitationID), showing: link.preview,
                    in: roster))
        }
        let shareWide = links.first {
            $0.invitationID == nil && $0.secret.id(in: roster.scopeID) == roster.linkID
        }
        self.links = links.filter { $0.invitationID != nil }
        self.shareWide = shareWide ?? Self.sealed(stored, to: own, in: roster, using: H.self)
    }

    /// The share-wide link of another maker. One that does not open is none: a copy that somebody sealed badly must not
    /// keep the owner from putting that somebody out.
    private static func sealed<H: HybridEncryption>(
        _ stored: Wire.LinksResponse, to own: OwnIdentity, in roster: Roster, using: H.Type
    ) -> Link? {
        guard let linkID = roster.linkID, let wire = stored.links.first(where: { $0.invitationID.isEmpty }),
            let routingID = try? ID16(wire.routingID)
        else { return nil }
        let opened = try? own.open { keys throws(SealError) in
            try SealedLinks<H>.open(
                stored.sealedLink, scopeID: roster.scopeID, linkID: linkID, as: own.chain.userID, keys: keys)
        }
        guard let secret = opened else { return nil }
        return Link(routingID: routingID, secret: secret, invitationID: nil, showing: wire.preview, in: roster)
    }

    private static func context(_ scopeID: Digest, _ routingID: ID16) -> [UInt8] { scopeID.bytes + routingID.bytes }

    // MARK: New ones

    /// What the server keeps of a link.
    /// - Parameter seed: the account's newest.
    /// - Throws: `invalidLength` for a preview that is too long.
    static func keep(
        _ link: Link, by seed: AccountSeed, scopeID: Digest, preview: SignedPreview, random: inout some RandomSource
    ) throws(SealError) -> Wire.Link {
        let kept = StorageBox.seal(
            link.secret.bytes, purpose: purpose, context: context(scopeID, link.routingID), under: seed.storageKey(),
            random: &random)
        var wire = try show(preview, behind: link, scopeID: scopeID, random: &random)
        wire.invitationID = link.invitationID?.bytes ?? []
        wire.keptSecret = kept
        return wire
    }

    /// Seals by the account's newest keys what was kept by those before.
    /// - Parameter seeds: of the account, oldest first.
    /// - Returns: the links that are to be kept so.
    public static func keptAnew(
        _ stored: Wire.LinksResponse, by seeds: [AccountSeed], scopeID: Digest, random: inout some RandomSource
    ) -> [Wire.Link] {
        guard seeds.count > 1, let newest = seeds.last else { return [] }
        var wires: [Wire.Link] = []
        for var link in stored.links where !link.keptSecret.isEmpty {
            guard let routingID = try? ID16(link.routingID) else { continue }
            let context = context(scopeID, routingID)
            // What does not open is nothing that this account has kept: a link less, and no reason to stop.
            guard
                (try? StorageBox.open(link.keptSecret, purpose: purpose, context: context, keptBy: [newest])) == nil,
                let secret = try? StorageBox.open(link.keptSecret, purpose: purpose, context: context, keptBy: seeds)
            else { continue }
            link.keptSecret = StorageBox.seal(
                secret, purpose: purpose, context: context, under: newest.storageKey(), random: &random)
            wires.append(link)
        }
        return wires
    }

    // MARK: What they show

    private static func show(
        _ preview: SignedPreview, behind link: Link, scopeID: Digest, random: inout some RandomSource
    ) throws(SealError) -> Wire.Link {
        var wire = Wire.Link()
        wire.routingID = link.routingID.bytes
        wire.preview = try link.secret.seal(preview, scopeID: scopeID, random: &random)
        return wire
    }

    /// What the URLs are to show, as much of it as they can, signed by whoever administers the share: what somebody
    /// else has stored keeps nobody from being put out.
    func sign(_ preview: SharePreview, as own: OwnIdentity, in roster: Roster, time: Int64) -> SignedPreview {
        SignedPreview(
            preview.showable, by: own.chain.userID, key: own.keys(in: roster).signingKey, on: roster, time: time,
            after: newestShown(in: roster))
    }

    /// Seals what the URLs show anew where it is not this, or where nobody vouches for it who administers the share
    /// now: after its title, type or thumbnail changed, and after whoever signed it lost that role.
    /// - Parameters:
    ///   - isNewest: the roster was asked for after the links: a preview that cites a later head is nobody's. Otherwise
    ///     whoever signed it knows better, and one by an older head would be a step back to who has seen it.
    ///   - time: of whoever administers the share, microseconds since 1970.
    /// - Returns: the links that are to be kept so.
    /// - Throws: `link` for what does not seal.
    public func renewed(
        _ preview: SharePreview, as own: OwnIdentity, in roster: Roster, isNewest: Bool, time: Int64,
        random: inout some RandomSource
    ) throws(ShareEditRefusal) -> [Wire.Link] {
        var stale: [Link] = []
        let shown = preview.showable
        for link in all {
            if !isNewest, let last = link.shown, last.rosterSequence >= roster.nextSequence { continue }
            if (try? link.shown?.verified(in: roster)) != shown { stale.append(link) }
        }
        guard !stale.isEmpty else { return [] }
        let signed = sign(preview, as: own, in: roster, time: time)
        var wires: [Wire.Link] = []
        do throws(SealError) {
            for link in stale {
                wires.append(try Self.show(signed, behind: link, scopeID: roster.scopeID, random: &random))
            }
        } catch {
            throw .link(error)
        }
        return wires
    }

    private var all: [Link] {
        guard let shareWide else { return links }
        return links + [shareWide]
    }

    /// Of what verifies: another one's time binds nobody.
    private func newestShown(in roster: Roster) -> SignedPreview? {
        var newest: SignedPreview?
        for link in all {
            guard let shown = link.shown, (try? shown.verified(in: roster)) != nil else { continue }
            if let last = newest, !last.isOlder(than: (shown.rosterSequence, shown.time)) { continue }
            newest = shown
        }
        return newest
    }

    // MARK: Whose they are

    /// The one-time URL behind which an invitation is accepted, or was; nil where somebody else made it.
    public func oneTime(for invitation: ID16, in roster: Roster) -> Link? {
        guard
            roster.invitations[invitation] != nil
                || roster.members.values.contains(where: { $0.invitationID == invitation })
        else { return nil }
        return links.first { $0.invitationID == invitation }
    }
}

extension ShareLinks.Link {
    /// - Parameter sealed: the preview that the server keeps; what does not open is none, and is made anew.
    fileprivate init(
        routingID: ID16, secret: LinkSecret, invitationID: ID16?, showing sealed: [UInt8], in roster: Roster
    ) {
        self.init(
            routingID: routingID, secret: secret, invitationID: invitationID,
            shown: try? secret.openPreview(sealed, scopeID: roster.scopeID))
    }
}

extension ShareLinks: CustomStringConvertible {
    /// Without the secrets.
    public var description: String { "ShareLinks" }
}
