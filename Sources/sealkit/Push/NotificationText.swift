import SealKit

/// How `watch` shows a notification.
enum NotificationText {
    static func text(_ fired: Container.Notification.Fired) -> String {
        var line = "\(Timestamp.text(fired.date))  \(fired.subscriptionID.escaped)  \(place(fired))"
        if let record = fired.recordID { line += "  \(reason(fired)) \(record.recordName.escaped)" }
        if let body = fired.notificationInfo?.alertBody { line += "  \(body.escaped)" }
        return line
    }

    /// Nobody signed it: what it names is the server's word.
    static func bare(_ fired: Container.Notification.Fired) -> String {
        (fired.recordID?.recordName ?? fired.zoneID.description).escaped
    }

    static func json(_ fired: Container.Notification.Fired) -> [String: JSONValue] {
        var fields: [String: JSONValue] = [
            "subscription": .string(fired.subscriptionID), "database": .string(name(fired.databaseScope)),
            "zone": .string(fired.zoneID.zoneName),
            "owner": .string(fired.zoneID.ownerName), "date": .string(Timestamp.text(fired.date)),
        ]
        if let record = fired.recordID {
            fields["record"] = .string(record.recordName)
            fields["reason"] = .string(reason(fired))
            fields["type"] = JSONValue(fired.recordType)
        }
        if let body = fired.notificationInfo?.alertBody { fields["alertBody"] = .string(body) }
        return fields
    }

    private static func place(_ fired: Container.Notification.Fired) -> String {
        fired.databaseScope == .public ? "public database" : fired.zoneID.description.escaped.withNames
    }

    private static func name(_ scope: Database.Scope) -> String {
        switch scope {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        }
    }

    private static func reason(_ fired: Container.Notification.Fired) -> String {
        switch fired.queryNotificationReason {
        case .recordCreated: "created"
        case .recordUpdated: "updated"
        case .recordDeleted: "deleted"
        case nil: "changed"
        }
    }
}
