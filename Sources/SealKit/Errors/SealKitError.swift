public import Foundation
import SealClient
import SealPrimitives
import SealWire

/// The one error of the SDK: a code in CloudKit's words (or our own), what was wrong, and what to do about it.
///
/// No error holds a secret, a plaintext or a link's secret part.
public struct SealKitError: Error, Sendable {
    /// Which error it is, in CloudKit's words.
    public let code: Code
    /// What was wrong.
    public let reason: String
    /// What the caller can do; empty when there is nothing.
    public let remedy: String
    /// Seconds to wait before trying again; nil when retrying is of no use. Any code may come with it. What is safe to
    /// repeat the SDK has repeated by itself already, as long as the operation's configuration let it.
    public let retryAfter: Double?
    /// With `zoneNotFound`: the user gave the zone's keys up, and its content is lost on the server (CloudKit's
    /// `CKErrorUserDidResetEncryptedDataKey`). Save the zone again and upload what this device has.
    public let userDidResetEncryptedDataKey: Bool
    /// With `serverRecordChanged`: what the server has. Merge into it and save again.
    public var serverRecord: Record? { records?.server }
    /// With `serverRecordChanged`: what was to be saved.
    public var clientRecord: Record? { records?.client }

    /// With `serverRecordChanged`: the version that the client's record was made from, for a three-way merge; nil where
    /// this device has it no more (a record made from encoded system fields).
    public var ancestorRecord: Record? { records?.ancestor }

    private final class Conflict: Sendable {
        let server: Record?
        let client: Record?
        let ancestor: Record?
        init(server: Record?, client: Record?, ancestor: Record?) {
            self.server = server
            self.client = client
            self.ancestor = ancestor
        }
    }
    private let records: Conflict?
    /// With `rollback`, where the server shows another roster than this device has verified: where the two part.
    public let rosterFork: RosterFork?
    /// With `rollback`, for a record that was kept back, or written late: what the user may accept
    /// (`Database.accept(_:)`).
    public let lateRecord: LateRecord?
    /// Of a record that verifies and does not open; nil for every other error.
    private(set) var unopened: UnopenedRecord.Cause?

    /// For transports and tests of an app's own.
    /// - Parameters:
    ///   - code: which error it is.
    ///   - reason: what was wrong, without anything secret.
    ///   - remedy: what to do about it; empty for nothing.
    ///   - retryAfter: seconds, where the server names a time.
    ///   - serverRecord: of a conflict, what is stored.
    ///   - clientRecord: of a conflict, what was to be saved.
    ///   - ancestorRecord: of a conflict, what both have started from.
    ///   - rosterFork: where two rosters have parted.
    ///   - lateRecord: a record that came late, and may be accepted.
    ///   - userDidResetEncryptedDataKey: the zone is gone since its user has given up what was encrypted.
    public init(
        _ code: Code, _ reason: String, remedy: String = "", retryAfter: Double? = nil, serverRecord: Record? = nil,
        clientRecord: Record? = nil, ancestorRecord: Record? = nil, rosterFork: RosterFork? = nil,
        lateRecord: LateRecord? = nil, userDidResetEncryptedDataKey: Bool = false
    ) {
        self.lateRecord = lateRecord
        self.rosterFork = rosterFork
        self.userDidResetEncryptedDataKey = userDidResetEncryptedDataKey
        self.code = code
        self.reason = reason
        self.remedy = remedy
        self.retryAfter = retryAfter
        records =
            serverRecord == nil && clientRecord == nil
            ? nil : Conflict(server: serverRecord, client: clientRecord, ancestor: ancestorRecord)
    }

    /// The same of one record among others: a server's words say no names.
    func about(_ recordName: String) -> SealKitError {
        SealKitError(
            code, "record \(recordName): \(reason)", remedy: remedy, retryAfter: retryAfter,
            userDidResetEncryptedDataKey: userDidResetEncryptedDataKey)
    }

    /// The same, said of a record that verifies and does not open.
    func ofUnopened(_ cause: UnopenedRecord.Cause) -> SealKitError {
        var copy = self
        copy.unopened = cause
        return copy
    }

    /// A server's failure. A code that this version does not know stays what it is, never guessed.
    init(_ failure: Sealkit_V1_Failure) {
        self.init(
            Code(rawValue: failure.code), failure.reason, remedy: failure.remedy,
            retryAfter: SealKitError.wait(seconds: failure.retryAfter),
            userDidResetEncryptedDataKey: failure.userDidResetEncryptedData)
    }

    init(_ failure: Wire.Failure) {
        self.init(
            Code(rawValue: failure.code), failure.reason, remedy: failure.remedy,
            retryAfter: SealKitError.wait(seconds: failure.retryAfter),
            userDidResetEncryptedDataKey: failure.userDidResetEncryptedData)
    }

    /// A time to wait as a server names it: nil for none, at most a week whatever it says.
    static func wait(seconds: Double) -> Double? { seconds > 0 ? min(seconds, 7 * 86_400) : nil }

    /// What was asked for is not in the answer.
    package static func lacking(_ what: String) -> SealKitError {
        SealKitError(.serverRejectedRequest, "the server's answer lacks \(what)")
    }

    /// Something that the core refused while checking `subject`.
    static func integrity(_ error: SealError, _ subject: String) -> SealKitError {
        switch error {
        case .tooManyParticipants:
            SealKitError(
                .tooManyParticipants, "\(subject) would have more than 100 participants", remedy: "remove some first")
        case .invalidURL:
            SealKitError(
                .invalidArguments, "the share URL is cut short, altered, or belongs to another share",
                remedy: "copy the whole URL, with everything after the #")
        case .unsupported:
            SealKitError(
                .incompatibleVersion, "\(subject) holds something that this version does not read",
                remedy: "update SealKit")
        default:
            SealKitError(
                .integrityFailure, "\(subject) does not verify (\(error)); nothing of it was opened",
                remedy:
                    "the server or somebody with access to it altered data; compare with the owner before trusting it")
        }
    }
}

extension Optional {
    /// One of an answer's results.
    /// - Parameter what: it is of, as the error says where there is none.
    func answered<T>(_ what: String) throws(SealKitError) -> T where Wrapped == Result<T, SealKitError> {
        guard let self else { throw .lacking(what) }
        return try self.get()
    }
}

extension SealKitError: CustomStringConvertible {
    public var description: String {
        remedy.isEmpty ? "\(code.rawValue): \(reason)" : "\(code.rawValue): \(reason) (\(remedy))"
    }
}

/// What `localizedDescription` and alerts show.
extension SealKitError: LocalizedError {
    public var errorDescription: String? { reason }
    public var recoverySuggestion: String? { remedy.isEmpty ? nil : remedy }
}

/// Runs a client's judgement whose failure means that data does not verify.
func judging<T>(_ subject: String, _ body: () throws(ClientError) -> T) throws(SealKitError) -> T {
    do { return try body() } catch { throw SealKitError.integrity(error, subject) }
}

/// Runs core code whose failure means that data does not verify.
func verifying<T>(_ subject: @autoclosure () -> String, _ body: () throws(SealError) -> T) throws(SealKitError) -> T {
    do {
        return try body()
    } catch {
        throw SealKitError.integrity(error, subject())
    }
}
