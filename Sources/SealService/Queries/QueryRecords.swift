package import SealPrimitives
import SealQuery
import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Answers queries, a page at a time.
package struct QueryRecords: Sendable {
    /// Results of a page when the client leaves it to the server.
    private static let usualResults = 200
    /// Zones that one request is asked over.
    package static let mostZones = 10_000

    private let transactions: Transactions
    private let schemas: SchemaStore
    private let cursorKey: SecretBytes
    private let jobs: Jobs

    /// - Parameter cursorKey: what seals cursors.
    package init(transactions: Transactions, schemas: SchemaStore, cursorKey: SecretBytes, jobs: Jobs) {
        self.transactions = transactions
        self.schemas = schemas
        self.cursorKey = cursorKey
        self.jobs = jobs
    }

    /// - Parameter session: nil for somebody without an account, who sees the public database only.
    /// - Returns: a serialized `QueryRecordsResponse`.
    /// - Throws: `invalidArguments`, `unknownItem`, `limitExceeded`, `changeTokenExpired`; `serviceUnavailable` while
    ///   an index that the query needs is being made; what refuses the zone.
    package func run(
        _ message: Sealkit_V1_QueryRecordsRequest, by session: Session?, _ path: DatabasePath
    ) async throws -> [UInt8] {
        let query = try Self.query(message, path)
        let answer = try await transactions.read { [schemas, cursorKey] connection -> [UInt8]? in
            let schema = try schemas.schema(path.container, path.environment, in: connection)
            let scope = try QueryScope(message, session, path, schemas, in: connection)
            let type = try Self.type(of: query, schema)
            guard try IndexBuilds.areFinished(for: query, type, schema, in: connection) else { return nil }
            try Self.check(zoneCount: scope.zones.count)
            let seal = try CursorSeal(cursorKey, query, zone: scope.asked, user: scope.user, path)
            let pager = QueryPager(
                query: query, type: type, zones: scope.zones, rights: scope.rights,
                cursor: message.cursor.isEmpty
                    ? nil : try QueryCursor(message.cursor, seal, keys: max(1, query.sortDescriptors.count)),
                seal: seal, limit: RequestItems.limit(message.resultsLimit, usual: Self.usualResults),
                connection: connection)
            let desired = message.hasDesiredKeys ? try message.desiredKeys.fields() : nil
            return try QueryAnswer.serialized(pager, try pager.page(), asked: scope.asked, desired: desired)
        }
        guard let answer else {
            jobs.wake(.indexes)
            throw IndexBuilds.unfinished
        }
        return answer
    }

    private static func query(
        _ message: Sealkit_V1_QueryRecordsRequest, _ path: DatabasePath
    ) throws(ServerError) -> Query {
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
        return query
    }

    private static func type(of query: Query, _ schema: StoredSchema) throws(ServerError) -> IndexedType {
        guard let type = schema.indexed[query.recordType] else { throw QueryRules.unknownType }
        try QueryRules.check(query, type)
        return type
    }

    static func check(zoneCount: Int) throws(ServerError) {
        guard zoneCount <= mostZones else {
            throw ServerError(.limitExceeded, "There are more than \(mostZones) zones.", remedy: "Name a zone.")
        }
    }
}
