public import Foundation

public let CKErrorDomain = "CKErrorDomain"
/// In the user information of a `partialFailure`: errors by the IDs of their items.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"
/// With `serverRecordChanged`: the version that the app's record was made from.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"
/// With `serverRecordChanged`: what the server has.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"
/// With `serverRecordChanged`: what was to be saved.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"
/// With `zoneNotFound`: the user gave up the keys of the zone, and what was in it is lost.
public let CKErrorUserDidResetEncryptedDataKey = "CKErrorUserDidResetEncryptedDataKey"
/// With any code: after how many seconds it is worth trying again.
public let CKErrorRetryAfterKey = "CKRetryAfter"

/// What a call of CloudKit's fails with.
///
/// It is a structure: `error as? CKError` finds it, `error as NSError` has its domain, number and user information, and
/// `error as? NSError`, which is no cast that this platform knows, finds nothing.
public struct CKError: Error, Sendable {
    public let _nsError: NSError

    public init(_nsError error: NSError) { _nsError = error }

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    public static var errorDomain: String { CKErrorDomain }
    /// `internalError` for a number that CloudKit does not have.
    public var code: Code { Code(rawValue: _nsError.code) ?? .internalError }
    public var userInfo: [String: Any] { _nsError.userInfo }
    public var errorCode: Int { _nsError.code }
    public var errorUserInfo: [String: Any] { _nsError.userInfo }
    public var localizedDescription: String {
        userInfo[NSLocalizedDescriptionKey] as? String ?? "CloudKit error \(errorCode)"
    }

    /// Of a `partialFailure`, the errors by the IDs of their items.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    public var ancestorRecord: CKRecord? { userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord }
    public var serverRecord: CKRecord? { userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord }
    public var clientRecord: CKRecord? { userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord }
    public var retryAfterSeconds: Double? { userInfo[CKErrorRetryAfterKey] as? Double }
}

extension CKError: CustomNSError {}

extension CKError: LocalizedError {
    public var errorDescription: String? { localizedDescription }
    public var recoverySuggestion: String? { userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String }
}

extension CKError: Hashable {
    public static func == (one: CKError, other: CKError) -> Bool { one._nsError.isEqual(other._nsError) }
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.hash) }
}

extension CKError: CustomStringConvertible {
    /// `<CKError: "zone not found" (26); …>`, as in CloudKit's logs.
    public var description: String { "<CKError: \"\(code)\" (\(errorCode)); \(localizedDescription)>" }
}
