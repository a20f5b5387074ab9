import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// What a server that was restored from a backup still has of records (`SavePolicy.restoring` saves them again).
extension Database {
    /// The versions that the server has of records, also where this device has seen later ones, which ``record(for:)``
    /// refuses (`rollback`).
    ///
    /// Each is verified but for its age: somebody who may write has signed it, and it may be out of date. Show it to
    /// whoever decides, and save it with the policy `restoring` to have it count again.
    /// - Returns: a result for each id: `unknownItem` for a record that the server shows nothing or a deletion of.
    /// - Throws: `badDatabase` for the public database; `limitExceeded` above 400 ids; `zoneNotFound`;
    ///   `notAuthenticated`; `rollback` where the zone's roster is older than this device has verified.
    public func restoredRecords(
        for recordIDs: [Record.ID]
    ) async throws(SealKitError) -> [Record.ID: Result<Record, SealKitError>] {
        try await core.requireAccount(for: scope)
        try Database.checkCount(recordIDs.count)
        guard scope != .public else { throw Database.givesNothingBack }
        var results: [Record.ID: Result<Record, SealKitError>] = [:]
        for (zone, ids) in Dictionary(grouping: Set(recordIDs), by: \.zoneID) {
            let ground = try await zoneGround(zone, asked: .max)
            let found = try await remains(of: ids, in: ground, zone, desiredKeys: nil)
            for id in ids {
                switch found[id.recordName] {
                case .success(.record(let record)?)?: results[id] = await materialize(record)
                case .success(.unopened(let there)?)?: results[id] = .failure(there.error)
                case .success(.deletion?)?, .success(nil)?:
                    results[id] = .failure(
                        SealKitError(
                            .unknownItem, "the server has nothing left of record \(id.recordName)",
                            remedy: "save what you still have of it, with the policy restoring, or delete it with that")
                    )
                case .failure(let error)?: results[id] = .failure(error)
                case nil: results[id] = .failure(Database.unanswered(id))
                }
            }
        }
        return results
    }

    /// Looks records of one zone up; what comes is verified, and not held against what this device has seen.
    /// - Returns: by the records' names; nil for one of which the server has nothing.
    func remains(
        of ids: [Record.ID], in ground: ZoneGround, _ zoneID: RecordZone.ID, desiredKeys: [String]?
    ) async throws(SealKitError) -> [String: Result<RecordReader.Outcome?, SealKitError>] {
        var found: [String: Result<RecordReader.Outcome?, SealKitError>] = [:]
        var waiting = ids
        while !waiting.isEmpty {
            let request = Sealkit_V1_LookupRecordsRequest.with {
                $0.zone = ground.zone.zoneIDOnWire
                $0.recordNames = waiting.map(\.recordName)
                if let desiredKeys { $0.desiredKeys = Sealkit_V1_DesiredKeys(desiredKeys) }
            }
            let response: Sealkit_V1_LookupRecordsResponse = try await core.call(
                scope, Endpoints.records.lookup, request)
            guard response.results.count == waiting.count else {
                throw SealKitError(
                    .serverRejectedRequest,
                    "the server answered \(response.results.count) of \(waiting.count) records")
            }
            let ground = try await ground.settled(by: response.scopes, core)
            var reader = RecordReader(ground: .zone(ground), zoneID: zoneID, desiredKeys: desiredKeys, refreshes: false)
            var leftOut: [Record.ID] = []
            for (id, result) in zip(waiting, response.results) {
                if let wire = result.shown {
                    do throws(ClientError) {
                        found[id.recordName] = .success(try reader.read(wire, recordName: id.recordName).outcome)
                    } catch {
                        found[id.recordName] = .failure(.integrity(error, "record \(id.recordName)"))
                    }
                } else if case .failure(let failure)? = result.outcome {
                    let error = SealKitError(failure)
                    found[id.recordName] = error.code == .unknownItem ? .success(nil) : .failure(error)
                    if error.code == .limitExceeded { leftOut.append(id) }
                }
            }
            // Large records do not all fit into one answer: what was left out is asked for again.
            waiting = leftOut.count < waiting.count ? leftOut : []
        }
        return found
    }

    static var givesNothingBack: SealKitError {
        SealKitError(
            .badDatabase, "in the public database nothing is given back", remedy: "save the records as new ones")
    }
}
