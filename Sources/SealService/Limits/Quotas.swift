package import SealStorage
import SealWire

/// What may be stored. Nil is no limit.
package struct Quotas: Sendable {
    package var storage: Int64?
    var publicStorage: Int64?
    package var recordsPerZone: Int64?
    package var zonesPerUser: Int64?
    /// Entries of one roster, but for those that take something away.
    package var rosterEntries: UInt64
    private let containersPerAccount: Int
    /// How many times as much may be stored, whosever quota it is.
    private var factor: Int64 = 1

    package init(_ limits: ServerLimits = ServerLimits(), _ rules: AbuseLimits = AbuseLimits()) {
        storage = Self.limit(limits.storageQuota)
        publicStorage = Self.limit(limits.publicStorageQuota)
        recordsPerZone = Self.limit(limits.recordsPerZone)
        zonesPerUser = Self.limit(limits.zonesPerUser)
        rosterEntries = UInt64(clamping: rules.rosterEntries)
        containersPerAccount = rules.containersPerAccount
    }

    /// For an account that has a quota of its own.
    /// - Parameter own: bytes, 0 for no limit; nil for the server's.
    func with(own: Int64?) -> Quotas {
        guard let own else { return self }
        var quotas = self
        quotas.storage = Self.limit(own)
        return quotas
    }

    /// What an account may store, in bytes; 0 is no limit.
    /// - Parameter own: as `with(own:)` takes it.
    package func storageLimit(own: Int64?) -> Int64 { with(own: own).storage ?? 0 }

    /// Twice as much may be stored.
    var doubled: Quotas {
        var doubled = self
        doubled.factor = 2
        return doubled
    }

    private static func limit(_ value: Int64) -> Int64? { value > 0 ? value : nil }

    /// - Parameters:
    ///   - bytes: what the account would store then.
    ///   - isPublic: it is a container's public database, which nobody's account pays for.
    ///   - isOwner: the zone is the caller's own. Others are not told how much its owner has.
    func checkStorage(_ bytes: Int64, isPublic: Bool, isOwner: Bool) throws(ServerError) {
        guard let once = isPublic ? publicStorage : storage else { return }
        let limit = min(once, Int64.max / factor) * factor
        guard bytes > limit else { return }
        if isPublic {
            throw ServerError(
                .quotaExceeded, "The container's public database holds at most \(limit) bytes on this server.",
                remedy: "Delete records that are not needed, or ask the server's operator for more room.")
        }
        guard isOwner else {
            throw ServerError(
                .quotaExceeded, "The zone's owner has no room left on this server.",
                remedy: "The owner has to delete records or assets, or to ask the server's operator for more room.")
        }
        throw ServerError(
            .quotaExceeded, "An account stores at most \(limit) bytes on this server.",
            remedy: "Delete records or assets that are not needed, or ask the server's operator for more room. "
                + "An upload that broke off, and was not given up, counts as a whole for a day.")
    }

    /// - Parameter records: how many the zone would have then.
    func checkRecords(_ records: Int64, isOwner: Bool) throws(ServerError) {
        guard let limit = recordsPerZone, records > limit else { return }
        throw ServerError(
            .quotaExceeded, "A zone has at most \(limit) records on this server.",
            remedy: isOwner
                ? "Delete records that are not needed, or begin another zone."
                : "Delete records that are not needed, or ask the zone's owner to begin another zone.")
    }

    /// One more zone for its owner; in the caller's transaction.
    func checkZones(of owner: Int64, in connection: any SQLConnection) throws {
        guard let limit = zonesPerUser else { return }
        let open = try connection.first(
            "SELECT COUNT(*) AS count FROM zone WHERE owner = $1 AND closed = 0", [.integer(owner)]
        ) { try $0.int64("count") }
        guard let open, open >= limit else { return }
        throw ServerError(
            .quotaExceeded, "A user has at most \(limit) zones in a container on this server.",
            remedy: "Delete zones that are not needed, or ask the server's operator for more.")
    }

    /// Those in which the account has an identity, a new one among them; in the caller's transaction.
    /// - Throws: `quotaExceeded`.
    package func checkContainers(of account: Int64, in connection: any SQLConnection) throws {
        let count = try connection.first(
            "SELECT COUNT(*) AS count FROM identity WHERE account = $1", [.integer(account)]
        ) { try $0.int64("count") }
        guard let count, count > containersPerAccount else { return }
        throw ServerError(
            .quotaExceeded, "An account has identities in at most \(containersPerAccount) containers on this server.",
            remedy: "Use another account for further containers.")
    }
}
