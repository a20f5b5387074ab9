import Foundation
import SealClient
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// A record by its name, with the contents of its assets unless the database is ``fetchingAssets(_:)`` on demand.
    ///
    /// The user's own record (`Container.userRecordID()`), in the public or private database, is there from the start:
    /// empty, and without a change tag until it is saved.
    /// - Throws: `unknownItem`, `zoneNotFound`, `integrityFailure`, `rollback`.
    public func record(for recordID: Record.ID) async throws(SealKitError) -> Record {
        let results = try await records(for: [recordID])
        return try results[recordID].answered("record \(recordID.recordName)")
    }

    /// Records by their names, with the contents of their assets unless the database is ``fetchingAssets(_:)`` on
    /// demand.
    /// - Parameter recordIDs: of any zones of this database.
    /// - Parameter desiredKeys: nil for all fields, empty for system fields only. What is left out is verified all the
    ///   same.
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
                    case .success(.unopened(let there)): found[id] = .failure(there.error)
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
            found[id] = .success(Record(recordType: Names.usersType, recordID: id))
        }
        return found
    }

    static func checkCount(_ count: Int) throws(SealKitError) {
        guard count <= Limits.itemsPerRequest else {
            throw SealKitError(
                .limitExceeded, "\(count) items in one request; \(Limits.itemsPerRequest) are allowed",
                remedy: "send them in parts")
        }
    }

    func hidden(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .rollback, "the server no longer shows record \(id.recordName), nor who deleted it", remedy: remedyOfLoss)
    }

    /// Of a record of which this device has seen more than the server shows.
    var remedyOfLoss: String {
        scope == .public
            ? "if it was restored from a backup, save what you have of it as a new record, under another name"
            : "if it was restored from a backup, save what you have of it with the policy restoring, or delete it with that"
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
            let isDefault = isDefault(zone)
            let known = try await isDefault ? rosterEnds(of: zone) : RosterEnds([:])
            do {
                asked = try await ground(of: zone)
            } catch let error where error.code == .zoneNotFound && isDefault {
                // It is there without being made; as long as nobody has written to it, it is empty.
                try await confirmGone(zone, known: known)
                outcomes += ids.map { ($0, .failure(Database.unknown($0))) }
                continue
            }
            let found = try await find(
                ids, in: zone, from: asked, desiredKeys: desiredKeys, checksPlacement: checksPlacement
            ).found
            outcomes += found.map { ($0.id, $0.outcome) }
        }
        return outcomes
    }

    /// What there is under a name, verified, and as it came.
    struct Found {
        let id: Record.ID
        /// nil where nothing came.
        let wire: Sealkit_V1_Record?
        let outcome: Outcome

        var isRecord: Bool { if case .success(.record) = outcome { true } else { false } }
    }

    /// Looks up records of one zone, in as many requests as it takes.
    /// - Parameters:
    ///   - asked: the zone as it was known before.
    ///   - accepting: late statements that the user has accepted.
    /// - Returns: each with what the server shows, and the zone as the answers cite it.
    func find(
        _ ids: [Record.ID], in zone: RecordZone.ID, from asked: RecordGround, desiredKeys: [String]?,
        checksPlacement: Bool = true,
        accepting: Set<Digest> = []
    ) async throws(SealKitError) -> (found: [Found], ground: RecordGround) {
        var ground = asked
        var found: [Found] = []
        found.reserveCapacity(ids.count)
        var lookup = RecordLookup(count: ids.count, atMost: Limits.itemsPerRequest)
        while let part = lookup.request() {
            let request = Sealkit_V1_LookupRecordsRequest.with {
                $0.zone = asked.zoneIDOnWire
                $0.recordNames = part.map { ids[$0].recordName }
                if let desiredKeys { $0.desiredKeys = Sealkit_V1_DesiredKeys(desiredKeys) }
            }
            ground.asked = try await core.trust.moment()
            let response: Sealkit_V1_LookupRecordsResponse
            do { response = try await core.call(scope, Endpoints.records.lookup, request) } catch {
                throw await confirmed(error, zone, known: RosterEnds(ground))
            }
            ground = try await ground.settled(by: response.scopes, response.authors, core)
            guard response.results.count == part.count else {
                throw SealKitError(
                    .serverRejectedRequest, "the server answered \(response.results.count) of \(part.count) records")
            }
            var present: [Sealkit_V1_Record] = []
            var names: [String] = []
            for (index, result) in zip(part, response.results) {
                guard let wire = result.shown else { continue }
                present.append(wire)
                names.append(ids[index].recordName)
            }
            // What was found belongs to the very bytes that came.
            let outcomes = try await self.read(
                present, named: names, zone: zone, desiredKeys: desiredKeys, ground: ground,
                checksPlacement: checksPlacement, asksAgain: false, notesCycles: true, accepting: accepting)
            var read = outcomes.makeIterator()
            var told: [Found] = []
            told.reserveCapacity(part.count)
            var leftOut: [Int] = []
            var overtaken: [Int] = []
            for (index, result) in zip(part, response.results) {
                let id = ids[index]
                if let wire = result.shown {
                    let outcome = read.next() ?? .failure(Database.unanswered(id))
                    // This device has made another version meanwhile.
                    if case .failure(let error) = outcome, error.code == .serverRecordChanged {
                        overtaken.append(index)
                    } else {
                        told.append(Found(id: id, wire: wire, outcome: outcome))
                    }
                    continue
                }
                var refusal: SealKitError?
                if case .failure(let failure)? = result.outcome { refusal = SealKitError(failure) }
                // Large records do not all fit into one answer.
                if result.isLeftOut, !present.isEmpty {
                    leftOut.append(index)
                } else if let error = try await absence(of: id, refusal, in: ground) {
                    told.append(Found(id: id, wire: nil, outcome: .failure(error)))
                } else {
                    overtaken.append(index)
                }
            }
            if lookup.settle(part, leftOut: leftOut, overtaken: overtaken) { found += told }
        }
        return (found, ground)
    }

    /// What it means that an answer shows nothing under a name, whether it says that there is no such record, no such
    /// zone, or nothing at all: the server shows a deletion with the statement that made it, so that without one what
    /// was seen is being hidden.
    /// - Parameter refusal: nil for an answer that says nothing.
    /// - Returns: nil where this device has come to know the record only since it asked: that answer says nothing of
    ///   it.
    func absence(of id: Record.ID, _ refusal: SealKitError?, in ground: RecordGround) async throws(SealKitError)
        -> SealKitError?
    {
        if let refusal, !Absence.isSaid(by: refusal.code.rawValue) { return refusal }
        switch try await core.trust.memory(
            of: id.recordName, in: ground.place, scopes: ground.readableScopes, asked: ground.asked)
        {
        case .seen: return await core.noted(hidden(id), zone: id.zoneID, record: id.recordName)
        case .seenSince: return nil
        case .unseen: break
        }
        guard let refusal else { return Database.unanswered(id) }
        return await confirmed(refusal, id.zoneID, known: RosterEnds(ground))
    }

    static func unanswered(_ id: Record.ID) -> SealKitError { .lacking("record \(id.recordName)") }

    /// Downloads a fetched record's assets where the database is set to; one that cannot be had fails the record.
    func materialize(_ record: Record) async -> Result<Record, SealKitError> {
        guard assetFetching == .automatic else { return .success(record) }
        var complete = record
        for (key, state) in record.fields {
            guard case .asset(var asset) = state else { continue }
            guard let remote = asset.remote else { continue }
            do {
                asset.isHeld(
                    by: try await AssetCache.shared.file(of: remote, in: core.temporaryAssets) {
                        file async throws(SealKitError) in
                        try await download(asset, of: record.recordID, to: file)
                    })
            } catch {
                return .failure(error)
            }
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
