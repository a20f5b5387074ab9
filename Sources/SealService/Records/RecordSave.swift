import Foundation
package import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// One save's transaction: compares every record with what is stored, then writes those that may be, or none.
package struct RecordSave {
    package let batch: RecordBatch
    package let isAtomic: Bool
    package let caller: Caller
    package let zone: ZoneRow
    /// As it holds in this transaction; the batch fits it.
    package let schema: StoredSchema
    package let now: Int64
    package let quotas: Quotas
    package let connection: any SQLConnection
    /// The caller's, in the public database; in a zone its roster has judged already.
    package var rights: PublicRights?
    /// What begins and ends with it; nothing of it is stored where that is refused.
    package var shareChanges: ShareChanges
    /// Of other scopes than the request's own, where there are some.
    package let rosters: RosterCache

    package init(
        batch: RecordBatch, isAtomic: Bool, caller: Caller, zone: ZoneRow, schema: StoredSchema, now: Int64,
        quotas: Quotas,
        connection: any SQLConnection, rights: PublicRights? = nil, shareChanges: ShareChanges = ShareChanges(),
        rosters: RosterCache
    ) {
        self.batch = batch
        self.isAtomic = isAtomic
        self.caller = caller
        self.zone = zone
        self.schema = schema
        self.now = now
        self.quotas = quotas
        self.connection = connection
        self.rights = rights
        self.shareChanges = shareChanges
        self.rosters = rosters
    }

    /// What the server has under a record's name, as far as comparing needs it.
    package struct Predecessor {
        package let type: String
        package let tag: Int64
        package let revision: UInt64
        package let hash: Digest
        package let creator: UserID
        package let created: Int64
        package let modified: Int64
        package let isDeleted: Bool
        package let assets: Int
        package let fields: [UInt8]
        package let parent: String?
        let deleteReferences: Int
        /// It went with the target of a reference, whose deletion has this place: its newest statement is still a save.
        let wentWith: Int64?
        package let statement: StoredStatement
        /// The scope of its newest statement: a share's number, or 0.
        package let share: Int64
        /// Its key is one that others know than those who read its scope.
        let isKeyKnown: Bool
    }

    /// Whether the save's bill is the caller's own: then what is kept of its answer goes onto it at once.
    package var billsAnswer: Bool { caller.id == zone.owner }

    /// A record that may be written.
    package struct Accepted {
        package let content: RecordBatch.Content
        let predecessor: Predecessor?
        /// Without a new record's own: 0 until written.
        package var position: Int64 = 0
        package var tag: Int64 = 0
        /// The statement changes nothing but keys: that which the record's key is wrapped under, or with it the
        /// record's key itself, under which the same values are sealed again. To apps nothing has changed.
        var isRewrap = false

        var isDeletion: Bool { content.statement.kind == .delete }
        /// Kept through all revisions; a record that is made again has a new one.
        package func created(now: Int64) -> Int64 {
            if let predecessor, !predecessor.isDeleted { return predecessor.created }
            return now
        }
        package func modified(now: Int64) -> Int64 { isRewrap ? predecessor?.modified ?? now : now }
    }

    package enum Outcome {
        case accepted(Accepted)
        /// What the server has instead is read after the transaction: see `ServerRecords`.
        /// With the records that are to be deleted in the same request, where that is what is missing.
        case refused(ServerError, dependents: [String] = [])
    }

    /// - Returns: an outcome for each item, in order; the answer, where anything was written; whether blobs became
    ///   garbage.
    package func run() throws -> (outcomes: [Outcome], answer: [UInt8]?, leftGarbage: Bool) {
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(batch.items.count)
        var claims = AssetClaims(caller: caller, zone: zone, connection: connection)
        for item in batch.items {
            switch item.outcome {
            case .failure(let error): outcomes.append(.refused(error))
            case .success(let content): outcomes.append(try compare(item.name, content, &claims))
            }
        }
        let stored = StoredParents(in: zone, connection)
        try checkPlacement(&outcomes, stored)
        try checkDeleteReferences(&outcomes)
        var cascade = try checkReferences(&outcomes, stored)
        var round = 0
        while !isAtomic, try checkPlacement(belowRefused: &outcomes, stored, all: round >= Self.placementRounds) {
            round += 1
            cascade = try checkReferences(&outcomes, stored)
        }
        if isAtomic, outcomes.contains(where: { if case .refused = $0 { true } else { false } }) {
            outcomes = outcomes.map { outcome in
                guard case .accepted = outcome else { return outcome }
                return .refused(Self.batchFailed)
            }
        }
        return try write(outcomes, cascade)
    }

    /// Rounds of refusals that lead to further ones, before all that may be is refused.
    private static let placementRounds = 8

    private static let batchFailed = ServerError(
        .batchRequestFailed, "Another record of this atomic request was refused; nothing was stored.",
        remedy: "Mend the other record, then send all again.")

    private func compare(_ name: String, _ content: RecordBatch.Content, _ claims: inout AssetClaims) throws -> Outcome
    {
        let statement = content.statement
        let found = try predecessor(name)
        if let found, !zone.sees(share: found.share, isDeleted: found.isDeleted, tag: found.tag) { return Self.hidden }
        let known = found.flatMap { $0.isDeleted ? nil : (type: $0.type, creator: $0.creator) }
        if let error = rights?.refusalToSave(statement, over: known) { return .refused(error) }
        if let found, try isBackward(statement, after: found) { return Self.backward }
        if batch.isRestoring, let outcome = try restore(name, content, over: found, &claims) { return outcome }
        guard let known = found, !known.isDeleted else {
            // There is no such record now: never was, or a tombstone.
            guard content.changeTag.isEmpty, statement.kind == .save else {
                return refused(
                    .unknownItem, "There is no such record any more.",
                    "Make it again: after its tombstone, without a change tag.")
            }
            guard let tombstone = found else {
                guard statement.revision == 1 else {
                    return refused(
                        .unknownItem, "The server does not have the statement before this one.",
                        "Make the record afresh, from revision 1.")
                }
                return try claim(Accepted(content: content, predecessor: nil), name, &claims)
            }
            guard continues(statement, tombstone) else {
                return refused(
                    .serverRecordChanged, "A record of this name was deleted.",
                    "Continue after its tombstone.")
            }
            if tombstone.wentWith != nil {
                // It follows a save, so it keeps what every save keeps.
                guard statement.creator == tombstone.creator else { return wrongCreator }
                guard statement.recordType == tombstone.type else { return wrongType }
            } else {
                guard statement.creator == caller.userID else { return wrongCreator }
            }
            return try claim(Accepted(content: content, predecessor: tombstone), name, &claims)
        }
        guard content.changeTag == ChangeTag.text(known.tag), continues(statement, known), !content.lacksPredecessor
        else {
            return refused(
                .serverRecordChanged,
                content.changeTag.isEmpty
                    ? "A record of this name exists." : "The record was changed by somebody else.",
                "Merge with the server's record and save again.")
        }
        guard statement.creator == known.creator else { return wrongCreator }
        guard statement.recordType == known.type else { return wrongType }
        var accepted = Accepted(content: content, predecessor: known)
        accepted.isRewrap = try isRewrap(content, known)
        return try claim(accepted, name, &claims)
    }

    private var wrongType: Outcome {
        .refused(
            ServerError(
                .invalidArguments, "A record keeps its type.", remedy: "Delete it first, or use another name."))
    }

    private func isRewrap(_ content: RecordBatch.Content, _ known: Predecessor) throws -> Bool {
        let statement = content.statement
        guard statement.isKeyCarried || batch.isRekeying, statement.parent == known.parent,
            let before = known.statement.decoded, before.share == statement.share
        else { return false }
        if statement.isKeyCarried { return content.fields == known.fields }
        return try (before.epochContext != statement.epochContext || before.isKeyCarried)
            && Self.showsTheSame(content.fields, as: known.fields)
    }

    /// The client signed after exactly what the server has.
    private func continues(_ statement: Statement, _ known: Predecessor) -> Bool {
        statement.revision == known.revision &+ 1 && statement.previous == known.hash && staysOrMoves(statement, known)
    }

    /// It names the scope that the record leaves, where it leaves one, and none where it stays.
    private func staysOrMoves(_ statement: Statement, _ known: Predecessor) -> Bool {
        let number = batch.judge.share(of: statement)?.number ?? 0
        // In the zone's own scope as before: as every save of most zones.
        guard number > 0 || known.share > 0 || statement.formerScope != nil else { return true }
        guard let before = known.statement.decoded else { return false }
        return statement.formerScope == (before.place == statement.place ? nil : before.place)
    }

    /// It follows the record's last statement, and cites an older head of their roster: readers take that for
    /// somebody's work who was removed.
    private func isBackward(_ statement: Statement, after known: Predecessor) throws -> Bool {
        guard statement.previous == known.hash, let head = batch.judge.head(of: statement),
            statement.rosterSequence < head,
            let before = known.statement.decoded
        else { return false }
        return before.place == statement.place && before.rosterSequence > statement.rosterSequence
    }

    private static let backward = Outcome.refused(
        ServerError(
            .rosterChanged, "The statement cites an older head of the roster than the record's last one.",
            remedy: "Fetch the roster's tail, and sign again."))

    private var wrongCreator: Outcome {
        .refused(
            ServerError(
                .invalidArguments, "The statement names another creator than the record has.",
                remedy: "Keep the creator through all revisions."))
    }

    package func claim(_ accepted: Accepted, _ name: String, _ claims: inout AssetClaims) throws -> Outcome {
        if accepted.content.lacksPredecessor {
            return .refused(
                ServerError(
                    .integrityFailure, "A new record cannot carry fields over.", remedy: "Send the fields' bytes."))
        }
        if let error = try claims.check(accepted.content.assets, of: name) { return .refused(error) }
        return .accepted(accepted)
    }

    package func refused(_ code: ErrorCode, _ reason: String, _ remedy: String) -> Outcome {
        .refused(ServerError(code, reason, remedy: remedy))
    }

    private func predecessor(_ name: String) throws -> Predecessor? {
        try connection.first(
            """
            SELECT type, tag, revision, hash, creator, created, deleted, assets, fields, modified, parent,
                delete_references, went_with, statement, share, key_known FROM record
            WHERE owner = $1 AND zone = $2 AND name = $3
            """, zone.key + [.text(name)]
        ) { row in
            Predecessor(
                type: try row.text("type"), tag: try row.int64("tag"),
                revision: UInt64(bitPattern: try row.int64("revision")),
                hash: try Digest(try row.bytes("hash")), creator: UserID(try ID16(try row.bytes("creator"))),
                created: try row.int64("created"),
                modified: try row.int64("modified"), isDeleted: try row.bool("deleted"),
                assets: Int(try row.int64("assets")),
                fields: try row.bytes("fields"), parent: try row.optionalText("parent"),
                deleteReferences: Int(try row.int64("delete_references")),
                wentWith: try row.optionalInt64("went_with"), statement: StoredStatement(try row.bytes("statement")),
                share: try row.int64("share"),
                isKeyKnown: try row.bool("key_known"))
        }
    }
}
