import SealKit

/// How `watch` shows a notification.
enum NotificationText {
    static func text(_ fired: Container.Notification.Fired) -> String {
        var line = "\(Timestamp.text(fired.date))  \(fired.subscriptionID.escaped)  \(fired.zoneID.description.escaped)"
        if let record = fired.recordID { line += "  \(reason(fired)) \(record.recordName.escaped)" }
        if let body = fired.notificationInfo?.alertBody { line += "  \(body.escaped)" }
        return line
    }

    static func json(_ fired: Container.Notification.Fired) -> [String: JSONValue] {
        var fields: [String: JSONValue] = [
            "subscription": .string(fired.subscriptionID), "zone": .string(fired.zoneID.zoneName),
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

    private static func reason(_ fired: Container.Notification.Fired) -> String {
        switch fired.queryNotificationReason {
        case .recordCreated: "created"
        case .recordUpdated: "updated"
        case .recordDeleted: "deleted"
        case nil: "changed"
        }
    }
}
