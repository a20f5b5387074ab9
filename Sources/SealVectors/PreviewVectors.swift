import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

/// What a URL shows, who has signed it, and what whoever has the URL can seal instead.
enum PreviewVectors {
    private static let shown = SharePreview(title: "Einkaufsliste", shareType: "list", thumbnail: [1, 2, 3])

    static func generate(into builder: inout VectorBuilder, _ link: LinkSecret) throws {
        var zone = try VectorZone()
        let (owner, alice, bob) = (zone.owner, try VectorPerson(2), try VectorPerson(3))
        try zone.join(alice, 1)
        try zone.join(bob, 2, .readOnly)
        // Who administers it, and when: Alice only in between.
        let byOwner = signed(by: owner, on: zone.roster)
        let tooEarly = signed(by: alice, on: zone.roster)
        try zone.append(by: owner, [.setRole(alice.user, .administrator)])
        let byAlice = signed(by: alice, on: zone.roster)
        let empty = signed(SharePreview(title: ""), by: owner, on: zone.roster)
        let administered = zone
        try zone.append(by: owner, [.setRole(alice.user, .privateUser)], rotating: true)
        let newOwner = try VectorPerson(9, after: owner)
        try zone.append(by: owner, [newOwner.newGeneration], rotating: true)
        let byNewKey = signed(by: newOwner, on: zone.roster)

        try group(into: &builder, administered, "Alice administers the share, Bob reads") { cases in
            try cases.shows("by an administrator", byAlice)
            try cases.shows("nothing but an empty title", empty)
        }
        try group(
            into: &builder, zone, "Alice administered the share and does no more; Bob reads; the owner has new keys"
        ) { cases in
            try cases.shows("by the owner, with the keys before", byOwner)
            try cases.shows("by the owner, with the new keys", byNewKey)
            try cases.shows("by somebody who administers the share no more", byAlice, isVouched: false)
            cases.refused("before she administered the share", tooEarly)
            cases.refused("by a member who only reads", signed(by: bob, on: zone.roster))
            cases.refused("by a stranger", signed(by: try VectorPerson(8), on: zone.roster))
            cases.refused(
                "by a member in the owner's name",
                byNewKey.with(signature: signed(as: newOwner.user, by: bob, on: zone.roster).signature))
            cases.refused(
                "with keys that the owner had replaced", signed(as: newOwner.user, by: owner, on: zone.roster))
            cases.refused(
                "a title that its author did not sign",
                byNewKey.with(preview: SharePreview(title: "Kontodaten", shareType: "list", thumbnail: [1, 2, 3])))
            cases.refused(
                "a type that its author did not sign",
                byNewKey.with(preview: SharePreview(title: "Einkaufsliste", shareType: "note", thumbnail: [1, 2, 3])))
            cases.refused(
                "a thumbnail that its author did not sign",
                byNewKey.with(preview: SharePreview(title: "Einkaufsliste", shareType: "list")))
            cases.refused(
                "a letter that goes over from title to type",
                byNewKey.with(preview: SharePreview(title: "Einkaufslistel", shareType: "ist", thumbnail: [1, 2, 3])))
            cases.refused("another time than was signed", byNewKey.with(time: byNewKey.time + 1))
            cases.refused("a head that is not there", byNewKey.with(head: (99, byNewKey.rosterHead)))
            cases.refused("a forked head", byNewKey.with(head: (byNewKey.rosterSequence, GrantHash.of([1]))))
            cases.refused("another head than was signed", byNewKey.with(head: (0, zone.roster.hashes[0])))
            try cases.sealed(byOwner, link)
        }
        var again = zone
        try again.append(by: newOwner, [.close])
        try again.append(VectorZone.opening(zone.scope, owner: newOwner, following: again.roster).entry, by: newOwner)
        try again.append(by: newOwner, [again.settings()])
        try group(into: &builder, again, "opened again") { cases in
            try cases.shows("of the life before", byNewKey, isVouched: false)
            try cases.shows("of this life", signed(by: newOwner, on: again.roster))
        }
    }

    private static func signed(
        _ preview: SharePreview = shown, as author: UserID? = nil, by signer: VectorPerson, on roster: Roster
    ) -> SignedPreview {
        SignedPreview(
            preview, by: author ?? signer.user, key: signer.keys.signingKey, on: roster, time: VectorZone.time,
            after: nil)
    }

    private static func group(
        into builder: inout VectorBuilder, _ zone: VectorZone, _ state: String, _ body: (Cases) throws -> Void
    ) throws {
        let shared: [String: JSON] = [
            "scope": .scope(zone.scope), "entries": .entries(zone.entries), "state": .string(state),
        ]
        try builder.group("Preview", shared: shared) { group in
            let cases = Cases(zone: zone, group: group)
            try body(cases)
            group = cases.group
        }
    }

    private final class Cases {
        let zone: VectorZone
        var group: VectorBuilder.GroupBuilder

        init(zone: VectorZone, group: VectorBuilder.GroupBuilder) {
            self.zone = zone
            self.group = group
        }

        func shows(_ comment: String, _ preview: SignedPreview, isVouched: Bool = true) throws {
            group.valid(comment, try fields(preview, isVouched: isVouched))
        }

        func refused(_ comment: String, _ preview: SignedPreview) {
            guard let fields = try? fields(preview, isVouched: true) else { return }
            group.invalid(comment, fields)
        }

        /// What is wrong with the box and its plaintext.
        func sealed(_ preview: SignedPreview, _ link: LinkSecret) throws {
            let good = try fields(preview, isVouched: true)
            guard case .string(let hex)? = good["sealed"] else { return }
            let whole = try Hex.decode(hex)
            func altered(_ comment: String, _ fields: [String: JSON]) {
                group.invalid(comment, good.merging(fields) { $1 })
            }
            altered("another link secret", ["linkSecret": .hex(Digest.zero)])
            altered("cut short", ["sealed": .hex([UInt8](whole.dropLast()))])
            altered(
                "an altered byte",
                ["sealed": .hex(whole.enumerated().map { $0.offset == 60 ? $0.element ^ 1 : $0.element })])
            var plaintext = try AEAD.open(whole, under: key(link, .previewKey), associatedData: data(.preview))
            func plain(_ comment: String, _ plaintext: [UInt8]) {
                altered(comment, ["sealed": .hex(seal(plaintext, link))])
            }
            plain("a zero less", [UInt8](plaintext.dropLast()))
            plain("a zero more", plaintext + [0])
            plain("padding that is not zero", [UInt8](plaintext.dropLast()) + [1])
            altered(
                "under the label of its data",
                [
                    "sealed": .hex(
                        AEAD.seal(
                            plaintext, under: key(link, .preview), associatedData: data(.preview), random: &random))
                ])
            // The title's first byte: behind author, sequence, head, time and length.
            plaintext[16 + 8 + 32 + 8 + 4] = 0xFF
            plain("a title that is no UTF-8", plaintext)
        }

        private var random = RecordingRandom("a preview's box")

        private func seal(_ plaintext: [UInt8], _ link: LinkSecret) -> [UInt8] {
            AEAD.seal(plaintext, under: key(link, .previewKey), associatedData: data(.preview), random: &random)
        }

        private func key(_ link: LinkSecret, _ label: Label) -> SecretBytes {
            Hash.derive(link.bytes, label, zone.scope.id.bytes)
        }

        private func data(_ label: Label) -> [UInt8] {
            var pae = PAE(label, pieces: 1)
            pae.add(zone.scope.id)
            return pae.finish()
        }

        private func fields(_ preview: SignedPreview, isVouched: Bool) throws -> [String: JSON] {
            var random = RecordingRandom("preview")
            let sealed = try VectorZone.link().seal(preview, scopeID: zone.scope.id, random: &random)
            return [
                "linkSecret": .hex(VectorZone.linkBytes), "author": .string(preview.author.recordName),
                "rosterSequence": .number(preview.rosterSequence), "rosterHead": .hex(preview.rosterHead),
                "time": .number(preview.time),
                "title": .string(preview.preview.title), "shareType": .string(preview.preview.shareType),
                "thumbnail": .hex(preview.preview.thumbnail), "signature": .hex(preview.signature),
                "isVouched": .bool(isVouched),
                "random": .hex(random.drawn), "sealed": .hex(sealed),
            ]
        }
    }
}

extension SignedPreview {
    /// The same with something else in it than was signed.
    fileprivate func with(
        preview: SharePreview? = nil, head: (sequence: UInt64, hash: Digest)? = nil, time: Int64? = nil,
        signature: [UInt8]? = nil
    ) -> SignedPreview {
        SignedPreview(
            preview ?? self.preview, author: author, rosterSequence: head?.sequence ?? rosterSequence,
            rosterHead: head?.hash ?? rosterHead,
            time: time ?? self.time, signature: signature ?? self.signature)
    }
}
