public import Foundation
import SealPrimitives
import SealStatements

/// Something that the server, or somebody with its help, showed this device, and that did not verify. Nothing of it was
/// used, except of records that are their own ancestors: each of those is good in itself, and was given out.
public struct Violation: Sendable, Hashable {
    /// `integrityFailure` or `rollback`.
    public let code: SealKitError.Code
    /// What was wrong, as the error said it. Names come from the server: escape them where they are shown.
    public let reason: String
    /// nil for what concerns no zone.
    public let zoneID: RecordZone.ID?
    /// nil for what concerns no single record.
    public let recordName: String?
    /// When this device saw it first, by its clock.
    public let firstSeen: Date
    /// When this device saw it last, by its clock.
    public let lastSeen: Date

    init(_ row: TrustStore.ViolationRow) {
        code = SealKitError.Code(rawValue: row.code)
        reason = row.reason
        zoneID = row.zone.isEmpty ? nil : RecordZone.ID(zoneName: row.zone, ownerName: row.owner)
        recordName = row.record.isEmpty ? nil : row.record
        firstSeen = Date(microseconds: row.first)
        lastSeen = Date(microseconds: row.last)
    }
}

extension Container {
    /// What did not verify, newest first: the errors are gone once an app has handled them, these stay in the trust
    /// store. The newest 1,000 are kept.
    /// - Throws: `notAuthenticated`.
    public func violations() async throws(SealKitError) -> [Violation] {
        let core = core
        try core.requireSignedIn()
        return try await core.trust.violations(container: core.identifier, environment: core.environment).map {
            Violation($0)
        }
    }

    /// Forgets violations that the user has looked at. What is seen meanwhile stays.
    /// - Parameter violations: as `violations()` gave them.
    public func forget(_ violations: [Violation]) async throws(SealKitError) {
        let core = core
        try core.requireSignedIn()
        guard let last = violations.map(\.lastSeen).max() else { return }
        try await core.trust.forgetViolations(
            container: core.identifier, environment: core.environment, until: last.systemTime)
    }
}

extension SealKitError {
    /// Something was shown that does not verify, or that takes back what was seen.
    var isViolation: Bool { code == .integrityFailure || code == .rollback }
}

extension ContainerCore {
    /// Keeps an error that says that something does not verify for the user to see, and gives it back to be thrown.
    ///
    /// That the trust store cannot be written must not hide what it was to keep.
    func noted(_ error: SealKitError, zone: RecordZone.ID? = nil, record: String? = nil) async -> SealKitError {
        guard error.isViolation else { return error }
        try? await trust.note(
            error.code, error.reason, container: identifier, environment: environment, zone: zone, record: record,
            time: currentTime())
        return error
    }

    func noted(_ error: SealKitError, scope: Scope) async -> SealKitError {
        await noted(error, zone: zoneID(of: scope))
    }

    /// Runs what reads, and keeps its violations.
    func witnessing<T>(
        zone: RecordZone.ID? = nil, record: String? = nil, _ body: () async throws(SealKitError) -> T
    ) async throws(SealKitError) -> T {
        do { return try await body() } catch { throw await noted(error, zone: zone, record: record) }
    }
}
