package import SealStatements
import SealStorage

/// What a save did to one record: for those who follow saves inside the same transaction.
package struct RecordChange: Sendable {
    package enum Kind: Sendable {
        case created, updated, deleted
    }

    package let kind: Kind
    package let name: String
    package let type: String
    /// The record's place in the zone's feed.
    package let position: Int64
    package let creator: UserID
    package let author: UserID
    /// Microseconds since 1970.
    package let created: Int64
    package let modified: Int64
    /// As they are stored (`StoredRecord.fields`); empty for a deletion.
    package let fields: [UInt8]
    /// As they were stored before; empty for a new record.
    let formerFields: [UInt8]
    /// There was nothing of this name before, not even a tombstone.
    let isNewRow: Bool
    /// The hierarchical shares that it is in, or was in until now.
    package let shares: Set<Int64>
    /// What the record's last save left; nil for a new record.
    package let former: Former?

    package struct Former: Sendable {
        /// Microseconds since 1970.
        package let modified: Int64
        /// Canonical bytes.
        package let statement: [UInt8]
    }
}

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
