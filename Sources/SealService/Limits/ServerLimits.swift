/// What an operator may set about how much the server takes: the rates of one account, what is under way at once, and
/// what may be stored. 0 is no limit, everywhere. Limits.md has all limits in one table.
public struct ServerLimits: Sendable, Equatable {
    // Rates, a second in the long run; ten minutes' worth may come at once.

    /// Requests of one account.
    public var requestRate = 1_000
    /// Records, zones and roster entries that one account sends.
    public var writeRate = 5_000
    /// Records that one account asks for by name; a page of changes counts as ten.
    public var readRate = 20_000
    /// Invitations, acceptances, look-ups of people and verifications of one account.
    public var sharingRate = 20
    /// Requests without a session from one client address.
    public var anonymousRate = 100

    // Messages with codes, to everybody together, in an hour

    public var mailPerHour = 5_000
    /// They cost money: whoever has numbers of their own in many countries may earn by them.
    public var textsPerHour = 500

    // What is under way at once, from everybody

    public var requestsInFlight = 4_096
    /// Bodies of requests that are being read or worked on, in bytes; as much again for large answers and downloads on
    /// their way out.
    public var bytesInFlight = 256 << 20

    /// Seconds for which one request may hold the writer, for whose commit everybody else waits.
    public var writeBudget = 2

    // What may be stored

    /// Bytes of one account: of all zones that it owns, in all containers, and of what is kept for itself.
    public var storageQuota: Int64 = 10 << 30
    /// Bytes of one container's public database.
    public var publicStorageQuota: Int64 = 10 << 30
    public var recordsPerZone: Int64 = 0
    /// Open zones that one user owns in one container.
    public var zonesPerUser: Int64 = 10_000

    public init() {}
}
