import Foundation
import SealClient
public import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// The records that a query finds, verified one by one.
    ///
    /// Each record has been held against the query on this device: one that does not fulfil it, or comes in another
    /// order, is an `integrityFailure`. One that this device writes meanwhile is given as it is then, where the server
    /// has met it. What the server leaves out cannot be noticed. The contents of assets come along unless the database
    /// is ``fetchingAssets(_:)`` on demand.
    /// - Parameters:
    ///   - query: record type, predicate and order.
    ///   - zoneID: nil for all zones of the private database; the shared database is asked for one zone.
    ///   - desiredKeys: nil for all fields, empty for system fields only.
    ///   - resultsLimit: of one page; the server may give fewer.
    /// - Returns: results in order, and where to go on; nil when that was all. A page may have few results, or none,
    ///   and a cursor.
    /// - Throws: `invalidArguments` for what cannot be asked (a field without the index, an encrypted one),
    ///   `unknownItem` for a record type that is not known, `zoneNotFound`; `serverRejectedRequest` for a page that
    ///   gives what one before gave, or whose cursor does not move.
    public func records(
        matching query: Query, inZoneWith zoneID: RecordZone.ID? = nil, desiredKeys: [String]? = nil,
        resultsLimit: Int = Query.maximumResults
    ) async throws(SealKitError) -> (
        matchResults: [(Record.ID, Result<Record, SealKitError>)], queryCursor: Query.Cursor?
    ) {
        try await page(
            Query.Cursor(query: query, zoneID: zoneID, place: Data(), last: nil), desiredKeys: desiredKeys,
            limit: resultsLimit)
    }

    /// The next page.
    /// - Throws: `changeTokenExpired` when the cursor is not good any more: ask from the start.
    public func records(
        continuingMatchFrom queryCursor: Query.Cursor, desiredKeys: [String]? = nil,
        resultsLimit: Int = Query.maximumResults
    ) async throws(SealKitError) -> (
        matchResults: [(Record.ID, Result<Record, SealKitError>)], queryCursor: Query.Cursor?
    ) {
        try await page(queryCursor, desiredKeys: desiredKeys, limit: resultsLimit)
    }

    private func page(
        _ cursor: Query.Cursor, desiredKeys: [String]?, limit: Int
    ) async throws(SealKitError) -> (
        matchResults: [(Record.ID, Result<Record, SealKitError>)], queryCursor: Query.Cursor?
    ) {
        do throws(QueryError) { try cursor.query.validate() } catch { throw SealKitError(error) }
        guard scope != .shared || cursor.zoneID != nil else {
            throw SealKitError(
                .invalidArguments, "in the shared database a query is about one zone",
                remedy: "name the zone and its owner")
        }
        // What the query is checked by has to come along, asked for or not.
        let fetchedKeys = desiredKeys.flatMap { desired in
            cursor.query.requiredKeys.map { Array(Set(desired).union($0)) }
        }
        let moment = try await core.trust.moment()
        let asked: ZoneGround?
        if let zoneID = cursor.zoneID, scope != .public {
            asked = try await zoneGround(zoneID, asked: moment)
        } else {
            asked = nil
        }
        let request = Sealkit_V1_QueryRecordsRequest.with {
            $0.query = cursor.query.wire
            if let asked { $0.zone = asked.zone.zoneIDOnWire }
            $0.cursor = cursor.place
            $0.resultsLimit = UInt32(clamping: limit)
            if let fetchedKeys { $0.desiredKeys = Sealkit_V1_DesiredKeys(fetchedKeys) }
        }
        let response: Sealkit_V1_QueryRecordsResponse
        do { response = try await core.call(scope, Endpoints.records.query, request) } catch {
            guard let zoneID = cursor.zoneID else { throw error }
            throw await confirmed(error, zoneID, known: asked.map { RosterEnds($0) } ?? RosterEnds([:]))
        }
        let place = cursor.place.isEmpty ? nil : cursor.place
        let reader = core.readers.reader(of: "query", at: place, isWhole: false)
        let part = reader.part(
            response.matches.map(\.record), from: place, to: response.cursor,
            isMoreComing: !response.cursor.isEmpty, .results)
        try reader.check(part)
        var check = QueryCheck(query: cursor.query, last: cursor.last)
        var results: [(Record.ID, Result<Record, SealKitError>)] = []
        for (id, wire, outcome) in try await outcomes(
            response, cursor, asked: asked, at: moment, fetchedKeys: fetchedKeys)
        {
            switch check.judge(outcome, wire, id) {
            case .success(let record): results.append((id, await materialize(record.keeping(desiredKeys))))
            // What this device has written meanwhile may be no result any more.
            case .failure where outcome.isNewer(than: wire): continue
            case .failure(let error):
                results.append((id, .failure(await core.noted(error, zone: id.zoneID, record: id.recordName))))
            }
        }
        core.readers.take(part, reader, of: "query")
        let next =
            response.cursor.isEmpty
            ? nil : Query.Cursor(query: cursor.query, zoneID: cursor.zoneID, place: response.cursor, last: check.last)
        return (results, next)
    }

    /// Reads each zone's records with that zone's roster, and puts them back in the answer's order.
    private func outcomes(
        _ response: Sealkit_V1_QueryRecordsResponse, _ cursor: Query.Cursor, asked: ZoneGround?, at moment: Int64,
        fetchedKeys: [String]?
    ) async throws(SealKitError) -> [(Record.ID, Sealkit_V1_Record, Outcome)] {
        if scope == .public {
            let zone = RecordZone.ID.default
            let ground = try await PublicGround(scope: try zoneScope(cursor.zoneID ?? zone), asked: moment).with(
                response.authors, core)
            let wires = response.matches.map(\.record)
            let outcomes = try await read(
                wires, zone: zone, desiredKeys: fetchedKeys, ground: .publicDatabase(ground))
            return zip(wires, outcomes).map { (Record.ID(recordName: $0.recordName, zoneID: zone), $0, $1) }
        }
        var byZone: [UInt32: [Int]] = [:]
        for (index, match) in response.matches.enumerated() { byZone[match.scope, default: []].append(index) }
        // An empty answer too has to say which roster it goes by.
        if let asked, byZone.isEmpty { _ = try await asked.settled(by: response.scopes, core) }
        var read: [Int: (Record.ID, Sealkit_V1_Record, Outcome)] = [:]
        for (scope, indexes) in byZone {
            guard Int(scope) < response.scopes.count else {
                throw await core.noted(
                    SealKitError(
                        .integrityFailure, "the server's answer does not say which zone its records are of",
                        remedy: "without that nothing in it can be judged; distrust a server that keeps doing so"))
            }
            let head = response.scopes[Int(scope)]
            let zone = cursor.zoneID ?? zoneID(head.zone)
            // Of every zone of the database: what is cited of others does not concern this one.
            let known = if let asked { asked } else { try await zoneGround(zone, asked: moment) }
            let ground = try await known.settled(
                by: asked == nil ? response.scopes.filter { $0.zone == head.zone } : response.scopes, core)
            let outcomes = try await self.read(
                indexes.map { response.matches[$0].record }, zone: zone, desiredKeys: fetchedKeys,
                ground: .zone(ground))
            for (index, outcome) in zip(indexes, outcomes) {
                let wire = response.matches[index].record
                read[index] = (Record.ID(recordName: wire.recordName, zoneID: zone), wire, outcome)
            }
        }
        return response.matches.indices.compactMap { read[$0] }
    }
}

/// Holds what a server answers against what was asked.
private struct QueryCheck {
    let query: Query
    /// What the last record was sorted by.
    var last: [IndexKey]?
    private var seen: Set<Record.ID> = []

    init(query: Query, last: [IndexKey]?) {
        self.query = query
        self.last = last
    }

    mutating func judge(
        _ outcome: Database.Outcome, _ wire: Sealkit_V1_Record, _ id: Record.ID
    ) -> Result<Record, SealKitError> {
        let record: Record
        switch outcome {
        case .failure(let error): return .failure(error)
        case .success(.unopened(let there)): return .failure(there.error)
        case .success(.deletion): return refused(id, "is deleted, and was given as a query's result")
        case .success(.record(let found)): record = found
        }
        guard seen.insert(id).inserted else { return refused(id, "was given twice as a query's result") }
        let subject = Query.Subject(record, wire)
        guard query.matches(subject), let keys = query.sortKeys(of: subject) else {
            return refused(id, "was given as a query's result and is none")
        }
        // Its place in the answer is that of what it held then: it says nothing of what comes before and after it.
        guard !outcome.isNewer(than: wire) else { return .success(record) }
        if let last, !query.isOrdered(last, keys) {
            return refused(id, "was given in another order than was asked for")
        }
        last = keys
        return .success(record)
    }

    private func refused(_ id: Record.ID, _ what: String) -> Result<Record, SealKitError> {
        .failure(
            SealKitError(
                .integrityFailure, "record \(id.recordName) \(what)",
                remedy: "the server's index is damaged, or it answers as it likes; fetch the zone's changes instead"))
    }
}

extension Result where Success == RecordReader.Outcome, Failure == SealKitError {
    /// The record was looked up again, because this device knew more of it than the answer.
    fileprivate func isNewer(than wire: Sealkit_V1_Record) -> Bool {
        let shown = Statement.hash([UInt8](wire.statement))
        return switch self {
        case .success(.record(let record)): record.base.map { $0.hash != shown } ?? false
        case .success(.unopened(let there)): there.record.base.map { $0.hash != shown } ?? false
        case .success(.deletion(_, _, let base)): base.hash != shown
        case .failure: false
        }
    }
}

extension Query.Subject {
    fileprivate init(_ record: Record, _ wire: Sealkit_V1_Record) {
        self.init(
            recordType: record.recordType, recordName: record.recordID.recordName, created: wire.creationDate,
            modified: wire.modificationDate, creator: record.creatorUserRecordID?.recordName,
            author: record.lastModifiedUserRecordID?.recordName)
        for case (let key, .plain(let value)) in record.fields { fields[key] = value }
    }
}

extension Record {
    /// Without the fields that came along for checking only.
    fileprivate func keeping(_ desiredKeys: [String]?) -> Record {
        guard let desiredKeys else { return self }
        var record = self
        for key in fields.keys where !desiredKeys.contains(key) { record.fields[key] = .omitted }
        return record
    }
}
