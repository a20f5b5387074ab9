/// All tables, put together from what each room declares.
enum Tables {
    /// In the order in which they are made: those that others refer to come first.
    static let all: [Table] = [
        settings, accounts, accountDeletion, devices, verification, messages, management, runs, operations, zones,
        zoneRemains, sharing, records, assets, usage, publicDatabases, schema, indexes, push, registration, jobs,
    ].flatMap { $0 }

    /// In the order in which their rows go.
    static let erased: [Table] = all.reversed()
}
