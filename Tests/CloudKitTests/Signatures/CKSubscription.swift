import CloudKit

func subscriptions(_ subscription: CKSubscription, _ coder: NSCoder) {
    let _: CKSubscription? = CKSubscription(coder: coder)
    let _: CKSubscription.ID = subscription.subscriptionID
    let _: CKSubscription.SubscriptionType = subscription.subscriptionType
    let _: [CKSubscription.SubscriptionType] = [.query, .recordZone, .database]
    let _: CKSubscription.SubscriptionType? = CKSubscription.SubscriptionType(rawValue: 1)
    subscription.notificationInfo = CKSubscription.NotificationInfo()
}

func notificationInfos() {
    let info: CKSubscription.NotificationInfo = CKSubscription.NotificationInfo(
        alertBody: "new", alertLocalizationKey: nil, alertLocalizationArgs: [], title: nil, titleLocalizationKey: nil,
        titleLocalizationArgs: [], subtitle: nil, subtitleLocalizationKey: nil, subtitleLocalizationArgs: [],
        alertActionLocalizationKey: nil, alertLaunchImage: nil, soundName: nil, desiredKeys: [], shouldBadge: false,
        shouldSendContentAvailable: true, shouldSendMutableContent: false, category: nil, collapseIDKey: nil)
    info.alertBody = "new"
    info.alertLocalizationKey = nil
    info.alertLocalizationArgs = nil
    info.title = nil
    info.titleLocalizationKey = nil
    info.titleLocalizationArgs = nil
    info.subtitle = nil
    info.subtitleLocalizationKey = nil
    info.subtitleLocalizationArgs = nil
    info.alertActionLocalizationKey = nil
    info.alertLaunchImage = nil
    info.soundName = nil
    info.desiredKeys = ["title"]
    info.shouldBadge = true
    info.shouldSendContentAvailable = true
    info.shouldSendMutableContent = true
    info.category = nil
    info.collapseIDKey = nil
}
