import SealStorage

/// What SealStorage keeps for itself, which knows of no accounts.
extension Tables {
    static let settings: [Table] = [
        // The migrator makes it, before the first step.
        Table(
            "migrations", key: "position", whose: .server, erased: .kept("the server's"), billed: .free("one a step"),
            history: [:]),
        Table(
            "settings", key: "name", whose: .server, erased: .kept("the server's"), billed: .free("one a setting"),
            history: [.baseline: SettingTables.settings]),
        Table(
            "shard_number", key: "shard", whose: .server, erased: .kept("no number is given out again"),
            billed: .free("one a shard"), history: [.baseline: SettingTables.shardNumber]),
    ]

    static let jobs: [Table] = [
        Table(
            "job", key: "name", whose: .server, erased: .kept("the server's"), billed: .free("one a job"),
            history: [.baseline: JobLease.table])
    ]
}
