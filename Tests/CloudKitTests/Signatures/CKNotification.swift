import CloudKit

func notifications(_ userInfo: [AnyHashable: Any]) {
    let read: CKNotification? = CKNotification(fromRemoteNotificationDictionary: userInfo)
    guard let notification = read else { return }
    let _: CKNotification.ID? = notification.notificationID
    let _: CKNotification.NotificationType = notification.notificationType
    let _: [CKNotification.NotificationType] = [.query, .recordZone, .database, .readNotification]
    let _: CKNotification.NotificationType? = CKNotification.NotificationType(rawValue: 1)
    let _: CKSubscription.ID? = notification.subscriptionID
    let _: String? = notification.containerIdentifier
    let _: CKRecord.ID? = notification.subscriptionOwnerUserRecordID
    let _: Bool = notification.isPruned
    let _: String? = notification.title
    let _: String? = notification.titleLocalizationKey
    let _: [String]? = notification.titleLocalizationArgs
    let _: String? = notification.subtitle
    let _: String? = notification.subtitleLocalizationKey
    let _: [String]? = notification.subtitleLocalizationArgs
    let _: String? = notification.alertBody
    let _: String? = notification.alertLocalizationKey
    let _: [String]? = notification.alertLocalizationArgs
    let _: String? = notification.alertActionLocalizationKey
    let _: String? = notification.alertLaunchImage
    let _: String? = notification.soundName
    let _: NSNumber? = notification.badge
    let _: String? = notification.category
}
