import SealPrimitives
import SealStatements
import SealWire

/// The records that go with the targets which one request deletes: all of them, in its transaction, or the deletion is
/// refused. Nobody signs these deletions: every record that goes is kept as a step of the proof that readers get.
///
/// What the same request saves stays: its newest statement does not come before the deletion.
struct Cascade {
    struct Member {
        let record: StoredRecord
        /// Whose reference names `next`.
        let field: String
        /// The record that this one goes with: another member, or the deleted target.
        let next: String
        /// The request's item that deletes the target.
        let root: Int
        /// The step of the proof, a serialized `Record`.
        let step: [UInt8]
        /// Bytes of the whole proof.
        let proofBytes: Int
    }

    /// Nearest to their target first.
    private(set) var members: [Member] = []
    private(set) var names: Set<String> = []
    private let bounds: Bounds
    private var size = (steps: 0, records: 0)

    /// Why a target is not deleted.
    struct Refusal {
        let error: ServerError
        /// What is to be deleted with it, by statements of their own.
        var dependents: [String] = []
    }

    /// What all that goes with a request may take, in bytes.
    struct Bounds: Sendable {
        /// The steps of all proofs: they are kept, and no account pays for them.
        var steps = 16 * 1024 * 1024
        /// The records: all of them are read and hashed in the transaction, while other writes wait.
        var records = 256 * 1024 * 1024
    }

    init(bounds: Bounds = Bounds()) { self.bounds = bounds }

    /// Four targets with all the sources that they may have.
    static let limit = 4 * DeleteReference.limit
    /// What a record's proof may take, so that it always fits into an answer.
    static let proofBytes = 1024 * 1024

    static let tooLarge = ServerError(
        .limitExceeded, "More than \(limit) records would be deleted with this one, a chain of them is too long, or they are too large.",
        remedy: "Delete the records at the ends of the chains first, then this one.")

    /// Why so many records do not go with one; nil when they do.
    /// - Parameter proofBytes: of the longest chain.
    static func refusal(count: Int, proofBytes: Int) -> ServerError? {
        count <= limit && proofBytes <= Self.proofBytes ? nil : tooLarge
    }

    static let behind = ServerError(
        .rosterChanged, "A record that would go with this one was signed at a newer head of the roster.",
        remedy: "Fetch the roster's tail and sign the deletion again.")

    /// Adds what goes with one target.
    /// - Parameters:
    ///   - deletion: the signed statement of the target's deletion.
    ///   - staying: names that the request saves or deletes itself.
    ///   - scope: the target's.
    ///   - dependents: decides of what refers to it from another one.
    /// - Returns: why the target cannot be deleted; then nothing was added.
    mutating func add(
        target: String, deletion: Statement, root: Int, staying: Set<String>, scope: CascadeScope, _ dependents: inout Dependents
    ) throws -> Refusal? {
        let (zone, connection) = (dependents.zone, dependents.connection)
        var missing: Set<String> = []
        var ways: [String: String] = [:]
        var found: [Member] = []
        var reached = names
        var size = size
        var next = (name: target, proofBytes: 0)
        var index = 0
        while true {
            for (source, field) in try DeleteReference.sources(of: next.name, in: zone, connection) {
                guard !staying.contains(source), !reached.contains(source),
                    let record = try StoredRecord.find(source, in: zone, connection), !record.isDeleted
                else { continue }
                guard record.share == scope.number else {
                    guard try dependents.include(record) else { continue }
                    // With all that leads there: each refers to a record that is deleted by a statement of its own.
                    missing.insert(source)
                    var way = next.name
                    while way != target, missing.insert(way).inserted { way = ways[way] ?? target }
                    continue
                }
                guard scope.mayTake(source) else { continue }
                // A reader takes the deletion for older than the record otherwise.
                guard try record.rosterSequence <= deletion.rosterSequence else { return Refusal(error: Self.behind) }
                size.records += record.fields.count
                guard size.records <= bounds.records else { return Refusal(error: Self.tooLarge) }
                let step = try record.serialized(desired: [field])
                size.steps += step.count
                let proofBytes = next.proofBytes + step.count
                guard size.steps <= bounds.steps else { return Refusal(error: Self.tooLarge) }
                if let error = Self.refusal(count: names.count + found.count + 1, proofBytes: proofBytes) {
                    return Refusal(error: error)
                }
                reached.insert(source)
                ways[source] = next.name
                found.append(
                    Member(record: record, field: field, next: next.name, root: root, step: step, proofBytes: proofBytes))
            }
            guard index < found.count else { break }
            next = (found[index].record.name, found[index].proofBytes)
            index += 1
        }
        guard missing.count < Limits.itemsPerRequest else { return Refusal(error: Self.tooLarge) }
        guard missing.isEmpty else { return Refusal(error: Dependents.missing, dependents: missing.sorted()) }
        members += found
        names = reached
        self.size = size
        return nil
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

extension StoredRecord {
    /// The roster's head that its statement cites.
    fileprivate var rosterSequence: UInt64 {
        get throws { try ServerError.checking("The stored statement") { () throws(SealError) in try Statement(canonicalBytes: statement).rosterSequence } }
    }
}

extension RecordSave {
    /// What goes with the request's deletions, as far as they are accepted; those that cannot take theirs along are refused.
    func cascade(_ outcomes: inout [Outcome]) throws -> Cascade {
        var cascade = Cascade()
        // In the public database nothing that a reader could check says that the deleter might have deleted the source too:
        // references dangle there.
        guard rights == nil else { return cascade }
        var dependents = Dependents(zone: zone, user: caller.userID, rosters: rosters, connection: connection)
        var staying: Set<String> = []
        for (item, outcome) in zip(batch.items, outcomes) {
            if case .accepted = outcome { staying.insert(item.name) }
        }
        for (index, outcome) in outcomes.enumerated() {
            guard case .accepted(let accepted) = outcome, accepted.isDeletion else { continue }
            let refusal = try cascade.add(
                target: batch.items[index].name, deletion: accepted.content.statement, root: index, staying: staying,
                scope: CascadeScope(batch.judge.share(of: accepted.content.statement)), &dependents)
            if let refusal { outcomes[index] = .refused(refusal.error, dependents: refusal.dependents) }
        }
        return cascade
    }
}
