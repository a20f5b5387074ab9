package import SealStorage

extension Migration {
    /// What every database goes through, oldest first.
    package static let all: [Migration] = [baseline, feedsByScope, beginsOfRuns]

    private static let feedsByScope = Migration(named: "002-feeds-by-scope", sql: RecordTables.feedsByScope)

    private static let beginsOfRuns = Migration(named: "003-begins-of-runs", sql: ServerRuns.begins)

    /// Every room's tables. Those that others refer to come first.
    private static let baseline = Migration(
        named: "001-baseline",
        sql: [
            SettingTables.tables, AccountTables.tables, AccountDeletionTables.tables, DeviceTables.tables,
            VerificationTables.tables,
            OutgoingMessages.tables, ManagementTables.tables, ServerRuns.tables, RepeatableOperation.tables,
            ZoneTables.tables,
            ZoneRemains.tables,
            SharingTables.tables, RecordTables.tables, HierarchyTables.tables, RecordTables.deletions,
            AssetTables.tables, StorageUsage.tables, PublicTables.tables,
            SchemaTables.tables, QueryTables.tables, PushTables.tables, RegistrationTables.tables, JobLease.tables,
            BilledTable.triggers,
        ].joined(separator: "\n"))
}
