/// The steps of the schema's history, oldest first. Once released, none changes; a new one is appended.
enum MigrationStep: String, CaseIterable, Sendable {
    case baseline = "001-baseline"
    case feedsByScope = "002-feeds-by-scope"
    case beginsOfRuns = "003-begins-of-runs"
    case standingOfAccounts = "004-standing-of-accounts"
    case logQueries = "005-log-queries"
    case managementEvents = "006-management-events"
    case alerts = "007-alerts"
    case positionsOfPublicChanges = "008-positions-of-public-changes"
    case timesOfGarbage = "009-times-of-garbage"
    case databaseFeeds = "010-database-feeds"
    case severalServers = "011-several-servers"
    case toldSubscriptions = "012-told-subscriptions"
    case turnsOfIndexes = "013-turns-of-indexes"
    case runsOfNotifications = "014-runs-of-notifications"
}
