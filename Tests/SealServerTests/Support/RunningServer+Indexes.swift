import SealSchema
import SealStatements
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Indexes that are made beside requests, a part at a time, as a test wants it.
extension RunningServer {
    /// Gives a field of `Thing` other indexes, which are to be made then.
    func setIndexes(
        of field: String, from before: RecordType.Indexes, to after: RecordType.Indexes
    ) async throws {
        var schema = try await schema().schema
        schema.types["Thing"]?.fields[field]?.indexes = after
        try await deploy(schema, to: .development)
        let stored = try await self.schema()
        let id = try #require(stored.fieldID(type: "Thing", field: field))
        let kind = try #require(stored.field(field, of: "Thing")).type
        try await services.database.write(at: .everything) { connection in
            try IndexBuilds.note(
                SchemaChange(
                    container: TestClient.container, environment: .development,
                    indexes: [.init(id: id, type: "Thing", field: field, kind: kind, before: before, after: after)]),
                connection)
        }
    }

    /// What is to be entered next; nil where no index is to be made.
    /// - Parameter last: the part before it.
    func nextIndexPart(after last: IndexPart? = nil) async throws -> IndexPart? {
        let schemas = services.schemas
        return try await services.database.read { try IndexPart.next(schemas, after: last?.place, in: $0) }
    }

    func write(_ part: IndexPart) async throws {
        try await services.database.write(at: .everything) { try part.write(in: $0) }
    }

    /// - Returns: how many parts there were.
    @discardableResult
    func makeIndexes() async throws -> Int {
        var parts = 0
        while let part = try await nextIndexPart() {
            try await write(part)
            parts += 1
        }
        return parts
    }

    func indexEntries() async throws -> Int64 {
        try await services.database.read {
            try $0.first("SELECT COUNT(*) AS count FROM record_index") { try $0.int64("count") } ?? 0
        }
    }
}
