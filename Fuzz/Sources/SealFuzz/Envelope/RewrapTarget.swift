import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// Records that are carried over, fields and all: out of the zone into the share, back, or into a new epoch.
enum RewrapTarget: FuzzTarget {
    static let name = "rewrap"
    static let maximumLength = 1_024
    static let seeds =
        [
            Seed.made([]), .made([1, 0, 3, 1, 2, 3, 0x61, 0x62]), .made([1, 1, 2]), .made([2, 0, 1]), .made([3, 1, 1]),
        ]
        + [.hex("values", "encoded", prefix: [1, 0, 1, 0x11, 0, 0])]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let route = choices.byte() & 3
        // Where it is now, and where it goes: the last one stays in its scope and comes into the next epoch.
        let (from, to) = [(World.zone, World.share), (World.share, World.zone), (World.zone, World.zone)][
            Int(route) % 3]
        let head = route % 3 == 2 ? 7 : from.rosters.count - 1
        let fromKey = route % 3 == 2 ? from.keys[1] : from.key
        let author = World.people[choices.rarely() ? 1 : 0]
        let (record, fields) = record(from.rosters[head], fromKey, &choices)
        let verified = certain("a record") { try Record.verify(record.statementBytes, record.signature, from.roster) }
        let digests = fields.map { FieldDigest(name: $0.name, digest: $0.digest) }
        let opener = certain("its opener") { try RecordOpener(verified, epochKey: fromKey) }

        refuseOthers(verified, digests, opener.recordKey, to.roster)
        let draft = certain("a rewrap") {
            try RecordDraft(
                rewrapping: verified, fields: digests, recordKey: opener.recordKey, into: to.roster, by: author.userID,
                clientTime: choices.number())
        }
        var random = FixedRandom()
        // Another draw than the record's own.
        _ = Digest(random: &random)
        let sealed = certain("sealing") {
            try RecordSealer.seal([draft], epochKey: to.key, signingKey: author.signingKey, random: &random)
        }
        refuses("another epoch's key", with: .wrongContext) {
            try RecordSealer.seal([draft], epochKey: fromKey, signingKey: author.signingKey, random: &random)
        }
        let next = sealed.records[0]
        // Only the owner moves records; whoever may write brings them into a new epoch.
        if author.userID != to.roster.owner, from.scope != to.scope {
            return refuses("moved by a participant", with: .authorNotPermitted) {
                try Record.verify(next.statementBytes, sealed.signature, to.roster)
            }
        }
        let moved = certain("a moved record") { try Record.verify(next.statementBytes, sealed.signature, to.roster) }
        certain("a moved record follows") { try moved.check(follows: verified) }
        certain("a moved record's fields") { try moved.check(digests) }
        check(verified.statement, moved.statement)
        let reopened = certain("a moved record opens") { try RecordOpener(moved, epochKey: to.key) }
        require(SecretBytes.areEqual(reopened.recordKey, opener.recordKey), "another record key")
        refuses("a moved record under the key before", with: .missingKey) { try RecordOpener(moved, epochKey: fromKey) }
        for (field, value) in zip(fields, fields.map(\.value)) {
            let opened = certain("a moved field opens") { try reopened.open(field.stored, name: field.name) }
            switch opened {
            case .plain(let again), .encrypted(let again): require(again.tag == value.tag, "another kind of field")
            case .asset: violated("an asset from nowhere")
            }
            require((try? field.stored.digest(name: field.name)) == field.digest, "another field")
        }
    }

    private static func check(_ was: Statement, _ now: Statement) {
        require(
            now.recordName == was.recordName && now.recordType == was.recordType && now.creator == was.creator
                && now.parent == was.parent && now.share == was.share, "another record")
        require(now.wrappedKey != was.wrappedKey && now.salt != was.salt, "a key that is not wrapped anew")
        require(now.isKeyCarried, "a key that others may hold passes for a fresh one")
    }

    private static func refuseOthers(
        _ verified: VerifiedStatement, _ digests: [FieldDigest], _ key: SecretBytes, _ roster: Roster
    ) {
        let rewrap = { (record: VerifiedStatement, digests: [FieldDigest]) in
            try RecordDraft(
                rewrapping: record, fields: digests, recordKey: key, into: roster, by: roster.owner, clientTime: 1)
        }
        refuses("a field too many", with: .fieldMismatch) {
            try rewrap(verified, digests + [FieldDigest(name: "zzz", digest: .zero)])
        }
        if !digests.isEmpty {
            refuses("a field too few", with: .fieldMismatch) { try rewrap(verified, Array(digests.dropLast())) }
        }
        var deletion = verified.statement
        (deletion.kind, deletion.wrappedKey) = (.delete, [])
        refuses("a deletion", with: .missingKey) { try rewrap(VerifiedStatement(deletion), digests) }
    }

    private typealias Field = (name: String, value: Value, stored: StoredField, digest: Digest)

    /// A record with fields of the fuzzer's, by the owner.
    private static func record(
        _ roster: Roster, _ key: EpochKey, _ choices: inout Choices
    ) -> ((statementBytes: [UInt8], signature: [UInt8]), [Field]) {
        var statement = Record.statement(roster, by: World.people[0].userID)
        if choices.flag() { statement.parent = choices.name() }
        if choices.often() { (statement.revision, statement.previous) = (1 + UInt64(choices.byte()), choices.digest()) }
        if statement.revision == 1 { statement.previous = .zero }
        var drafts: [(name: String, field: FieldDraft)] = []
        var values: [Value] = []
        for index in 0..<choices.number(below: 4) {
            let value = choices.value()
            guard (try? value.canonicalBytes()).flatMap({ try? Value(canonicalBytes: $0) }) != nil else { continue }
            let isSealed = choices.flag() && value.tag.mayBeEncrypted
            drafts.append((name: "f\(index)", field: isSealed ? .encrypted(value) : .plain(value)))
            values.append(value)
        }
        var random = FixedRandom()
        let draft = RecordDraft(statement: statement, recordKey: nil, fields: drafts)
        let owner = World.people[0].signingKey
        let sealed = certain("a record") {
            try RecordSealer.seal([draft], epochKey: key, signingKey: owner, random: &random)
        }
        let fields = zip(sealed.records[0].fields, values).compactMap { field, value -> Field? in
            guard case .stored(let stored) = field.content else { return nil }
            return (field.name, value, stored, field.digest)
        }
        return ((sealed.records[0].statementBytes, sealed.signature), fields)
    }
}
