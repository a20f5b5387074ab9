import SealPrimitives
import SealStatements

@testable import SealEnvelope

/// Share URLs: what is read is written the same.
enum ShareURLTarget: FuzzTarget {
    static let name = "share-url"
    static let maximumLength = 1_024
    static let seeds = [Seed.text("links", "url")]

    static func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        guard let url = try? ShareURL(text) else { return }
        require(url.text().utf8.elementsEqual(text.utf8), "a URL with another spelling")
        require(text.utf8.starts(with: url.origin.utf8), "another server than the text's")
        let again = certain("a URL that was written is read") { try ShareURL(url.text()) }
        require(again.origin.utf8.elementsEqual(url.origin.utf8) && again.routingID == url.routingID, "another address")
        require(SecretBytes.areEqual(again.secret.bytes, url.secret.bytes), "another secret")
        require(text.utf8.starts(with: (url.description + "#").utf8), "a description of more than the address")
        for scope in [World.scope.id, .zero] {
            require(
                (try? url.check(scopeID: scope)) == nil || (try? again.check(scopeID: scope)) != nil, "another check")
        }
    }
}

/// Previews of shares: what whoever has the URL can seal, and what becomes of it in the zone's story.
enum PreviewTarget: FuzzTarget {
    static let name = "preview"
    static let seeds = [Seed.made(Padding.pad(honest.canonicalBytes())), .hex("padding", "plaintext")]

    private static let roster = World.zone.roster
    private static let honest = SignedPreview(
        SharePreview(title: "Notes", shareType: "list", thumbnail: [1, 2, 3]), by: World.people[0].userID,
        key: World.people[0].known(to: roster).signingKey, on: roster, time: 1, after: nil)

    static func run(_ input: [UInt8]) {
        let scopeID = roster.scopeID
        var pae = PAE(.preview, pieces: 1)
        pae.add(scopeID)
        let sealed = seal(input, under: Hash.derive(World.link.bytes, .previewKey, scopeID.bytes), pae)
        let open = { try World.link.openPreview($0, scopeID: scopeID) }
        opensOnlyWhole(hostile: input, sealed: sealed, "a preview", open: open)
        refuses("another share's preview", with: .authenticationFailed) {
            try World.link.openPreview(sealed, scopeID: .zero)
        }
        guard let preview = try? open(sealed) else { return }
        require(Padding.pad(preview.canonicalBytes()) == input, "a preview with another encoding")
        verify(preview)
        signAnew(preview)
    }

    /// Nothing but what was signed is shown.
    private static func verify(_ preview: SignedPreview) {
        guard let shown = try? preview.verified(in: roster) else { return }
        require(preview == honest && shown == honest.preview, "a preview that nobody signed")
    }

    /// The same words, signed by each of the zone's people in their own name, at the end of the log.
    private static func signAnew(_ preview: SignedPreview) {
        for person in World.people.map({ $0.known(to: roster) }) {
            let signed = SignedPreview(
                preview.preview, by: person.userID, key: person.signingKey, on: roster, time: preview.time, after: nil)
            let role = roster.members[person.userID]?.role
            let verified = try? signed.verified(in: roster)
            require(
                (verified == preview.preview) == (role == .owner || role == .administrator),
                "shown by somebody of another role")
            let next = SignedPreview(
                preview.preview, by: person.userID, key: person.signingKey, on: roster, time: 0, after: signed)
            require(
                !next.isOlder(than: (signed.rosterSequence, signed.time)), "a preview that is older than the one before"
            )
        }
    }
}
