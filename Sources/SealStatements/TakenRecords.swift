public import SealPrimitives

/// What a deletion takes along: the newest statements of the records that go with its target by `deleteSelf`
/// references. The deletion's author signs the set, as the deletion's `fields` (PROTOCOL.md, "Derived deletions").
public struct TakenRecords: Sendable {
    /// Ascending by their bytes: the order of the tree's leaves.
    public let names: [String]
    private let tree: StatementTree?

    /// Of a deletion that nothing goes along with.
    public static let none = TakenRecords()

    private init() {
        names = []
        tree = nil
    }

    /// - Parameter statements: of each record the name, and the hash of its newest statement; in any order.
    /// - Throws: `invalidLength` for more than 750 records; `invalidNotice` for one that comes twice.
    public init(_ statements: [(recordName: String, hash: Digest)]) throws(SealError) {
        guard statements.count <= Limits.takenRecords else { throw .invalidLength }
        let sorted = statements.sorted { FieldSet.isOrdered($0.recordName, $1.recordName) }
        guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.recordName != $1.recordName }) else {
            throw .invalidNotice
        }
        names = sorted.map { $0.recordName }
        tree = sorted.isEmpty ? nil : try StatementTree(leaves: sorted.map { $0.hash }, atMost: Limits.takenRecords)
    }

    public var count: Int { names.count }

    /// `H("taken", root, count)`: the `fields` of the deletion's statement. Without a record the root is zero.
    public var digest: Digest { TakenRecords.digest(root: tree?.root ?? .zero, count: count) }

    /// The siblings of a record's leaf, from the leaf up.
    /// - Parameter index: of the record among `names`.
    public func path(to index: Int) -> [Digest] { tree?.path(to: index) ?? [] }

    static func digest(root: Digest, count: Int) -> Digest {
        var pae = PAE(.taken, pieces: 2, capacity: 96)
        pae.add(root)
        pae.add(UInt32(count))
        return Hash.digest(pae)
    }
}

/// A record that a server says goes along with a deletion, and the reference by which it does. Whoever signs the
/// deletion believes neither before it has verified both.
public struct TakenRecord: Sendable {
    /// The record's newest statement.
    public let record: VerifiedStatement
    /// The field whose reference names the target, or another record that goes along.
    public let field: String
    public let reference: Value
    /// Every other field's digest, ascending by name.
    public let otherFields: [FieldDigest]

    public init(record: VerifiedStatement, field: String, reference: Value, otherFields: [FieldDigest]) {
        self.record = record
        self.field = field
        self.reference = reference
        self.otherFields = otherFields
    }

    /// Each of these records goes along with the target: by a reference with `deleteSelf` that it has in what its
    /// author signed, to the target or to one before it.
    /// - Parameters:
    ///   - records: nearest to the target first.
    ///   - target: the newest statement of the record that is to be deleted.
    ///   - roster: of the scope that all of them are in. The share's root and record go with the share alone.
    /// - Throws: `invalidLength` for more than 750 records; `invalidNotice`; `fieldMismatch`.
    public static func check(_ records: [TakenRecord], with target: Statement, in roster: Roster) throws(SealError) {
        guard records.count <= Limits.takenRecords else { throw .invalidLength }
        guard target.scopeID == roster.scopeID else { throw .invalidNotice }
        var reached: Set<String> = [target.recordName]
        for taken in records {
            let record = taken.record.statement
            guard record.kind == .save, record.isOfLife(of: target), !record.isShareRecord,
                record.recordName != roster.scope.shareRecordName, record.recordName != roster.rootRecordName,
                !reached.contains(record.recordName), taken.reference.goes(with: reached)
            else { throw .invalidNotice }
            try taken.checkFields()
            reached.insert(record.recordName)
        }
    }

    /// The reference stands in the record: with the other fields' digests it gives what the author signed.
    private func checkFields() throws(SealError) {
        var fields = otherFields
        let own = FieldDigest(name: field, digest: try StoredField.plain(reference).digest(name: field))
        fields.insert(own, at: fields.firstIndex { FieldSet.isOrdered(field, $0.name) } ?? fields.count)
        try record.check(fields)
    }
}

extension Statement {
    /// Of the same zone and scope, and the same life of both.
    func isOfLife(of other: Statement) -> Bool {
        container == other.container && environment == other.environment && owner == other.owner
            && zoneName == other.zoneName && zoneIncarnation == other.zoneIncarnation && place == other.place
    }
}

extension Value {
    /// A reference with `deleteSelf`, or a list with one.
    public var goesWithOthers: Bool {
        switch self {
        case .reference(let one): one.action == .deleteSelf
        case .list(let many): many.contains { $0.goesWithOthers }
        default: false
        }
    }

    /// A reference with `deleteSelf`, or a list with one, to a record of these names.
    public func goes(with names: Set<String>) -> Bool {
        switch self {
        case .reference(let one): one.action == .deleteSelf && names.contains(one.recordName)
        case .list(let many): many.contains { $0.goes(with: names) }
        default: false
        }
    }
}
