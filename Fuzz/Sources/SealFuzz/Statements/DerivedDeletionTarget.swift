import SealPrimitives

@testable import SealStatements

/// Notices that a record went with a deletion, and what whoever signs one is told to cover, in zone and share, with the
/// fuzzer's faults. The target's deletion is signed and verified in its scope.
enum DerivedDeletionTarget: FuzzTarget {
    static let name = "derived-deletion"
    static let maximumLength = 512
    /// Sets of 751 records.
    static let allowance = 1_048_576
    static let seeds =
        // The second: somebody of the share's first life deletes in its second.
        [[], [1, 3, 2, 3, 3, 0, 3, 0, 1, 1], [0xFF], [0, 0, 0, 2], [1, 1, 0, 3, 0, 0, 0, 0, 1]].map { Seed.made($0) }
        + (0..<14).map { Seed.made([$0 & 1, $0, 0, 2, 0, 0, 0, 0, 0, 0, 0x0F, $0, 0, 0]) }

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        if choices.flag() { runNotice(&choices) } else { runAlong(&choices) }
    }

    // MARK: Notices

    private static func runNotice(_ choices: inout Choices) {
        let home = choices.flag() ? World.share : World.zone
        // Few sets are large: each has a tree of its own.
        let count = choices.rarely() && choices.often() ? 745 + choices.number(below: 6) : choices.number(below: 6)
        let others = (0..<count).map { (recordName: "Item-\($0)", hash: sampleDigest(UInt8(truncatingIfNeeded: $0))) }
        var gone = Record.statement(home.roster, by: World.people[0].userID)
        gone.recordName = "Gone"
        if choices.rarely() { alter(&gone, &choices) }
        let record = VerifiedStatement(gone)
        let covered = choices.rarely() ? others : others + [(recordName: gone.recordName, hash: record.hash)]
        guard let taken = try? TakenRecords(covered) else {
            return require(
                covered.count > 750 || Set(covered.map(\.recordName)).count < covered.count,
                "a set that may be was refused")
        }
        guard let tombstone = tombstone(covering: taken, home, &choices) else { return }
        var index = taken.names.firstIndex(of: gone.recordName) ?? 0
        var path = taken.count > 0 ? taken.path(to: index) : []
        var size = taken.count
        if choices.rarely() {
            switch choices.byte() % 5 {
            case 0: index = choices.number(below: 800) - 1
            case 1: size = choices.number(below: 800) - 1
            case 2: path = Array(path.dropLast())
            case 3: path.append(choices.digest())
            default: if !path.isEmpty { path[choices.number(below: path.count)] = choices.digest() }
            }
        }
        let notice = DerivedDeletion(record: record, tombstone: tombstone, count: size, index: index, path: path)
        let (deletion, scope) = (tombstone.statement, choices.rarely() ? World.zone.roster.scope : home.roster.scope)
        // Whatever the path, it holds only for the leaf that the deletion's author signed.
        let isCovered =
            size == taken.count && taken.names.indices.contains(index) && taken.names[index] == gone.recordName
            && covered.contains { $0.recordName == gone.recordName && $0.hash == record.hash }
            && path == taken.path(to: index)
            && deletion.fieldsDigest == taken.digest
        let isShare =
            gone.recordType == "cloudkit.share" || gone.recordName == "cloudkit.zoneshare"
            || gone.recordName == scope.shareRecordName
        let expected =
            deletion.kind == .delete && gone.kind == .save && isSameLife(gone, deletion) && gone.scopeID == scope.id
            && gone.recordName != deletion.recordName && !isShare && deletion.rosterSequence >= gone.rosterSequence
            && isCovered
        do {
            let found = try notice.verify(in: scope)
            require(expected, "a notice that does not hold")
            require(found == record, "another record is gone")
        } catch {
            require(!expected, "a notice is refused with \(error)")
        }
    }

    /// Of the zone's or of the share's, one life back perhaps: what its own verifier refuses is none.
    private static func tombstone(
        covering taken: TakenRecords, _ home: Zone, _ choices: inout Choices
    ) -> VerifiedStatement? {
        let cited = choices.rarely() ? choices.oneOf(home.rosters) : home.roster
        let author = choices.often() ? choices.oneOf(World.people) : World.people[Int(choices.byte() & 1)]
        var statement = Record.statement(cited, by: author.userID)
        (statement.kind, statement.wrappedKey, statement.recordName) = (
            .delete, [], choices.rarely() ? "Gone" : "Target"
        )
        (statement.revision, statement.previous) = (2, sampleDigest(2))
        statement.fieldsDigest = choices.rarely() ? choices.digest() : taken.digest
        if choices.rarely() { (statement.kind, statement.wrappedKey) = (.save, [UInt8](repeating: 6, count: 72)) }
        let bytes = statement.canonicalBytes()
        return try? Record.verify(
            bytes, Record.sign(bytes, by: author.signingKey), home.roster, migrating: choices.often())
    }

    // MARK: What goes along

    private static func runAlong(_ choices: inout Choices) {
        let home = choices.flag() ? World.share : World.zone
        var target = Record.statement(home.roster, by: World.people[0].userID)
        target.recordName = "Target"
        if choices.rarely() { alter(&target, &choices) }
        let count = choices.rarely() && choices.often() ? 745 + choices.number(below: 10) : choices.number(below: 5)
        var records: [TakenRecord] = []
        for index in 0..<count {
            let before = records.last.map { choices.flag() ? $0.record.statement.recordName : "Target" } ?? "Target"
            records.append(record(to: before, number: index, home, &choices))
        }
        if choices.rarely(), records.count > 1 { records.swapAt(0, choices.number(below: records.count)) }
        let roster = choices.rarely() ? World.zone.roster : home.roster
        let expected = goAlong(records, target, roster)
        do {
            try TakenRecord.check(records, with: target, in: roster)
            require(expected, "records that do not go along")
        } catch {
            require(!expected, "records that go along are refused with \(error)")
        }
    }

    private static func record(to target: String, number: Int, _ home: Zone, _ choices: inout Choices) -> TakenRecord {
        var statement = Record.statement(home.roster, by: World.people[0].userID)
        statement.recordName = "Item-\(number)"
        var reference = Value.reference(ReferenceValue(recordName: target, action: .deleteSelf))
        var others = ["a", "m", "z"].prefix(choices.number(below: 4)).map {
            FieldDigest(name: $0, digest: sampleDigest(4))
        }
        var field = ["list", "b", "zz", "a"][choices.number(below: choices.rarely() ? 4 : 3)]
        if choices.often() {
            let none = Value.reference(ReferenceValue(recordName: target))
            reference = .list(choices.flag() ? [none, reference] : [reference])
        }
        let own = FieldDigest(name: field, digest: (try? StoredField.plain(reference).digest(name: field)) ?? .zero)
        if let digest = try? FieldSet.digest((others + [own]).sorted { $0.name < $1.name }) {
            statement.fieldsDigest = digest
        }
        if choices.rarely() {
            switch choices.byte() % 6 {
            case 0: reference = .reference(ReferenceValue(recordName: target))
            case 1: reference = choices.value()
            case 2: others.reverse()
            case 3: field = choices.name()
            case 4: statement.fieldsDigest = choices.digest()
            default: alter(&statement, &choices)
            }
        }
        return TakenRecord(
            record: VerifiedStatement(statement), field: field, reference: reference, otherFields: others)
    }

    /// PROTOCOL.md, "Derived deletions".
    private static func goAlong(_ records: [TakenRecord], _ target: Statement, _ roster: Roster) -> Bool {
        guard records.count <= 750, target.scopeID == roster.scopeID else { return false }
        var reached: Set<String> = [target.recordName]
        for taken in records {
            let record = taken.record.statement
            let isShare =
                record.recordType == "cloudkit.share" || record.recordName == "cloudkit.zoneshare"
                || record.recordName == roster.scope.shareRecordName || record.recordName == roster.rootRecordName
            guard record.kind == .save, isSameLife(record, target), !isShare, refers(taken.reference, to: reached),
                reached.insert(record.recordName).inserted,
                let own = try? StoredField.plain(taken.reference).digest(name: taken.field)
            else { return false }
            let fields = taken.otherFields + [FieldDigest(name: taken.field, digest: own)]
            let isAscending = zip(taken.otherFields, taken.otherFields.dropFirst()).allSatisfy { $0.name < $1.name }
            let digest = try? FieldSet.digest(fields.sorted { $0.name < $1.name })
            guard isAscending, digest == record.fieldsDigest else { return false }
        }
        return true
    }

    // MARK: Both

    private static func alter(_ statement: inout Statement, _ choices: inout Choices) {
        switch choices.byte() % 9 {
        case 0:
            statement.recordName =
                ["Target", "Item-0", "Root", "Share-1", "cloudkit.zoneshare"][choices.number(below: 5)]
        case 1: (statement.kind, statement.wrappedKey) = (.delete, [])
        case 2: statement.zoneIncarnation = choices.number()
        case 3: statement.zoneName = choices.name()
        case 4: statement.container = choices.name()
        case 5: statement.environment = .development
        case 6: statement.owner = choices.oneOf(World.people).userID
        case 7: statement.recordType = "cloudkit.share"
        default: statement.scopeIncarnation = 1
        }
    }

    private static func isSameLife(_ one: Statement, _ other: Statement) -> Bool {
        one.container == other.container && one.environment == other.environment && one.owner == other.owner
            && one.zoneName == other.zoneName && one.zoneIncarnation == other.zoneIncarnation
            && one.scopeID == other.scopeID
            && one.scopeIncarnation == other.scopeIncarnation
    }

    private static func refers(_ value: Value, to names: Set<String>) -> Bool {
        switch value {
        case .reference(let one): names.contains(one.recordName) && one.action == .deleteSelf
        case .list(let many): many.contains { refers($0, to: names) }
        default: false
        }
    }
}
