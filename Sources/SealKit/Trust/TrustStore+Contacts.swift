import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// Which keys this device knows people by. The first that it sees of somebody count; newer generations follow by
/// signatures.
extension TrustStore {
    static let contactsSchema = """
        CREATE TABLE contact (
            container TEXT NOT NULL, user BLOB NOT NULL, chain BLOB NOT NULL, firstSeen INTEGER NOT NULL, changed INTEGER,
            verified BLOB, refused BLOB, refusedAt INTEGER, PRIMARY KEY (container, user)) WITHOUT ROWID;
        """

    /// One person's row. Chains are as they travel, verified before they came here.
    struct ContactRow: Sendable {
        let chain: Data
        let firstSeen: Int64
        /// When a newer generation was seen that the user has not taken note of.
        let changed: Int64?
        /// The hash of the chain that was compared.
        let verified: Data?
        /// Other keys that were shown under this name, and when.
        let refused: Data?
        let refusedAt: Int64?

        fileprivate static let columns = "chain, firstSeen, changed, verified, refused, refusedAt"

        fileprivate init(_ row: Row) {
            (chain, firstSeen, changed) = (row[0], row[1], row[2])
            (verified, refused, refusedAt) = (row[3], row[4], row[5])
        }
    }

    /// What seeing somebody's keys changes.
    enum ContactStep: Sendable {
        case nothing
        case extend(Data)
        case refuse(Data)
    }

    /// Notes keys that were seen: first ones count; of others `judge` says, in the same transaction, what they are.
    func observe(
        _ seen: [(user: UserID, chain: Data)], container: String, time: Int64,
        judge: @escaping @Sendable (_ index: Int, _ known: Data) throws -> ContactStep
    ) async throws(SealKitError) {
        // Nearly always everything is known, and nothing has to be written.
        let isKnown = try await reading { db in
            try seen.allSatisfy { try TrustStore.contact($0.user, container, db)?.chain == $0.chain }
        }
        guard !isKnown else { return }
        try await writing { db in
            for (index, (user, chain)) in seen.enumerated() {
                guard let known = try TrustStore.contact(user, container, db) else {
                    try db.execute(
                        sql: "INSERT INTO contact (container, user, chain, firstSeen) VALUES (?, ?, ?, ?)",
                        arguments: [container, Data(user.id.bytes), chain, time])
                    continue
                }
                switch try judge(index, known.chain) {
                case .nothing: continue
                case .extend(let newer):
                    try db.execute(
                        sql:
                            "UPDATE contact SET chain = ?, changed = ?, verified = NULL WHERE container = ? AND user = ?",
                        arguments: [newer, time, container, Data(user.id.bytes)])
                case .refuse(let other):
                    try db.execute(
                        sql: "UPDATE contact SET refused = ?, refusedAt = ? WHERE container = ? AND user = ?",
                        arguments: [other, time, container, Data(user.id.bytes)])
                }
            }
        }
    }

    func contact(_ user: UserID, container: String) async throws(SealKitError) -> ContactRow? {
        try await reading { db in try TrustStore.contact(user, container, db) }
    }

    func contacts(container: String) async throws(SealKitError) -> [(user: UserID, row: ContactRow)] {
        try await reading { db in
            try Row.fetchAll(
                db, sql: "SELECT \(ContactRow.columns), user FROM contact WHERE container = ? ORDER BY user",
                arguments: [container]
            ).map { (UserID(try ID16($0[6] as Data)), ContactRow($0)) }
        }
    }

    /// Changes a row, if its keys are still those that the user has looked at.
    /// - Returns: whether they were.
    func update(
        _ user: UserID, container: String, seen: ContactRow, chain: Data, changed: Int64?, verified: Data?
    ) async throws(SealKitError) -> Bool {
        try await writing { db in
            try db.execute(
                sql: """
                    UPDATE contact SET chain = ?, changed = ?, verified = ?, refused = NULL, refusedAt = NULL
                    WHERE container = ? AND user = ? AND chain = ? AND refused IS ?
                    """,
                arguments: [chain, changed, verified, container, Data(user.id.bytes), seen.chain, seen.refused])
            return db.changesCount == 1
        }
    }

    private static func contact(_ user: UserID, _ container: String, _ db: GRDB.Database) throws -> ContactRow? {
        let select = try db.cachedStatement(
            sql: "SELECT \(ContactRow.columns) FROM contact WHERE container = ? AND user = ?")
        return try Row.fetchOne(select, arguments: [container, Data(user.id.bytes)]).map { ContactRow($0) }
    }
}
