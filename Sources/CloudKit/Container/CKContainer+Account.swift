public import Foundation
import SealKit

/// Whether an account is there to work for.
public enum CKAccountStatus: Int, Sendable {
    /// It cannot be told now: the server cannot be reached, say.
    case couldNotDetermine = 0
    case available = 1
    case restricted = 2
    case noAccount = 3
    /// There is an account, and it has to prove itself again: keep caches.
    case temporarilyUnavailable = 4
}

extension NSNotification.Name {
    /// Posted without object when the account or its status changes: ask `accountStatus()` again.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}

extension CKContainer {
    public func accountStatus() async throws -> CKAccountStatus {
        try await inCloudKitsWords {
            CKAccountStatus(rawValue: try await core.container().accountStatus().rawValue) ?? .couldNotDetermine
        }
    }

    @preconcurrency
    public func accountStatus(completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void) {
        telling({ (result: Result<CKAccountStatus, any Error>) in
            switch result {
            case .success(let status): completionHandler(status, nil)
            case .failure(let error): completionHandler(.couldNotDetermine, error)
            }
        }) { try await self.accountStatus() }
    }

    /// The account's name in this container.
    /// - Throws: `notAuthenticated`, `accountTemporarilyUnavailable`.
    public func userRecordID() async throws -> CKRecord.ID {
        try await inCloudKitsWords { CKRecordID(try await core.container().userRecordID()) }
    }

    @preconcurrency
    public func fetchUserRecordID(completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void) {
        telling(completionHandler) { try await self.userRecordID() }
    }
}
