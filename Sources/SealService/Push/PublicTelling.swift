import Foundation
import SealSchema
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// The telling of one change to some of those who subscribed to its record type.
struct PublicTelling {
    let change: PublicChangeRow
    /// Microseconds since 1970.
    let now: Int64
    let schemas: SchemaStore
    let connection: any SQLConnection

    private struct Candidate {
        let owner: Int64
        let id: String
        let user: UserID
        let body: Data
    }

    /// `ComparisonWork` after which the rest waits for the next transaction: everybody's writes wait for this one.
    private static let mostWork = 20_000

    /// - Returns: how much of the limit is used up.
    func tell(atMost limit: Int) throws -> Int {
        let candidates = try connection.rows(
            """
            SELECT s.owner, s.id, i.user_name, s.body FROM subscription s JOIN identity i ON i.id = s.owner
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
                owner: try $0.int64("owner"), id: try $0.text("id"),
                user: try UserID(recordName: try $0.text("user_name")),
                body: try $0.data("body"))
        }
        var told = candidates[...]
        if let record = change.record {
            told = candidates[..<(try tell(record, candidates))]
        } else {
            try overflow(candidates)
        }
        let isAll = told.count == candidates.count && candidates.count < limit
        try change.move(to: isAll ? nil : told.last.map { ($0.owner, $0.id) }, in: connection)
        return told.count < candidates.count ? limit : told.count
    }

    private func overflow(_ candidates: [Candidate]) throws {
        // Somebody with several subscriptions is told once, unless they are told in two turns.
        for owner in Set(candidates.map(\.owner)).sorted() {
            try NotificationFeed.overflow(owner, in: connection)
            connection.announce(.notifications(of: owner))
        }
    }

    /// - Returns: how many of them it came to: all, unless comparing them is too much for one transaction.
    private func tell(_ change: RecordChange, _ candidates: [Candidate]) throws -> Int {
        let readers = try readers(of: change, among: candidates)
        let record = ChangedRecord(change)
        let reason = QueryNotifier.reason(change.kind)
        var rows: [FiredSubscriptions.Row] = []
        var hooked: [Int64] = []
        var hasEnded = false
        var (told, work) = (0, 0)
        for candidate in candidates {
            guard work < Self.mostWork else { break }
            told += 1
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
                try overflow([candidate])
                continue
            }
            work += ofThis
            guard let payload = try subscription.payload(for: record, reason: reason) else { continue }
            rows.append(
                FiredSubscriptions.Row(
                    owner: subscription.owner, environment: subscription.environment, database: subscription.database,
                    subscription: candidate.id, record: change.name, payload: payload))
            if !subscription.message.webhook.isEmpty { hooked.append(candidate.owner) }
            if subscription.firesOnce {
                try subscription.end(in: connection)
                hasEnded = true
            }
        }
        guard !rows.isEmpty else { return told }
        let owners = try FiredSubscriptions(
            zone: self.change.zoneKey, origin: self.change.origin, changed: self.change.changed, connection: connection
        ).write(rows)
        for owner in owners { connection.announce(.notifications(of: owner)) }
        try wakeWebhooks(of: Set(hooked).sorted())
        if hasEnded { try Watch.refresh(publicZone: self.change.zoneOwner, in: connection) }
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

    private func wakeWebhooks(of owners: [Int64]) throws {
        guard !owners.isEmpty else { return }
        let parameters = owners.indices.map { "$\($0 + 3)" }.joined(separator: ", ")
        // Where there turns out to be nothing to send, the sender notes that.
        try connection.execute(
            """
            UPDATE webhook SET due = $2, since = $2
            WHERE due = 0 AND environment = $1 AND database = 1 AND owner IN (\(parameters))
            """,
            [.integer(Int64(change.environment.rawValue)), .integer(now)] + owners.map { .integer($0) })
        connection.announce(.webhooks)
    }
}
