import SealPrimitives
package import SealStatements
import SealStorage
import SealWire

/// What goes along with one target: the live records of its scope, and of that life of it, that refer to it with
/// `deleteSelf`, and what refers so to them.
package struct TakenAlong {
    package struct Member {
        package let record: StoredRecord
        /// Whose reference names the target or a member before this one.
        package let field: String
    }

    /// Nearest to the target first.
    package private(set) var members: [Member] = []
    /// Records that refer there too, and that the request saves or deletes itself.
    package private(set) var beside: Set<String> = []

    /// What the target's deletion has to cover.
    package func taken() throws -> TakenRecords {
        try ServerError.checking("What goes with a deletion") { () throws(SealError) in
            try TakenRecords(members.map { (recordName: $0.record.name, hash: $0.record.hash) })
        }
    }

    fileprivate mutating func append(_ record: StoredRecord, _ field: String) {
        members.append(Member(record: record, field: field))
    }

    fileprivate mutating func note(beside name: String) { beside.insert(name) }

    /// Why a target is not deleted.
    package struct Refusal {
        package let error: ServerError
        /// What is to be deleted with it, by statements of their own.
        var dependents: [String] = []
        /// What would have gone along, where the deletion may be sent again.
        var along = TakenAlong()
    }

    package enum Outcome {
        case found(TakenAlong)
        case refused(Refusal)
    }

    package static let tooLarge = ServerError(
        .limitExceeded,
        "More than \(Limits.takenRecords) records would be deleted with this one, or \(Cascade.limit) with this request, or they are too large.",
        remedy: "Delete some of the records that refer to it first, or fewer in one request.")

    static let behind = ServerError(
        .rosterChanged, "A record that would go with this one was signed at a newer head of the roster.",
        remedy: "Fetch the roster's tail and sign the deletion again.")
}

/// Follows the `deleteSelf` references of one zone backwards, for one request. What that may cost is bounded over all
/// of the request's deletions, those that are refused included: other writes wait meanwhile.
struct ReferenceReader {
    let zone: ZoneRow
    let connection: any SQLConnection
    private let bounds: Bounds
    private var work = (records: 0, bytes: 0, references: 0, gone: 0)
    /// Those that were read, with what their statements say.
    private var read: [String: Known] = [:]

    private struct Known {
        let record: StoredRecord
        let statement: Statement
    }

    struct Bounds: Sendable {
        /// Over all targets, as often as one takes it.
        var records = Cascade.limit
        /// Of the records' fields.
        var bytes = 16 * 1024 * 1024
        /// Looks into the index of references, and what they find.
        var references = 10_000
        /// References that go with the records that have them.
        var gone = DeleteReference.mostGone

        /// Why so many records do not go with one request, of so many bytes; nil where they do.
        func refusal(records: Int, bytes: Int = 0, gone: Int = 0) -> ServerError? {
            records <= self.records && bytes <= self.bytes && gone <= self.gone ? nil : TakenAlong.tooLarge
        }
    }

    init(zone: ZoneRow, _ connection: any SQLConnection, bounds: Bounds = Bounds()) {
        (self.zone, self.connection, self.bounds) = (zone, connection, bounds)
    }

    /// What goes with all of the request's deletions is found (again): how many that are counts anew.
    mutating func begin() { work.records = 0 }

    /// - Parameters:
    ///   - deletion: the statement that deletes the target, good as far as what it covers.
    ///   - staying: names that the request saves or deletes itself.
    ///   - scope: the target's.
    ///   - dependents: decides of what refers to it from another one.
    mutating func takenAlong(
        with deletion: Statement, staying: Set<String>, scope: CascadeScope, _ dependents: inout Dependents
    ) throws -> TakenAlong.Outcome {
        let target = deletion.recordName
        var along = TakenAlong()
        var missing: Set<String> = []
        var ways: [String: String] = [:]
        var reached: Set<String> = [target]
        var next = target
        var index = 0
        var isBehind = false
        while true {
            guard let sources = try sources(of: next) else { return .refused(.init(error: TakenAlong.tooLarge)) }
            for (source, field) in sources where !reached.contains(source) {
                if staying.contains(source) {
                    along.note(beside: source)
                    continue
                }
                guard let known = try record(source) else { continue }
                let (record, statement) = (known.record, known.statement)
                guard record.share == scope.number else {
                    guard try dependents.include(record) else { continue }
                    // With all that leads there: each refers to a record that is deleted by a statement of its own.
                    missing.insert(source)
                    var way = next
                    while way != target, missing.insert(way).inserted { way = ways[way] ?? target }
                    continue
                }
                // What an earlier life of a share has left refers to nothing until it is moved.
                guard scope.mayTake(source), !statement.isShareRecord, statement.place == deletion.place else {
                    continue
                }
                if statement.rosterSequence > deletion.rosterSequence { isBehind = true }
                work.records += 1
                guard along.members.count < Limits.takenRecords else {
                    return .refused(.init(error: TakenAlong.tooLarge))
                }
                if let error = bounds.refusal(records: work.records, bytes: work.bytes, gone: work.gone) {
                    return .refused(.init(error: error))
                }
                reached.insert(source)
                ways[source] = next
                along.append(record, field)
            }
            guard index < along.members.count else { break }
            next = along.members[index].record.name
            index += 1
        }
        guard missing.count < Limits.itemsPerRequest else { return .refused(.init(error: TakenAlong.tooLarge)) }
        guard !isBehind else { return .refused(.init(error: TakenAlong.behind, along: along)) }
        guard missing.isEmpty else {
            return .refused(.init(error: Dependents.missing, dependents: missing.sorted(), along: along))
        }
        return .found(along)
    }

    /// Nil for more than may be read.
    private mutating func sources(of target: String) throws -> [(source: String, field: String)]? {
        guard work.references <= bounds.references else { return nil }
        let found = try DeleteReference.sources(of: target, in: zone, connection)
        work.references += found.count + 1
        return found
    }

    /// A live record.
    private mutating func record(_ name: String) throws -> Known? {
        if let known = read[name] { return known }
        guard let record = try StoredRecord.find(name, in: zone, connection), !record.isDeleted else { return nil }
        let statement = try ServerError.checking("The stored statement") { () throws(SealError) in
            try Statement(canonicalBytes: record.statement)
        }
        work.bytes += record.fields.count
        work.gone += record.deleteReferences
        let known = Known(record: record, statement: statement)
        read[name] = known
        return known
    }
}

/// Which records of a zone a deletion may take along.
struct CascadeScope {
    /// A share's, or 0.
    let number: Int64
    private let share: ZoneShare?

    init(_ share: ZoneShare?) {
        self.share = share
        number = share?.number ?? 0
    }

    /// Root and share's record go with the share alone.
    func mayTake(_ name: String) -> Bool { name != share?.root && name != share?.recordName }
}
