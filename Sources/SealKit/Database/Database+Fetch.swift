import Foundation
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// The user's own record (`Container.userRecordID()`), in the public or private database, is made where it is not there yet.
    /// - Throws: `unknownItem`, `zoneNotFound`, `integrityFailure`, `rollback`.
    public func record(for recordID: Record.ID) async throws(SealKitError) -> Record {
        let results = try await records(for: [recordID])
        guard let result = results[recordID] else {
            throw SealKitError(.serverRejectedRequest, "the server's answer lacks record \(recordID.recordName)")
        }
        return try result.get()
    }

    /// - Parameter desiredKeys: nil for all fields, empty for system fields only. What is left out is verified all the same.
    /// - Returns: a result for each id: an absent record is that id's `unknownItem`, an absent zone its records'
    ///   `zoneNotFound`.
    /// - Throws: `limitExceeded` above 400 ids; `notAuthenticated`; whatever concerns the whole request.
    public func records(
        for recordIDs: [Record.ID], desiredKeys: [String]? = nil
    ) async throws(SealKitError) -> [Record.ID: Result<Record, SealKitError>] {
        try await core.requireAccount(for: scope)
        try Database.checkCount(recordIDs.count)
        var found: [Record.ID: Result<Record, SealKitError>] = [:]
        var zones = ZoneOutcomes()
        for ids in Dictionary(grouping: Set(recordIDs), by: \.zoneID).values {
            do {
                for (id, lookup) in try await look(up: ids, desiredKeys: desiredKeys) {
                    switch lookup {
                    case .success(.record(let record)): found[id] = await materialize(record)
                    case .success(.deletion): found[id] = .failure(Database.unknown(id))
                    case .failure(let error): found[id] = .failure(error)
                    }
                }
                zones.succeeded()
            } catch {
                zones.failed(error)
                for id in ids { found[id] = .failure(error) }
            }
        }
        try zones.throwCommonFailure()
        for id in Set(recordIDs) where isOwnUserRecord(id) && found[id]?.isUnknownItem == true {
            found[id] = await makeOwnUserRecord(id, desiredKeys: desiredKeys)
        }
        return found
    }

    static func checkCount(_ count: Int) throws(SealKitError) {
        guard count <= Limits.itemsPerRequest else {
            throw SealKitError(
                .limitExceeded, "\(count) items in one request; \(Limits.itemsPerRequest) are allowed", remedy: "send them in parts")
        }
    }

    static func hidden(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .rollback, "the server no longer shows record \(id.recordName), nor who deleted it",
            remedy: "it may have been restored from a backup; keep what you have")
    }

    static func unknown(_ id: Record.ID) -> SealKitError {
        SealKitError(.unknownItem, "there is no record \(id.recordName) in the zone \(id.zoneID)")
    }

    /// The verified state of each record, deletions included.
    func look(
        up recordIDs: [Record.ID], desiredKeys: [String]?, checksPlacement: Bool = true
    ) async throws(SealKitError) -> [(Record.ID, Outcome)] {
        try Database.checkCount(recordIDs.count)
        var outcomes: [(Record.ID, Outcome)] = []
        for (zone, ids) in Dictionary(grouping: Set(recordIDs), by: \.zoneID) {
            let asked: RecordGround
            do {
                asked = try await ground(of: zone)
            } catch where error.code == .zoneNotFound && isDefault(zone) {
                // It is there without being made; as long as nobody has written to it, it is empty.
                try await confirmGone(zone)
                outcomes += ids.map { ($0, .failure(Database.unknown($0))) }
                continue
            }
            let request = Sealkit_V1_LookupRecordsRequest.with {
                $0.zone = asked.zoneIDOnWire
                $0.recordNames = ids.map(\.recordName)
                if let desiredKeys { $0.desiredKeys = Sealkit_V1_DesiredKeys(desiredKeys) }
            }
            let response: Sealkit_V1_LookupRecordsResponse
            do { response = try await core.call(scope, "records/lookup", request) } catch { throw await confirmed(error, zone) }
            let ground = try await asked.settled(by: response.scopes, response.authors, core)
            guard response.results.count == ids.count else {
                throw SealKitError(.serverRejectedRequest, "the server answered \(response.results.count) of \(ids.count) records")
            }
            var present: [(wire: Sealkit_V1_Record, name: String?)] = []
            for (id, result) in zip(ids, response.results) {
                if case .record(let wire)? = result.outcome {
                    present.append((wire, id.recordName))
                } else if result.hasServerRecord {
                    present.append((result.serverRecord, id.recordName))
                }
            }
            var again: [Record.ID] = []
            let known = try await self.read(
                present, zone: zone, desiredKeys: desiredKeys, ground: ground, checksPlacement: checksPlacement)
            await noteCycles(in: known, zone)
            var read = known.makeIterator()
            for (id, result) in zip(ids, response.results) {
                switch result.outcome {
                case .record: outcomes.append((id, read.next() ?? .failure(Database.unknown(id))))
                case .failure where result.hasServerRecord: outcomes.append((id, read.next() ?? .failure(Database.unknown(id))))
                case .failure(let failure) where failure.code == SealKitError.Code.limitExceeded.rawValue && !present.isEmpty:
                    again.append(id)
                case .failure(let failure):
                    let error = SealKitError(failure)
                    guard error.code == .unknownItem else {
                        outcomes.append((id, .failure(error)))
                        continue
                    }
                    // The server shows a deletion with the statement that made it: without one, what was seen is being hidden.
                    switch try await core.trust.memory(
                        of: id.recordName, in: ground.place, scopes: ground.readableScopes, asked: ground.asked)
                    {
                    case .unseen: outcomes.append((id, .failure(error)))
                    case .seenSince: again.append(id)
                    case .seen:
                        let hidden = await core.noted(Database.hidden(id), zone: id.zoneID, record: id.recordName)
                        outcomes.append((id, .failure(hidden)))
                    }
                case nil: outcomes.append((id, .failure(Database.unknown(id))))
                }
            }
            // Large records do not all fit into one answer, and what this device has made meanwhile is not in it.
            if !again.isEmpty { outcomes += try await look(up: again, desiredKeys: desiredKeys, checksPlacement: checksPlacement) }
        }
        return outcomes
    }

    /// The same of any number of records.
    func look(
        upAll recordIDs: [Record.ID], desiredKeys: [String]?, checksPlacement: Bool
    ) async throws(SealKitError) -> [Record.ID: Outcome] {
        var found: [Record.ID: Outcome] = [:]
        for start in stride(from: 0, to: recordIDs.count, by: Limits.itemsPerRequest) {
            let part = Array(recordIDs[start..<min(start + Limits.itemsPerRequest, recordIDs.count)])
            for (id, outcome) in try await look(up: part, desiredKeys: desiredKeys, checksPlacement: checksPlacement) {
                found[id] = outcome
            }
        }
        return found
    }

    /// Downloads a fetched record's assets where the database is set to; one that cannot be had fails the record.
    func materialize(_ record: Record) async -> Result<Record, SealKitError> {
        guard assetFetching == .automatic else { return .success(record) }
        var complete = record
        for (key, state) in record.fields {
            guard case .asset(var asset) = state else { continue }
            let file = core.temporaryAssets.newFile()
            do {
                try await download(asset, of: record.recordID, to: file)
            } catch {
                return .failure(error)
            }
            asset.fileURL = file
            complete.fields[key] = .asset(asset)
        }
        return .success(complete)
    }
}

extension Result where Failure == SealKitError {
    fileprivate var isUnknownItem: Bool {
        guard case .failure(let error) = self else { return false }
        return error.code == .unknownItem
    }
}
