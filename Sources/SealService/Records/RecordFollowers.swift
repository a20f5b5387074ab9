import SealStorage

/// Everybody who follows saves: each works in the save's transaction, for the whole batch at once.
enum RecordFollowers {
    /// - Parameters:
    ///   - schema: knows every type and field of these records.
    ///   - billed: what was billed before records changed their scopes; nil where none does.
    ///   - kept: what the request's answer adds to the caller's bill (`StorageUsage.follow`).
    static func follow(
        _ changes: [RecordChange], _ schema: StoredSchema, in zone: ZoneRow, by caller: Caller, opensShares: Bool,
        billed: Int64?,
        kept: Int64, now: Int64, quotas: Quotas, _ connection: any SQLConnection
    ) throws {
        // First: what is too much is refused before anybody has worked for it.
        try StorageUsage.follow(
            changes, in: zone, by: caller, grows: opensShares, billed: billed, kept: kept, quotas: quotas, connection)
        try RecordIndex(zone: zone, connection: connection).follow(changes, schema)
        try Notifier(zone: zone, caller: caller, now: now, connection: connection).recordsChanged(changes)
    }
}
