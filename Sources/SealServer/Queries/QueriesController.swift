import Foundation
import HTTPTypes
import Hummingbird
import SealPrimitives
import SealQuery
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// `records/query`.
struct QueriesController: Sendable {
    let transactions: Transactions
    let addresses: AddressHasher
    let jobs: Jobs
    let schemas: SchemaStore

    /// Results of a page when the client leaves it to the server.
    static let usualResults = 200
    /// Zones that one request is asked over.
    static let mostZones = 10_000

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.records.query) { try await query($0, $1) }
    }

    private func query(
        _ message: Sealkit_V1_QueryRecordsRequest, _ call: VisitorCall
    ) async throws -> WrittenMessage<Sealkit_V1_QueryRecordsResponse> {
        let (session, path) = (call.session, call.path)
        guard message.hasQuery else {
            throw ServerError(.invalidArguments, "The request has no query.", remedy: "Send one.")
        }
        let query: Query
        do { query = try Query(message.query) } catch {
            throw ServerError(.invalidArguments, "The query is refused: \(error.reason).", remedy: "\(error.remedy).")
        }
        guard message.hasZone || !path.isShared else {
            throw ServerError(
                .invalidArguments, "In the shared database a query is about one zone.",
                remedy: "Name the zone and its owner.")
        }
        let schemas = self.schemas
        let cursorKey = addresses.cursorKey()
        let answer = try await transactions.read { connection -> [UInt8]? in
            let schema = try schemas.schema(path.container, path.environment, in: connection)
            let scope = try Scope(message, session, path, schemas, in: connection)
            return try Self.answer(message, query, schema, scope, cursorKey, connection)
        }
        guard let answer else {
            jobs.wake(.indexes)
            throw IndexBuilds.unfinished
        }
        return WrittenMessage(answer)
    }

    /// Over what a query goes, and what the caller may see of it.
    private struct Scope {
        /// Nil for all zones of the database.
        let asked: ZoneRow?
        /// In the order of their numbers.
        let zones: [ZoneRow]
        let rights: PublicRights?
        /// Whose a cursor is: nobody's in the public database, where each page is judged by what its reader may see.
        let user: UserID?
        let path: DatabasePath

        init(
            _ message: Sealkit_V1_QueryRecordsRequest, _ session: Session?, _ path: DatabasePath,
            _ schemas: SchemaStore,
            in connection: any SQLConnection
        ) throws {
            self.path = path
            guard message.hasZone || path.database == .public else {
                guard let session else { throw ServerError.needsSession }
                let caller = try Caller(session, container: path.container, in: connection)
                (asked, rights, user) = (nil, nil, caller.userID)
                zones = try Zones.all(of: caller, path, in: connection).sorted { $0.number < $1.number }
                return
            }
            let (zone, rights) = try Zones.readable(message.zone, by: session, path, schemas, in: connection)
            (asked, zones, self.rights) = (zone, [zone], rights)
            user =
                path.database == .public
                ? nil : try session.map { try Caller($0, container: path.container, in: connection).userID }
        }
    }

    /// A serialized `QueryRecordsResponse`; nil while an index that the query needs is being made.
    private static func answer(
        _ message: Sealkit_V1_QueryRecordsRequest, _ query: Query, _ schema: StoredSchema, _ scope: Scope,
        _ cursorKey: SecretBytes, _ connection: any SQLConnection
    ) throws -> [UInt8]? {
        guard let type = schema.indexed[query.recordType] else {
            throw ServerError(
                .unknownItem, "There is no such record type.",
                remedy: "Types appear with their first record, or with the schema.")
        }
        try QueryRules.check(query, type)
        guard try IndexBuilds.areFinished(for: query, type, schema, in: connection) else { return nil }
        try check(zoneCount: scope.zones.count)
        let seal = try CursorSeal(cursorKey, query, zone: scope.asked, user: scope.user, scope.path)
        let limit = RequestItems.limit(message.resultsLimit, usual: usualResults)
        let pager = QueryPager(
            query: query, type: type, zones: scope.zones, rights: scope.rights,
            cursor: message.cursor.isEmpty
                ? nil : try QueryCursor(message.cursor, seal, keys: max(1, query.sortDescriptors.count)),
            seal: seal, limit: limit, connection: connection)
        let desired = message.hasDesiredKeys ? try message.desiredKeys.fields() : nil
        return try QueryAnswer.serialized(pager, try pager.page(), asked: scope.asked, desired: desired)
    }

    static func check(zoneCount: Int) throws(ServerError) {
        guard zoneCount <= mostZones else {
            throw ServerError(.limitExceeded, "There are more than \(mostZones) zones.", remedy: "Name a zone.")
        }
    }
}
