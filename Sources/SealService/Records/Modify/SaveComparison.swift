import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// The first stage: each record is compared with what the server has under its name.
///
/// It refuses what does not follow that exactly (`serverRecordChanged`, `unknownItem`, `rosterChanged`), another
/// creator or type, names that are taken where the caller does not see them, what roles forbid in the public database
/// (`permissionFailure`), and assets that the caller has not uploaded for the record.
package struct SaveComparison {
    let batch: RecordBatch
    let caller: Caller
    let zone: ZoneRow
    /// The caller's, in the public database; in a zone its roster has judged already.
    let rights: PublicRights?
    let schema: StoredSchema
    let connection: any SQLConnection

    /// Of the fields of all records that one request replaces or deletes: the database has to find all their pages.
    package static let mostReplacedBytes = 16 * 1024 * 1024

    private static let tooLarge = ServerError(
        .limitExceeded, "The records that are replaced or deleted are too large together.",
        remedy: "Send half of them at once.")

    func run() throws -> SaveOutcomes {
        var outcomes: [SaveOutcomes.Outcome] = []
        outcomes.reserveCapacity(batch.items.count)
        var claims = AssetClaims(caller: caller, zone: zone, connection: connection)
        var room = Self.mostReplacedBytes
        for (item, found) in zip(batch.items, try predecessors()) {
            switch item.outcome {
            case .failure(let error): outcomes.append(.refused(error))
            case .success(let content):
                let outcome = try compare(content, with: found, &claims)
                if case .accepted(let record) = outcome { room -= record.predecessor?.fieldBytes ?? 0 }
                guard room >= 0 else { throw Self.tooLarge }
                outcomes.append(outcome)
            }
        }
        return SaveOutcomes(batch.items.map(\.name), outcomes)
    }

    /// Of each item that is well formed.
    private func predecessors() throws -> [Predecessor?] {
        let wanted = batch.items.map { item -> Predecessor.Wanted? in
            guard case .success(let content) = item.outcome else { return nil }
            return Predecessor.Wanted(name: item.name, withShortFields: needsFields(before: content.statement))
        }
        return try Predecessor.find(wanted, in: zone, connection)
    }

    private func compare(
        _ content: RecordBatch.Content, with found: Predecessor?, _ claims: inout AssetClaims
    ) throws -> SaveOutcomes.Outcome {
        let statement = content.statement
        if let found, !zone.sees(share: found.share, isDeleted: found.isDeleted, tag: found.tag) { return Self.hidden }
        let live = found.flatMap { $0.isDeleted ? nil : $0 }
        if let error = rights?.refusalToSave(statement, over: live.map { (type: $0.type, creator: $0.creator) }) {
            return .refused(error)
        }
        if let found, isBackward(statement, after: found) { return Self.backward }
        let share = batch.judge.share(of: statement)
        if batch.isRestoring, let outcome = try restore(content, over: found, in: share, &claims) { return outcome }
        guard let live else {
            return try tombstoneRefusal(content, found, in: share) ?? accept(content, after: found, in: share, &claims)
        }
        guard content.changeTag == ChangeTag.text(live.tag), continues(statement, live, in: share),
            !content.fields.lacksPredecessor
        else {
            return Self.refused(
                .serverRecordChanged,
                content.changeTag.isEmpty
                    ? "A record of this name exists." : "The record was changed by somebody else.",
                "Merge with the server's record and save again.")
        }
        guard statement.creator == live.creator else { return Self.wrongCreator }
        guard statement.recordType == live.type else { return Self.wrongType }
        return try accept(content, after: live, in: share, mayBeRewrap: true, &claims)
    }

    /// Whether somebody looks at what the record held until now: indexes, those who are told of its deletion, and who
    /// compares it with the same under a new key.
    private func needsFields(before statement: Statement) -> Bool {
        batch.isRekeying || statement.isKeyCarried || schema.indexed[statement.recordType]?.hasFieldEntries ?? false
            || statement.kind == .delete && !zone.watch.isEmpty
    }

    /// There is no such record now: never was, or a tombstone.
    private func tombstoneRefusal(
        _ content: RecordBatch.Content, _ found: Predecessor?, in share: ZoneShare?
    ) throws -> SaveOutcomes.Outcome? {
        let statement = content.statement
        guard content.changeTag.isEmpty, statement.kind == .save else {
            return Self.refused(
                .unknownItem, "There is no such record any more.",
                "Make it again: after its tombstone, without a change tag.")
        }
        guard let tombstone = found else {
            guard statement.revision == 1 else {
                return Self.refused(
                    .unknownItem, "The server does not have the statement before this one.",
                    "Make the record afresh, from revision 1.")
            }
            return nil
        }
        guard continues(statement, tombstone, in: share) else {
            return Self.refused(
                .serverRecordChanged, "A record of this name was deleted.", "Continue after its tombstone.")
        }
        guard tombstone.wentWith != nil else { return statement.creator == caller.userID ? nil : Self.wrongCreator }
        // It follows a save, so it keeps what every save keeps.
        guard statement.creator == tombstone.creator else { return Self.wrongCreator }
        return statement.recordType == tombstone.type ? nil : Self.wrongType
    }

    func accept(
        _ content: RecordBatch.Content, after found: Predecessor?, in share: ZoneShare?, mayBeRewrap: Bool = false,
        _ claims: inout AssetClaims
    ) throws -> SaveOutcomes.Outcome {
        let statement = content.statement
        guard !content.fields.lacksPredecessor else {
            return Self.refused(
                .integrityFailure, "A new record cannot carry fields over.", "Send the fields' bytes.")
        }
        if let error = try claims.check(content.fields.assets, of: statement.recordName) { return .refused(error) }
        // What is refused costs no look at what the record holds.
        let predecessor =
            try needsFields(before: statement)
            ? found?.withFields(of: statement.recordName, in: zone, connection) : found
        return .accepted(
            AcceptedRecord(
                content: content, predecessor: predecessor, share: share,
                isRewrap: try mayBeRewrap && predecessor.map { try isRewrap(content, of: $0) } ?? false,
                isKeyKnown: isKeyKnown(statement, after: predecessor)))
    }

    /// The client signed after exactly what the server has.
    private func continues(_ statement: Statement, _ known: Predecessor, in share: ZoneShare?) -> Bool {
        statement.revision == known.revision &+ 1 && statement.previous == known.hash
            && staysOrMoves(statement, known, in: share)
    }

    /// It names the scope that the record leaves, where it leaves one, and none where it stays.
    private func staysOrMoves(_ statement: Statement, _ known: Predecessor, in share: ZoneShare?) -> Bool {
        // In the zone's own scope as before: as every save of most zones.
        guard share != nil || known.share > 0 || statement.formerScope != nil else { return true }
        guard let before = known.statement.decoded else { return false }
        return statement.formerScope == (before.place == statement.place ? nil : before.place)
    }

    /// It follows the record's last statement, and cites an older head of their roster: readers take that for
    /// somebody's work who was removed.
    private func isBackward(_ statement: Statement, after known: Predecessor) -> Bool {
        guard statement.previous == known.hash, let head = batch.judge.head(of: statement),
            statement.rosterSequence < head,
            let before = known.statement.decoded
        else { return false }
        return before.place == statement.place && before.rosterSequence > statement.rosterSequence
    }

    // MARK: Refusals

    static func refused(_ code: ErrorCode, _ reason: String, _ remedy: String) -> SaveOutcomes.Outcome {
        .refused(ServerError(code, reason, remedy: remedy))
    }

    private static let hidden = refused(
        .permissionFailure, "The name is taken by a record that is not shared with the caller.", "Choose another name.")

    private static let backward = refused(
        .rosterChanged, "The statement cites an older head of the roster than the record's last one.",
        "Fetch the roster's tail, and sign again.")

    private static let wrongCreator = refused(
        .invalidArguments, "The statement names another creator than the record has.",
        "Keep the creator through all revisions.")

    private static let wrongType = refused(
        .invalidArguments, "A record keeps its type.", "Delete it first, or use another name.")
}
