/// The limits of subscriptions and notifications (Limits.md).
package enum PushLimits {
    /// Of a user in one database.
    package static let subscriptions = 1_000
    /// Of those, each of which is compared with each record that is saved.
    package static let querySubscriptions = 100
    package static let infoBytes = 2_048
    /// Of all of a subscription, its predicate above all.
    package static let subscriptionBytes = 16_384
    package static let desiredKeys = 3
    /// Longer strings in notifications are cut.
    static let stringCharacters = 100
    package static let webhookBytes = 1_024
    /// Zone and database subscriptions of one user that one change in a zone may concern. The devices of
    /// whoever has more are told to fetch changes, and so many webhooks of it: those who save pay for what others have
    /// subscribed to.
    package static let subscriptionsPerChange = 50
    /// Of one user that are kept; a device that was away for longer is told to fetch changes.
    package static let notifications = 5_000
    /// Thirty days, in microseconds.
    package static let kept: Int64 = 30 * 86_400_000_000
    /// Changes of one public database whose subscribers are still to be told. Beyond it they are told to fetch.
    package static let publicChanges = 5_000
    /// Open event streams, of all accounts.
    package static let streams = 20_000
    /// In one page of an event stream, or in one delivery to a webhook.
    package static let page = 100
}
