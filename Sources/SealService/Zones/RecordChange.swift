package import SealStatements

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
    /// The words of long texts among them, by field, as far as they are known.
    let words: [String: Set<String>]
    /// As they were stored before; empty for a new record, and where nobody looks at them.
    let formerFields: [UInt8]
    /// How many bytes they took.
    let formerBytes: Int
    /// There was nothing of this name before, not even a tombstone.
    let isNewRow: Bool
    /// The hierarchical shares that it is in, or was in until now.
    package let shares: Set<Int64>
    /// What the record's last save left; nil for a new record.
    package let former: Former?
    /// It went with another one's deletion.
    var wentAlong = false

    package struct Former: Sendable {
        /// Microseconds since 1970.
        package let modified: Int64
        /// Canonical bytes.
        package let statement: [UInt8]
    }
}
