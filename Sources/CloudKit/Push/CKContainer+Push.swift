import Foundation

extension CKContainer {
    /// Told of what subscriptions fire for, with the dictionary that an app delegate gets in
    /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`: there is no delegate here, and no push
    /// service. Not CloudKit's.
    ///
    /// <!-- swift: let container: CKContainer -->
    /// ```swift
    /// container.remoteNotificationHandler = { userInfo in
    ///     let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
    /// }
    /// ```
    ///
    /// As long as there is a handler the container listens, on behalf of the account that is in use, and goes on after
    /// a restart where it was (in the setup's state folder). It is called for one notification after another. Where
    /// more happened than the server keeps, it is told once for each database that anything may have changed.
    public var remoteNotificationHandler: (@Sendable (_ userInfo: [AnyHashable: Any]) -> Void)? {
        get { core.push.handler }
        set { core.push.handler = newValue }
    }
}
