import Foundation
import SealKit

/// Fetched notifications that were kept for it: none are.
@available(*, deprecated, message: "notifications are not kept; fetch changes by token")
open class CKFetchNotificationChangesOperation: CKOperation, @unchecked Sendable {
    open var previousServerChangeToken: CKServerChangeToken?
    open var resultsLimit = 0
    public let moreComing = false
    open var notificationChangedBlock: ((_ notification: CKNotification) -> Void)?
    open var fetchNotificationChangesCompletionBlock:
        ((_ serverChangeToken: CKServerChangeToken?, _ operationError: (any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func work() async throws(CKError) { try await calling {} }

    override func ended(_ failure: CKError?) {
        fetchNotificationChangesCompletionBlock?(previousServerChangeToken, failure)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        notificationChangedBlock = nil
        fetchNotificationChangesCompletionBlock = nil
    }
}

/// Marked notifications as read: there is nothing to mark.
@available(*, deprecated, message: "notifications are not kept")
open class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
    open var notificationIDs: [CKNotification.ID] = []
    open var markNotificationsReadCompletionBlock:
        ((_ notificationIDsMarkedRead: [CKNotification.ID]?, _ operationError: (any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(notificationIDsToMarkRead notificationIDs: [CKNotification.ID]) {
        self.init()
        self.notificationIDs = notificationIDs
    }

    override func work() async throws(CKError) { try await calling {} }

    override func ended(_ failure: CKError?) {
        markNotificationsReadCompletionBlock?(failure == nil ? notificationIDs : nil, failure)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        markNotificationsReadCompletionBlock = nil
    }
}

/// Set an app's badge: there is none here.
@available(*, deprecated, message: "there is no badge; the app counts by itself")
open class CKModifyBadgeOperation: CKOperation, @unchecked Sendable {
    open var badgeValue = 0
    open var modifyBadgeCompletionBlock: ((_ operationError: (any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(badgeValue: Int) {
        self.init()
        self.badgeValue = badgeValue
    }

    override func work() async throws(CKError) { try await calling {} }

    override func ended(_ failure: CKError?) { modifyBadgeCompletionBlock?(failure) }

    override func releaseBlocks() {
        super.releaseBlocks()
        modifyBadgeCompletionBlock = nil
    }
}
