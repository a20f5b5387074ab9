import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension ClientAcceptVectors: Construction {
    static let construction = VectorConstruction.clientAccept
    static let algorithm = "What a client makes of the answers about a share's URL"
    static let header = [
        "A test is invalid where anything is refused; what can still be done after that is done, and has its own verdict. `reason` is the first refusal, with the core's reason behind a dot.",
        "Share: the account of `seeds` (oldest first, identities of time 0) has the `url`, asks the server at `server`, and looks in `container` and `environment`. `pages` are the answers, one after the other as long as `moreComing`: where the share is (`place`), `count` entries from number `from` on of a `log` of the group's `logs` (its `entries`, behind the first `at` ones of the log that it `partsFrom`), the seat that the server names (`invitationID`), its `grant`, and the sealed `preview`.",
        "`opening` (\"Look at a share\", steps 1 and 3): `accepted`, with the roster's `head`; `otherServer`, `otherContainer`, `roster` (the URL is another scope's, or the roster does not hold), `endless` (a page that brings nothing, or is of another share).",
        "`preview` (step 4): `shown`, with `title` and `previewAuthor`; `notVouched` (R-PREVIEW-3); `preview` (R-PREVIEW-1, 2); `older` than `seenPreview` (R-PREVIEW-4). A preview that is refused keeps nobody from accepting.",
        "`seat` (step 5): `member`, `invitation`, `knownInvitation` or `publicSeat`, with its `permission`; `noSeat`. `acceptance` (\"Accept\", steps 2 to 4): `accepted` at `time`, with the signed `entry` and its `signature`, and the epoch `key` that the acceptor seals to itself; `invitation` (another secret than the seat's, or another grant than was signed for); `grant` (the one that was signed for does not open).",
        "Owner: who asks for access is told that the owner of the share at `place` has `chain`: `accepted`, with the `scopeID` and the `signingKey` to come; `otherContainer`, `roster`, `owner` (it is somebody else's, or does not hold).",
        "Bundle: `sealed` opens with the key that `passphrase`, `name` and `origin` give, to the account that has this `userRecordName` and `signingKey` in `container`; `bringsBack` says whether it is the account of `seeds` as it is now.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        try ShareStories().generate(into: &builder)
        try owners(into: &builder)
        try bundles(into: &builder)
    }

    // MARK: Owners

    private static func owners(into builder: inout VectorBuilder) throws {
        let owner = try VectorPerson(1, time: 0)
        let zone = try VectorZone(owner: owner)
        try builder.group("Owner") { group in
            let good: [String: JSON] = [
                "url": .string(try ShareStories.url(of: zone.scope)), "container": .string(VectorZone.container),
                "environment": .string("production"), "place": ShareStories.place(zone.scope),
                "chain": .chain(owner.identity.signed),
            ]
            group.valid(
                "the owner whom the URL commits to",
                good.merging([
                    "verdict": .string("accepted"), "scopeID": .hex(zone.scope.id),
                    "signingKey": .hex(owner.keys.signingKey.verificationKey.bytes),
                ]) { $1 })
            let renewed = try VectorPerson(11, after: owner, time: 0)
            group.valid(
                "with newer keys",
                good.merging([
                    "chain": .chain(renewed.identity.signed), "verdict": .string("accepted"),
                    "scopeID": .hex(zone.scope.id),
                    "signingKey": .hex(renewed.keys.signingKey.verificationKey.bytes),
                ]) { $1 })
            func refused(_ comment: String, _ verdict: String, _ changes: [String: JSON]) {
                group.invalid(comment, good.merging(changes) { $1 }.merging(["verdict": .string(verdict)]) { $1 })
            }
            let alice = try VectorPerson(2, time: 0)
            refused("somebody else", "owner", ["chain": .chain(alice.identity.signed)])
            refused("nobody", "owner", ["chain": .chain([])])
            let signed = owner.identity.signed[0]
            refused(
                "with another signature", "owner",
                ["chain": .chain([SignedIdentity(bytes: signed.bytes, signature: alice.identity.signed[0].signature)])])
            refused(
                "somebody else, in a place of theirs", "roster",
                [
                    "chain": .chain(alice.identity.signed),
                    "place": ShareStories.place(zone.scope, ["owner": .string(alice.user.recordName)]),
                ])
            refused(
                "of another container", "otherContainer",
                ["place": ShareStories.place(zone.scope, ["container": .string("com.example.other")])])
        }
    }

    // MARK: Bundles

    private static func bundles(into builder: inout VectorBuilder) throws {
        let (first, origin, name) = (try VectorPerson(2, time: 0), "https://notes.example.org", "alice@example.org")
        let second = try VectorPerson(12, after: first, time: 0)
        let passphrase = [UInt8]("a guest's passphrase".utf8)
        let key = try RecoveryKey(passphrase: SecretBytes(copying: passphrase), name: name, origin: origin)
        func fields(_ bundled: [VectorPerson], _ account: [VectorPerson], _ bringsBack: Bool) -> [String: JSON] {
            var random = RecordingRandom("a guest's bundle of \(bundled.count)")
            let newest = bundled[bundled.count - 1]
            return [
                "passphrase": .hex(passphrase), "name": .string(name), "origin": .string(origin),
                "container": .string(VectorZone.container),
                "sealed": .hex(key.seal(bundled.map { $0.seed }, random: &random)),
                "seeds": .array(account.map { .hex($0.seed.bytes) }),
                "userRecordName": .string(newest.user.recordName),
                "signingKey": .hex(newest.keys.signingKey.verificationKey.bytes), "bringsBack": .bool(bringsBack),
            ]
        }
        try builder.group("Bundle") { group in
            group.valid("an account of two generations", fields([first, second], [first, second], true))
            group.altered("another passphrase", ["passphrase": .hex([UInt8]("another passphrase".utf8))])
            group.valid("from before the account's newest keys", fields([first], [first, second], false))
            group.valid(
                "another account's, under the same passphrase",
                fields([try VectorPerson(3, time: 0)], [first, second], false))
        }
    }
}
