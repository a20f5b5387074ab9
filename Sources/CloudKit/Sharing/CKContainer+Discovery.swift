import Foundation

/// Finding people by their addresses, which CloudKit has given up: nobody is found, and no permission is given. Who is
/// to be in a share is looked up by `shareParticipant(forEmailAddress:)`.
@available(*, deprecated, message: "nobody is found any more; look participants up instead")
extension CKContainer {
    /// What an app may be allowed to do.
    public struct ApplicationPermissions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let userDiscoverability = ApplicationPermissions(rawValue: 1)
    }

    public enum ApplicationPermissionStatus: Int, Sendable {
        case initialState = 0
        case couldNotComplete = 1
        case denied = 2
        case granted = 3
    }

    /// The older words.
    public enum Application {
        public typealias Permissions = CKContainer.ApplicationPermissions
        public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
        public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
    }

    public typealias ApplicationPermissionBlock = @Sendable (ApplicationPermissionStatus, (any Error)?) -> Void

    public func applicationPermissionStatus(
        for applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus { .denied }

    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus { .denied }

    @preconcurrency
    public func status(
        forApplicationPermission applicationPermission: ApplicationPermissions,
        completionHandler: @escaping ApplicationPermissionBlock
    ) { HandlerQueue.call { completionHandler(.denied, nil) } }

    @preconcurrency
    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions,
        completionHandler: @escaping ApplicationPermissionBlock
    ) { HandlerQueue.call { completionHandler(.denied, nil) } }

    public func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? { nil }
    public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? { nil }
    public func userIdentity(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKUserIdentity? { nil }
    public func userIdentities(forEmailAddresses emails: [String]) async throws -> [String: CKUserIdentity] { [:] }
    public func userIdentities(forPhoneNumbers numbers: [String]) async throws -> [String: CKUserIdentity] { [:] }
    public func userIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: CKUserIdentity] { [:] }
    public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] { [] }

    @preconcurrency
    public func discoverUserIdentity(
        withEmailAddress email: String, completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) { HandlerQueue.call { completionHandler(nil, nil) } }

    @preconcurrency
    public func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) { HandlerQueue.call { completionHandler(nil, nil) } }

    @preconcurrency
    public func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) { HandlerQueue.call { completionHandler(nil, nil) } }

    @preconcurrency
    public func discoverUserIdentities(
        forEmailAddresses emails: [String],
        completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) { HandlerQueue.call { completionHandler(.success([:])) } }

    @preconcurrency
    public func discoverUserIdentities(
        forPhoneNumbers numbers: [String],
        completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) { HandlerQueue.call { completionHandler(.success([:])) } }

    @preconcurrency
    public func discoverUserIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler: @escaping @Sendable (Result<[CKRecord.ID: CKUserIdentity], any Error>) -> Void
    ) { HandlerQueue.call { completionHandler(.success([:])) } }

    @preconcurrency
    public func discoverAllIdentities(
        completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
    ) { HandlerQueue.call { completionHandler([], nil) } }
}

@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
public typealias CKContainer_Application_Permissions = CKContainer.ApplicationPermissions
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
public typealias CKContainer_Application_PermissionStatus = CKContainer.ApplicationPermissionStatus
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
public typealias CKContainer_Application_PermissionBlock = CKContainer.ApplicationPermissionBlock
