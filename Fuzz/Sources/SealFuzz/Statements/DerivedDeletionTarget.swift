import SealPrimitives

@testable import SealStatements

/// Notices that a record went with the target of its reference: chains through zone and share, with the fuzzer's faults.
/// The target's deletion is signed and verified in its scope; who may delete what is judged again from the rosters.
enum DerivedDeletionTarget: FuzzTarget {
    static let name = "derived-deletion"
    static let maximumLength = 512
    /// Notices of 751 steps.
    static let allowance = 1_048_576
    static let seeds =
        // The second: somebody of the share's first life deletes in its second.
        [[], [1, 3, 2, 3, 3, 0, 3, 0, 1, 1], [0xFF], [0, 0, 0, 2], [1, 1, 0, 3, 0, 0, 0, 0, 1]].map { Seed.made($0) }
        + (0..<14).map { Seed.made([$0 & 1, $0, 0, 2, 0, 0, 0, 0, 0, 0, 0x0F, $0, 0, 0]) }
    /// One of the notice's records, and everything that goes with it.
    private typealias Step = DerivedDeletion.Step

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        guard let tombstone = tombstone(&choices) else { return }
        // Few notices are long: each of their steps has hashes of its own.
        let count = choices.rarely() && choices.often() ? 745 + choices.number(below: 10) : choices.number(below: 5)
        var target = tombstone.statement
        var steps: [Step] = []
        for index in 0..<count {
            let step = step(to: target, number: index, &choices)
            steps.insert(step, at: 0)
            target = step.record.statement
        }
        if choices.rarely(), steps.count > 1 { steps.swapAt(0, choices.number(below: steps.count)) }
        let notice = DerivedDeletion(steps: steps, tombstone: tombstone)
        let expected = holds(steps, tombstone.statement)
        do {
            let gone = try notice.verify()
            require(expected, "a notice that does not hold")
            require(gone == steps[0].record, "another record is gone")
        } catch {
            require(!expected, "a notice is refused with \(error)")
        }
    }

    /// Of the zone's or of the share's, one life back perhaps: what its own verifier refuses is none.
    private static func tombstone(_ choices: inout Choices) -> VerifiedStatement? {
        let home = choices.flag() ? World.share : World.zone
        let cited = choices.often() ? choices.oneOf(home.rosters) : home.roster
        let author = choices.often() ? choices.oneOf(World.people) : World.people[Int(choices.byte() & 1)]
        var statement = Record.statement(cited, by: author.userID)
        (statement.kind, statement.wrappedKey, statement.recordName) = (.delete, [], "Target")
        (statement.revision, statement.previous) = (2, sampleDigest(2))
        if choices.rarely() { (statement.kind, statement.wrappedKey) = (.save, [UInt8](repeating: 6, count: 72)) }
        let bytes = statement.canonicalBytes()
        return try? Record.verify(bytes, Record.sign(bytes, by: author.signingKey), home.roster, migrating: choices.often())
    }

    private static func step(to target: Statement, number: Int, _ choices: inout Choices) -> Step {
        let home = choices.flag() ? World.share : World.zone
        var statement = Record.statement(home.roster, by: World.people[0].userID)
        statement.recordName = "Item-\(number)"
        var reference = Value.reference(ReferenceValue(recordName: target.recordName, action: .deleteSelf))
        var others = ["a", "m", "z"].prefix(choices.number(below: 4)).map { FieldDigest(name: $0, digest: sampleDigest(4)) }
        var field = ["list", "b", "zz", "a"][choices.number(below: choices.rarely() ? 4 : 3)]
        if choices.often() {
            let none = Value.reference(ReferenceValue(recordName: target.recordName))
            reference = .list(.reference, choices.flag() ? [none, reference] : [reference])
        }
        let own = FieldDigest(name: field, digest: (try? StoredField.plain(reference).digest(name: field)) ?? .zero)
        let all = (others + [own]).sorted { $0.name < $1.name }
        if let digest = try? FieldSet.digest(all) { statement.fieldsDigest = digest }
        var roster = home.roster
        if choices.rarely() {
            switch choices.byte() % 14 {
            case 0: statement.recordName = choices.flag() ? "Target" : "Item-0"
            case 1: (statement.kind, statement.wrappedKey) = (.delete, [])
            case 2: statement.zoneIncarnation = choices.number()
            case 3: statement.zoneName = choices.name()
            case 4: statement.container = choices.name()
            case 5: statement.environment = .development
            case 6: statement.owner = choices.oneOf(World.people).userID
            case 7: reference = .reference(ReferenceValue(recordName: target.recordName))
            case 8: reference = choices.value()
            case 9: others.reverse()
            case 10: field = choices.name()
            case 11: roster = choices.oneOf(World.zone.rosters + World.share.rosters)
            case 12: statement.fieldsDigest = choices.digest()
            default: statement.scopeIncarnation = 1
            }
        }
        return Step(record: VerifiedStatement(statement), roster: roster, field: field, reference: reference, otherFields: others)
    }

    /// PROTOCOL.md, section 7, "Derived deletions".
    private static func holds(_ steps: [Step], _ tombstone: Statement) -> Bool {
        guard 1...750 ~= steps.count, tombstone.kind == .delete else { return false }
        let records = steps.map(\.record.statement)
        guard Set(records.map(\.recordName) + [tombstone.recordName]).count == steps.count + 1 else { return false }
        for (index, step) in steps.enumerated() {
            let (record, target) = (records[index], index + 1 < steps.count ? records[index + 1] : tombstone)
            let isSameZone =
                record.container == tombstone.container && record.environment == tombstone.environment
                && record.owner == tombstone.owner && record.zoneName == tombstone.zoneName
                && record.zoneIncarnation == tombstone.zoneIncarnation
            guard record.kind == .save, isSameZone, refers(step.reference, to: target.recordName) else { return false }
            guard let own = try? StoredField.plain(step.reference).digest(name: step.field) else { return false }
            let fields = step.otherFields + [FieldDigest(name: step.field, digest: own)]
            let isAscending = zip(step.otherFields, step.otherFields.dropFirst()).allSatisfy { $0.name < $1.name }
            let digest = try? FieldSet.digest(fields.sorted { $0.name < $1.name })
            guard isAscending, digest == record.fieldsDigest else { return false }
            guard step.roster.scopeID == record.scopeID, mayDelete(record, step.roster, tombstone) else { return false }
        }
        return true
    }

    /// In the deletion's own scope, and life, its verifier has judged that, and it is not older than the record; elsewhere the author writes now.
    private static func mayDelete(_ record: Statement, _ roster: Roster, _ tombstone: Statement) -> Bool {
        if record.scopeID == tombstone.scopeID && record.scopeIncarnation == tombstone.scopeIncarnation {
            return tombstone.rosterSequence >= record.rosterSequence
        }
        return roster.members[tombstone.author]?.permission == .readWrite
    }

    private static func refers(_ value: Value, to name: String) -> Bool {
        switch value {
        case .reference(let one): one.recordName == name && one.action == .deleteSelf
        case .list(.reference, let many): many.contains { refers($0, to: name) }
        default: false
        }
    }
}
