import Hummingbird
import SealService
import SealStorage
import SealWire

/// `records/modify`, `records/lookup`, `records/changes`, `changes/zone`, `records/stale`, `records/created`.
struct RecordsController: Sendable {
    let transactions: Transactions
    let modification: ModifyRecords
    let feedNames: FeedNames
    let rosters: RosterCache
    let schemas: SchemaStore

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.records.modify, as: SaveMessage.self) { message, call in
            let answer = try await modification.run(message, by: call.session, call.path) {
                [pass = call.context.pass] in
                pass?.makeRoom(answer: $0) ?? true
            } refused: { codes in
                for code in codes { call.context.note.refuses(code.rawValue) }
            } shared: {
                call.context.note.noteSharing($0)
            }
            return WrittenMessage(answer)
        }
        router.on(Endpoints.records.lookup) { try await lookup($0, $1) }
        router.on(Endpoints.records.changes) { try await changes($0, $1) }
        router.on(Endpoints.records.changesOfZones) { try await changesOfZones($0, $1) }
        router.on(Endpoints.records.stale) { try await stale($0, $1) }
        router.on(Endpoints.records.created) { try await created($0, $1) }
    }

    private func lookup(
        _ message: Sealkit_V1_LookupRecordsRequest, _ call: VisitorCall
    ) async throws -> WrittenMessage<Sealkit_V1_LookupRecordsResponse> {
        try RequestItems.check(message.recordNames.count, "records")
        try RecordLookup.check(message.recordNames)
        let desired = message.hasDesiredKeys ? try message.desiredKeys.fields() : nil
        return WrittenMessage(
            try await transactions.read { [schemas] connection -> [UInt8] in
                let (zone, rights) = try Zones.readable(
                    message.zone, by: call.session, call.path, schemas, in: connection)
                return try RecordLookup.answer(
                    message.recordNames, in: zone, desired: desired, rights: rights, connection)
            })
    }

    private func changes(
        _ message: Sealkit_V1_RecordChangesRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_RecordChangesResponse> {
        WrittenMessage(
            try await transactions.read { [feedNames] connection -> [UInt8] in
                try ChangesPage(for: call.session, call.path, feedNames, in: connection).changes(message)
            })
    }

    private func changesOfZones(
        _ message: Sealkit_V1_ZonesRecordChangesRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_ZonesRecordChangesResponse> {
        try RequestItems.check(message.zones.count, "zones")
        return WrittenMessage(
            try await transactions.read { [feedNames] connection -> [UInt8] in
                try ChangesPage(for: call.session, call.path, feedNames, in: connection).changes(message)
            })
    }

    private func stale(
        _ message: Sealkit_V1_StaleRecordsRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_StaleRecordsResponse> {
        let place = try StaleRecords.place(message)
        let desired = message.hasDesiredKeys ? try message.desiredKeys.fields() : nil
        return WrittenMessage(
            try await transactions.read { [rosters] connection -> [UInt8] in
                let caller = try Caller(call.session, container: call.path.container, in: connection)
                let scope = try Shares.scope(
                    message.shareRecordName, in: message.zone, to: caller, call.path, in: connection)
                return try StaleRecords.page(
                    of: scope, try rosters.roster(of: scope, in: connection), after: place,
                    limit: RequestItems.limit(message.resultsLimit), desired: desired, counting: message.counting,
                    in: connection)
            })
    }

    private func created(
        _ message: Sealkit_V1_CreatedRecordsRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_CreatedRecordsResponse> {
        try CreatedRecords.check(after: message.after)
        return WrittenMessage(
            try await transactions.read { [schemas] connection -> [UInt8] in
                try CreatedRecords.page(
                    of: call.session, call.path, schemas, after: message.after,
                    limit: RequestItems.limit(message.resultsLimit), connection)
            })
    }
}
