/// A user's own record is there from the start, as in CloudKit. Only its user can sign it, and reading signs nothing:
/// to its user it is empty until it is saved, and others do not find it before.
extension Database {
    /// Whether it is the record of the type `Users` that belongs to whoever asks.
    func isOwnUserRecord(_ id: Record.ID) -> Bool {
        switch (scope, core.access) {
        case (.shared, _), (_, .world): false
        case (.public, _), (.private, _):
            id.recordName == core.userID().recordName && id.zoneID.zoneName == RecordZone.defaultName
                && id.zoneID.isCurrentUsers
        }
    }
}
