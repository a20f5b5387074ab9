import Foundation
import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// One request, and its answer.
extension ZoneBatch {
    /// - Returns: the items that have to be sent again.
    mutating func send(_ placed: [Placed], ground: ZoneGround, isLast: Bool) async throws(SealKitError) -> [Item] {
        guard let sealed = try sealed(placed, in: ground) else { return [] }
        let response = try await send(
            sealed.items, sealed.records, signature: sealed.signature, zone: ground.zone,
            known: RosterEnds(ground))
        if zip(sealed.items, response.results).allSatisfy({ $1.stores($0.id.recordName) }) {
            try await sharing.adopt(database.core)
        }
        return try await settle(
            sealed.items, (sealed.records, sealed.signature), response.results, ground: .zone(ground), isLast: isLast)
    }

    /// One request.
    /// - Parameter known: where the zone's rosters end that it goes by.
    func send(
        _ items: [Item], _ signed: [SignedRecord], signature: [UInt8], zone: Scope, known: RosterEnds
    ) async throws(SealKitError) -> Sealkit_V1_ModifyRecordsResponse {
        let head = Sealkit_V1_ModifyRecordsRequest.with { request in
            request.operationID = newOperationID()
            request.zone = zone.zoneIDOnWire
            request.atomic = isAtomic
            request.rekeying = isRekeying
            request.restoring = items.contains { lost[$0.id.recordName] != nil }
            request.signature = Data(signature)
            request.openings = sharing.openingsOnWire
            request.closings = sharing.closingsOnWire
        }
        // Two messages, one after the other, are one with the fields of both: the records are written by hand, and
        // everything else is little.
        let records = Wire.ModifyRecordsRequest.with { $0.records = zip(items, signed).map { $1.wire($0) } }
        let request = try Client.encode(head) + records.protobuf()
        try await journal?.willSend(
            KeptRequest(
                request, items, signed, taking: takenAlong(by: items),
                after: ModificationResults(saves: saveResults, deletions: deleteResults),
                at: currentTime()))
        let response: Sealkit_V1_ModifyRecordsResponse
        do { response = try await database.core.call(database.scope, Endpoints.records.modify, encoded: request) } catch
        {
            throw await database.confirmed(error, zoneID, known: known)
        }
        guard response.results.count == items.count else {
            throw SealKitError(
                .serverRejectedRequest, "the server answered \(response.results.count) of \(items.count) records")
        }
        return response
    }
}
