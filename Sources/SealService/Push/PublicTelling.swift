import Foundation
import SealSchema
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// What one change has to tell some of those who subscribed to its record type. Finding that out changes nothing, so
/// that all feeds which it comes to can be held in one order before any is written to.
struct PublicTelling {
    let change: PublicChangeRow
    let schemas: SchemaStore
    let connection: any SQLConnection

    private struct Candidate {
        let owner: Int64
        let account: Int64
        let id: String
        let user: UserID
        let body: Data
    }

    struct Found {
        let change: PublicChangeRow
        /// How much of the limit is used up.
        var used = 0
        var rows: [FiredSubscriptions.Row] = []
        /// Whose devices are told to fetch changes.
        var overflown: Set<Int64> = []
        /// Those that have fired for the only time.
        var ended: [Subscriber] = []
        /// Whose webhooks may have something to send.
        var hooked: Set<Int64> = []
        /// Whose bills are to be at hand for the next ones to be told.
        var missingBills: Set<Int64> = []
        /// The last of those who are told; nil: nobody is.
        var last: (owner: Int64, id: String)?
        /// Nobody is left to be told.
        var isLast = false

        /// Whose feeds it writes to.
        var owners: Set<Int64> { overflown.union(rows.map(\.owner)) }
    }

    /// `ComparisonWork` after which the rest waits for the next transaction: others' writes wait for this one.
    private static let mostWork = 20_000

    /// So many bills one transaction has beside it: everybody's on them waits for it.
    private static let mostBills = 64

    /// - Parameter bills: whose it has to itself: nothing that is on another one can end.
    func find(atMost limit: Int, bills: Set<Int64>) throws -> Found {
        let candidates = try connection.rows(
            """
            SELECT s.owner, i.account, s.id, i.user_name, s.body FROM subscription s JOIN identity i ON i.id = s.owner
            WHERE s.database = 1 AND s.zone_owner = $1 AND s.record_type = $2 AND (s.owner > $3 OR (s.owner = $3 AND s.id > $4))
            ORDER BY s.owner, s.id LIMIT $5
            """,
            [
                .integer(change.zoneOwner), .text(change.recordType), .integer(change.told.owner),
                .text(change.told.id),
                .integer(Int64(limit)),
            ]
        ) {
            Candidate(
                owner: try $0.int64("owner"), account: try $0.int64("account"), id: try $0.text("id"),
                user: try UserID(recordName: try $0.text("user_name")),
                body: try $0.data("body"))
        }
        var found = Found(change: change)
        var told = candidates.count
        if let record = change.record {
            told = try find(of: record, candidates, bills, &found)
        } else {
            // Somebody with several subscriptions is told once, unless they are told in two turns.
            found.overflown = Set(candidates.map(\.owner))
        }
        found.last = candidates[..<told].last.map { ($0.owner, $0.id) }
        found.isLast = told == candidates.count && candidates.count < limit
        found.used = told < candidates.count ? limit : told
        return found
    }

    /// - Returns: how many of them it came to: all, unless comparing them is too much for one transaction, or one ends
    ///   by it that is on another bill.
    private func find(
        of change: RecordChange, _ candidates: [Candidate], _ bills: Set<Int64>, _ found: inout Found
    ) throws -> Int {
        let readers = try readers(of: change, among: candidates)
        let record = ChangedRecord(change)
        let reason = QueryNotifier.reason(change.kind)
        var (told, work) = (0, 0)
        for candidate in candidates {
            guard work < Self.mostWork, found.missingBills.count < Self.mostBills else { break }
            // From the first that has to wait on, the others are looked at for their bills alone.
            if found.missingBills.isEmpty { told += 1 }
            guard readers.contains(candidate.user) else { continue }
            // One that a later version does not take any more must not keep the others from being told.
            guard
                let subscription = Subscriber(
                    owner: candidate.owner, environment: Int64(self.change.environment.rawValue),
                    database: SubscribedDatabase.public.rawValue,
                    message: try Sealkit_V1_Subscription(serializedBytes: candidate.body))
            else { continue }
            let ofThis = try subscription.work(with: record)
            guard ofThis <= QueryNotifier.mostWork else {
                work = Self.mostWork
                if found.missingBills.isEmpty { found.overflown.insert(candidate.owner) }
                continue
            }
            work += ofThis
            guard let payload = try subscription.payload(for: record, reason: reason) else { continue }
            if subscription.firesOnce, !bills.contains(candidate.account) {
                if found.missingBills.isEmpty { told -= 1 }
                found.missingBills.insert(candidate.account)
            }
            guard found.missingBills.isEmpty else { continue }
            if subscription.firesOnce { found.ended.append(subscription) }
            found.rows.append(
                FiredSubscriptions.Row(
                    owner: subscription.owner, environment: subscription.environment, database: subscription.database,
                    subscription: candidate.id, record: change.name, payload: payload))
            if !subscription.message.webhook.isEmpty { found.hooked.insert(candidate.owner) }
        }
        return told
    }

    /// Who may read the record, as the schema and roles stand now.
    private func readers(of record: RecordChange, among candidates: [Candidate]) throws -> Set<UserID> {
        let schema = try schemas.schema(change.container, change.environment, in: connection).schema
        let users = Set(candidates.map(\.user))
        let roles = schema.roles.isEmpty ? [:] : try roles(of: users)
        let grants = schema.types.mapValues(\.grants)
        return users.filter { user in
            PublicRights(hasAccount: true, user: user, roles: roles[user] ?? [], grants: grants)
                .allows(.read, type: record.type, creator: record.creator)
        }
    }

    private func roles(of users: Set<UserID>) throws -> [UserID: Set<String>] {
        guard !users.isEmpty else { return [:] }
        let parameters = (1...users.count).map { "$\($0 + 2)" }.joined(separator: ", ")
        var roles: [UserID: Set<String>] = [:]
        try connection.run(
            """
            SELECT user_name, role FROM role_assignment
            WHERE container = $1 AND environment = $2 AND user_name IN (\(parameters))
            """, SchemaTables.key(change.container, change.environment) + users.map { .text($0.recordName) }
        ) { row in
            roles[try UserID(recordName: try row.text("user_name")), default: []].insert(try row.text("role"))
            return true
        }
        return roles
    }
}

extension PublicTelling.Found {
    /// Writes it to the feeds, which are held, and notes how far it got.
    func write(in connection: any SQLConnection) throws {
        for owner in overflown.sorted() { try NotificationFeed.overflow(owner, in: connection) }
        for subscription in ended { try subscription.end(in: connection) }
        _ = try FiredSubscriptions(
            zone: change.zoneKey, origin: change.origin, changed: change.changed, connection: connection
        ).write(rows)
        for owner in owners { connection.announce(.notifications(of: owner)) }
        if !ended.isEmpty { try Watch.refresh(publicZone: change.zoneOwner, in: connection) }
        if isLast { try change.settle(in: connection) } else if let last { try change.move(to: last, in: connection) }
    }
}
