/// All tables, put together from what each room declares.
enum Tables {
    /// In the order in which they are made: those that others refer to come first.
    static let all: [Table] = [
        settings, accounts, accountDeletion, devices, verification, messages, management, runs, operations, zones,
        zoneRemains, sharing, records, assets, usage, publicDatabases, schema, indexes, push, registration, jobs,
        monitoring, events,
    ].flatMap { $0 }

    /// In the order in which their rows go. What may be large goes first, and has all the room of a step.
    static let erased: [Table] = all.filter(isLarge) + all.reversed().filter { !isLarge($0) }

    private static func isLarge(_ table: Table) -> Bool {
        if case .withZone(.bySize) = table.erased { true } else { false }
    }
}
