import Foundation
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Where a feed was read to: opaque, to be kept by the app. Tokens of zones and databases are not interchangeable.
public struct ServerChangeToken: Sendable, Hashable, Codable {
    let bytes: Data
    /// nil for a database's token.
    let zone: String?
}

extension Database {
    public struct RecordZoneChanges: Sendable {
        /// Each changed record once, in its latest version, in feed order.
        public var modifications: [(recordID: Record.ID, result: Result<Record, SealKitError>)]
        public var deletions: [(recordID: Record.ID, recordType: String)]
        public var changeToken: ServerChangeToken
        /// More is there now: ask again with the token.
        public var moreComing: Bool
    }

    /// What changed in a zone since a token; nil for everything.
    ///
    /// - Parameter resultsLimit: nil lets the server decide; it may give fewer.
    /// - Throws: `changeTokenExpired` (start again from nil), `zoneNotFound`; a deletion that does not verify is an
    ///   `integrityFailure` of the whole answer, since it must not be applied.
    public func recordZoneChanges(
        inZoneWith zoneID: RecordZone.ID, since token: ServerChangeToken? = nil, desiredKeys: [String]? = nil,
        resultsLimit: Int? = nil
    ) async throws(SealKitError) -> RecordZoneChanges {
        let keeper = try keeper(zoneID)
        let known = try await keeper.current()
        if let token, token.zone != known.roster.scopeID.hex {
            throw SealKitError(.changeTokenExpired, "the token is of another zone", remedy: "fetch again without a token")
        }
        let request = Sealkit_V1_RecordChangesRequest.with {
            $0.zone = known.scope.zoneIDOnWire
            $0.token = token?.bytes ?? Data()
            $0.resultsLimit = UInt32(clamping: resultsLimit ?? 0)
            if let desiredKeys { $0.desiredKeys = Sealkit_V1_DesiredKeys(desiredKeys) }
        }
        let response: Sealkit_V1_RecordChangesResponse = try await core.call(scope, "records/changes", request)
        let view = try await keeper.current(citedBy: response.scopes, asked: known.roster.sequence)

        var changes = RecordZoneChanges(
            modifications: [], deletions: [],
            changeToken: ServerChangeToken(bytes: response.token, zone: known.roster.scopeID.hex), moreComing: response.moreComing)
        let outcomes = try await read(
            response.records.map { ($0, nil) }, zone: zoneID, desiredKeys: desiredKeys, view: view)
        changes.modifications.reserveCapacity(outcomes.count)
        for (wire, outcome) in zip(response.records, outcomes) {
            switch outcome {
            case .success(.record(let record)):
                changes.modifications.append((record.recordID, await materialize(record)))
            case .success(.deletion(let name, let type, _)):
                changes.deletions.append((Record.ID(recordName: name, zoneID: zoneID), type))
            case .failure(let error):
                guard !wire.deleted else { throw error }
                changes.modifications.append((Record.ID(recordName: wire.recordName, zoneID: zoneID), .failure(error)))
            }
        }
        // Caught up: whatever the server later shows under an epoch before this one, unseen, is back-dated.
        let cited = response.scopes.first { $0.shareRecordName.isEmpty }
        let caughtUp = response.moreComing ? nil : cited.flatMap { view.roster.epochInForce(at: $0.sequence)?.number }
        try await core.trust.advance(
            zone: view.roster.scopeID, incarnation: view.roster.incarnations.zone, since: token?.bytes, token: response.token,
            caughtUpEpoch: caughtUp)
        return changes
    }

    public struct DatabaseChanges: Sendable {
        public enum DeletionReason: Int, Sendable {
            case deleted = 1
            case purged = 2
            case encryptedDataReset = 3
            /// In the shared database: the owner stopped sharing it with this account, or deleted it.
            case unshared = 4
        }
        public var modifications: [RecordZone]
        public var deletions: [(zoneID: RecordZone.ID, reason: DeletionReason)]
        public var changeToken: ServerChangeToken
        public var moreComing: Bool
    }

    /// Which zones changed since a token; nil for all.
    ///
    /// Zones are given out only when their signed roster shows this account as a member, and a deletion of a zone that this
    /// device knows only when the roster shows its end.
    /// - Throws: `rollback` when the server claims a deletion that nothing signed shows; `integrityFailure`.
    public func databaseChanges(
        since token: ServerChangeToken? = nil, resultsLimit: Int? = nil
    ) async throws(SealKitError) -> DatabaseChanges {
        if let token, token.zone != nil {
            throw SealKitError(.changeTokenExpired, "the token is of a zone, not of a database", remedy: "fetch again without a token")
        }
        let request = Sealkit_V1_DatabaseChangesRequest.with {
            $0.token = token?.bytes ?? Data()
            $0.resultsLimit = UInt32(clamping: resultsLimit ?? 0)
        }
        let response: Sealkit_V1_DatabaseChangesResponse = try await core.call(scope, "zones/changes", request)
        var modifications: [RecordZone] = []
        for wire in response.modifications { if let zone = try await verified(wire) { modifications.append(zone) } }
        for deletion in response.deletions { try await confirmGone(zoneID(deletion.zoneID)) }
        return DatabaseChanges(
            modifications: modifications,
            deletions: response.deletions.map {
                (zoneID($0.zoneID), DatabaseChanges.DeletionReason(rawValue: Int($0.reason)) ?? .deleted)
            },
            changeToken: ServerChangeToken(bytes: response.token, zone: nil), moreComing: response.moreComing)
    }
}
