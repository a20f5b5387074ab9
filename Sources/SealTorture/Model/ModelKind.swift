/// What a run plays: where it never comes to one, it shows nothing of it.
enum ModelKind: String, CaseIterable, Sendable {
    case saves, deletions, lookUps, queries, callsAtOnce, zoneFeeds, databaseFeeds, sharedDatabaseFeeds, notifications
    case zonesMade, zonesDeleted
    case invited, permissionRaised, permissionLowered, takenOut, left
    case madeAdministrator, madePrivateUser, changedByAdministrator, refusedChange
    case openedToPublic, publicRaised, publicLowered, closedToPublic, joinedByURL, refusedURL
    case rotated, rotatedAtOnce, refusedRotation, rekeyed, rekeyedAtOnce, refusedForDueKey
    case hierarchyShared, refusedHierarchy, hierarchyStopped, rootDeleted, wholeStopped
    case hierarchyJoined, hierarchyTakenOut, hierarchyRightChanged, hierarchyLeft
    case trustKept, trustSetBack, trustLost, deviceSetBack, deviceLost

    /// What takes so much to come about that a few thousand steps may do without.
    static let seldom: Set<ModelKind> = [
        .refusedForDueKey, .changedByAdministrator, .madePrivateUser, .permissionRaised, .permissionLowered,
    ]
}

/// How often each kind was played.
struct ModelCounts: Sendable, CustomStringConvertible {
    private var counts: [ModelKind: Int] = [:]

    mutating func count(_ kind: ModelKind) { counts[kind, default: 0] += 1 }

    mutating func add(_ others: ModelCounts) { counts.merge(others.counts, uniquingKeysWith: +) }

    var missing: [ModelKind] { ModelKind.allCases.filter { counts[$0] == nil && !ModelKind.seldom.contains($0) } }

    var description: String { ModelKind.allCases.map { "\($0.rawValue) \(counts[$0] ?? 0)" }.joined(separator: ", ") }
}
