import SealStatements
import SealStorage
import SealWire

/// The hierarchical shares that one save opens and ends, their entries checked against the rules. They are stored in
/// the save's transaction, or with it nothing is.
package struct ShareChanges: Sendable {
    /// Of one request: each is held against the hierarchies of all others in the zone, in the transaction.
    package static let most = 50

    private(set) var openings: [ShareOpening] = []
    private(set) var endings: [ShareEnding] = []

    var isEmpty: Bool { openings.isEmpty && endings.isEmpty }

    /// What is to be counted of it; nil for nothing.
    func news(in path: DatabasePath) -> SharingNews? {
        guard !openings.isEmpty else { return nil }
        var news = SharingNews(container: path.container, environment: path.environment)
        for entry in openings.compactMap(\.following?.entry) { news.add(entry) }
        return news
    }

    /// None.
    init() {}

    /// - Throws: `permissionFailure` to anybody but the owner; `alreadyShared`; `unknownItem`; `invalidArguments` and
    ///   others for entries that the rules refuse.
    init(
        _ message: Sealkit_V1_ModifyRecordsRequest, _ zone: ZoneRow, _ caller: Caller, _ path: DatabasePath,
        _ rosters: RosterCache, _ quotas: Quotas, _ hasher: AddressHasher, _ connection: any SQLConnection
    ) throws {
        guard !message.openings.isEmpty || !message.closings.isEmpty else { return }
        guard path.database == .private, caller.id == zone.owner else {
            throw ServerError(
                .permissionFailure, "Only the zone's owner shares hierarchies in it, or ends that.",
                remedy: "Ask the owner to share the record.")
        }
        guard message.openings.count + message.closings.count <= Self.most else {
            throw ServerError(
                .limitExceeded, "A request opens and ends at most \(Self.most) shares.", remedy: "Send fewer at once.")
        }
        let names = message.openings.map(\.shareRecordName) + message.closings.map(\.shareRecordName)
        guard Set(names).count == names.count else { throw Shares.twice }
        if !message.openings.isEmpty {
            try Self.checkMayShareRecords(try rosters.roster(of: ScopeRow(zone), in: connection))
            try Self.checkNotShared(zone, connection)
        }
        for (index, wire) in message.openings.enumerated() {
            let opening = try ShareOpening(wire, at: index, in: zone, rosters, hasher, connection)
            try RosterRoom.check(entry: opening.roster.sequence, quotas)
            openings.append(opening)
        }
        for closing in message.closings {
            endings.append(
                try ShareEnding(closing.close, of: closing.shareRecordName, in: zone, rosters, connection))
        }
    }

    private static func checkMayShareRecords(_ roster: Roster) throws(ServerError) {
        guard roster.encryptionScope == .perRecord else {
            throw ServerError(
                .invalidArguments, "The zone is encrypted per zone: no record in it is shared by itself.",
                remedy: "Share the zone as a whole, or put the records into a zone that is encrypted per record.")
        }
    }

    /// A zone is shared as a whole, or some hierarchies in it are.
    private static func checkNotShared(_ zone: ZoneRow, _ connection: any SQLConnection) throws {
        guard try zone.own.participants == 0 && !StoredParents.isLive(Names.zoneWideShare, in: zone, connection) else {
            throw ServerError(
                .alreadyShared, "The zone is shared as a whole, so no hierarchy in it is shared by itself.",
                remedy: "Delete the zone's share first, or put the records into another zone.")
        }
    }

    /// Whether a share ends.
    /// - Parameter number: the share's.
    func ends(_ number: Int64) -> Bool { endings.contains { $0.share.number == number } }

    /// Whether a record is the root of a share that ends.
    func ends(shareOf root: String) -> Bool { endings.contains { $0.share.root == root } }

    // MARK: In the save's transaction

    /// The rosters are as they were judged.
    func recheck(in zone: ZoneRow, _ connection: any SQLConnection) throws {
        for opening in openings { try opening.recheck(in: zone, connection) }
        for ending in endings { try ending.recheck(in: zone, connection) }
        if !openings.isEmpty { try Self.checkNotShared(zone, connection) }
    }

    /// Before the save's records, which are in these scopes.
    func storeOpenings(
        in zone: ZoneRow, by caller: Caller, _ rosters: RosterCache, _ quotas: Quotas, now: Int64,
        _ connection: any SQLConnection
    ) throws {
        for opening in openings {
            try opening.store(in: zone, by: caller, rosters, quotas, now: now, connection)
        }
    }

    /// After the save's records: the deletion of the share's record cites the roster as it was.
    func storeEndings(in zone: ZoneRow, by caller: Caller, now: Int64, _ connection: any SQLConnection) throws {
        for ending in endings { try ending.store(in: zone, by: caller, now: now, connection) }
    }
}
