import Foundation
import HTTPTypes
import Hummingbird
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf

/// `records/query`.
struct QueriesController: Sendable {
    let services: Services

    /// Results of a page when the client leaves it to the server.
    static let usualResults = 200
    /// Zones that one request is asked over.
    private static let mostZones = 10_000

    func addRoutes(to router: Router<SealRequestContext>) {
        let group = router.group(DatabasePath.route)
        group.post("records/query") { try await query($0, $1) }
    }

    private func query(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let path = try DatabasePath(context)
        let message = try await request.decode(Sealkit_V1_QueryRecordsRequest.self, context)
        guard message.hasQuery else {
            throw ServerError(.invalidArguments, "The request has no query.", remedy: "Send one.")
        }
        let query: Query
        do { query = try Query(message.query) } catch {
            throw ServerError(.invalidArguments, "The query is refused: \(error.reason).", remedy: "\(error.remedy).")
        }
        guard message.hasZone || !path.isShared else {
            throw ServerError(
                .invalidArguments, "In the shared database a query is about one zone.", remedy: "Name the zone and its owner.")
        }
        let schemas = services.schemas
        let answer = try await services.database.read { connection -> [UInt8]? in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = message.hasZone ? try Zones.visible(message.zone, to: caller, path, in: connection) : nil
            let zones = try zone.map { [$0] } ?? Zones.all(of: caller, path, in: connection).sorted { $0.zone < $1.zone }
            let schema = try schemas.schema(path.container, path.environment, in: connection)
            return try Self.answer(message, query, schema, zone, zones, caller, path, connection)
        }
        guard let answer else {
            services.indexBuilder.start()
            throw IndexBuilds.unfinished
        }
        switch WireEncoding(answerTo: request) {
        case .protobuf: return try Response(serialized: answer)
        case .json: return try Response(try Sealkit_V1_QueryRecordsResponse(serializedBytes: answer), for: request)
        }
    }

    /// A serialized `QueryRecordsResponse`; nil while an index that the query needs is being made.
    private static func answer(
        _ message: Sealkit_V1_QueryRecordsRequest, _ query: Query, _ schema: StoredSchema, _ zone: ZoneRow?, _ zones: [ZoneRow],
        _ caller: Caller, _ path: DatabasePath, _ connection: any SQLConnection
    ) throws -> [UInt8]? {
        guard let type = schema.indexed[query.recordType] else {
            throw ServerError(
                .unknownItem, "There is no such record type.", remedy: "Types appear with their first record, or with the schema.")
        }
        try QueryRules.check(query, type)
        guard try IndexBuilds.areFinished(for: query, type, schema, in: connection) else { return nil }
        guard zones.count <= mostZones else {
            throw ServerError(.limitExceeded, "There are more than \(mostZones) zones.", remedy: "Name a zone.")
        }
        let subject = try QueryCursor.subject(query, zone: zone, of: caller, path)
        let limit = message.resultsLimit == 0 ? usualResults : min(Int(message.resultsLimit), SealStatements.Limits.itemsPerRequest)
        let pager = QueryPager(
            query: query, type: type, zones: zones,
            cursor: message.cursor.isEmpty
                ? nil : try QueryCursor(message.cursor, subject: subject, keys: max(1, query.sortDescriptors.count)),
            subject: subject, limit: limit, connection: connection)
        let desired = message.hasDesiredKeys ? Set(message.desiredKeys.names) : nil
        return try QueryAnswer.serialized(pager, try pager.page(), asked: zone, desired: desired)
    }
}
