import Foundation
import SealKit

/// Subscriptions, by async functions.
extension CKDatabase {
    public func allSubscriptions() async throws -> [CKSubscription] {
        try await inCloudKitsWords { try await everySubscription() }
    }

    func everySubscription() async throws(SealKitError) -> [CKSubscription] {
        try await sealed().allSubscriptions().map { CKSubscription.face(of: $0) }
    }

    /// - Throws: `unknownItem`.
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        try await inCloudKitsWords { try Self.only(try await fetchSubscriptions([subscriptionID]), subscriptionID) }
    }

    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
        try await inCloudKitsWords { try await fetchSubscriptions(ids).mapValues(\.untyped) }
    }

    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await inCloudKitsWords {
            try Self.only(
                try await modifySubscriptions([subscription], deleting: []).saveResults,
                subscription.subscriptionID)
        }
    }

    /// - Throws: `unknownItem`.
    @discardableResult
    public func deleteSubscription(withID subscriptionID: CKSubscription.ID) async throws -> CKSubscription.ID {
        try await inCloudKitsWords {
            try Self.only(
                try await modifySubscriptions([], deleting: [subscriptionID]).deleteResults, subscriptionID)
            return subscriptionID
        }
    }

    @discardableResult
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription] = [], deleting subscriptionIDsToDelete: [CKSubscription.ID] = []
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    ) {
        try await inCloudKitsWords {
            let results = try await modifySubscriptions(subscriptionsToSave, deleting: subscriptionIDsToDelete)
            return (results.saveResults.mapValues(\.untyped), results.deleteResults.mapValues(\.untyped))
        }
    }
}
