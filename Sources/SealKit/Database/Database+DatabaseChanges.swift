import Foundation
import SealClient
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// Which zones have changed or are gone since a token.
    public struct DatabaseChanges: Sendable {
        /// Why a zone is gone.
        public enum DeletionReason: Int, Sendable {
            /// An app deleted it: delete the local copy.
            case deleted = 1
            /// The user wanted the data gone: delete the local copy, and do not upload it again unless the user asks
            /// for it.
            case purged = 2
            /// The account's keys were lost: make the zone again and upload the local copy.
            case encryptedDataReset = 3
            /// In the shared database: the owner stopped sharing it with this account, or deleted it.
            case unshared = 4
        }
        /// Zones that are new, or in which something has changed.
        public var modifications: [RecordZone]
        /// That a zone is gone is verified. Why, is the server's word for what the device has said that deleted it:
        /// nobody has signed that.
        public var deletions: [(zoneID: RecordZone.ID, reason: DeletionReason)]
        /// For the next reading.
        public var changeToken: ServerChangeToken
        /// More is there now: ask again with the token.
        public var moreComing: Bool
    }

    /// Which zones changed since a token; nil for all.
    ///
    /// Zones are given out only when their signed roster shows this account as a member, and a deletion of a zone that
    /// this device knows only when the roster shows its end. A zone that this device knows and that all parts without a
    /// token leave out is among the modifications of the last one, unless something signed shows that it is gone; the
    /// claim is one of `Container.violations()`.
    /// - Parameter token: of the answer before; nil for everything.
    /// - Parameter resultsLimit: nil lets the server decide; it may give fewer.
    /// - Throws: `rollback` when the server claims a deletion that nothing signed shows; `integrityFailure`;
    ///   `serverRejectedRequest` for a server that goes in circles.
    public func databaseChanges(
        since token: ServerChangeToken? = nil, resultsLimit: Int? = nil
    ) async throws(SealKitError) -> DatabaseChanges {
        if let token, token.zone != nil {
            throw SealKitError(
                .changeTokenExpired, "the token is of a zone, not of a database", remedy: "fetch again without a token")
        }
        let request = Sealkit_V1_DatabaseChangesRequest.with {
            $0.token = token?.bytes ?? Data()
            $0.resultsLimit = UInt32(clamping: resultsLimit ?? 0)
        }
        let isFromBeginning = token.map { $0.isFromBeginning ?? false } ?? true
        let known = try await isFromBeginning ? knownZones() : [:]
        let ends = try await core.trust.rosterEnds()
        let response: Sealkit_V1_DatabaseChangesResponse = try await core.call(scope, Endpoints.zones.changes, request)
        // Only now: another task that reads from the same place may have gone on with it meanwhile.
        let reader = core.readers.reader(of: scope.pathComponent, at: token?.bytes, isWhole: isFromBeginning)
        let listed =
            response.modifications.map { (zoneID($0.zoneID), $0.hashValue) }
            + response.deletions.map { (zoneID($0.zoneID), $0.hashValue) }
        let part = reader.part(
            zones: listed, from: token?.bytes, to: response.token, isMoreComing: response.moreComing)
        try reader.check(part)
        var modifications: [RecordZone] = []
        for wire in response.modifications { if let zone = try await verified(wire) { modifications.append(zone) } }
        for deletion in response.deletions { try await confirmGone(zoneID(deletion.zoneID), known: ends) }
        if !response.moreComing, !known.isEmpty {
            let came = reader.names(beside: part)
            let absent = known.filter { !came.contains($0.key.inFeed) }
            modifications += try await leftOut(absent, isListComplete: reader.isComplete)
        }
        core.readers.take(part, reader, of: scope.pathComponent)
        return DatabaseChanges(
            modifications: modifications,
            deletions: response.deletions.map {
                (zoneID($0.zoneID), DatabaseChanges.DeletionReason(rawValue: Int($0.reason)) ?? .deleted)
            },
            changeToken: ServerChangeToken(
                bytes: response.token, zone: nil, isFromBeginning: reader.isWhole && response.moreComing ? true : nil),
            moreComing: response.moreComing)
    }
}
