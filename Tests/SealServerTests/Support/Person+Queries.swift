import Foundation
import SealEnvelope
import SealQuery
import SealStatements
import SealWire

@testable import SealServer
@testable import SealService

extension Person {
    func query(
        _ query: Query, in zone: TestZone?, cursor: Data = Data(), limit: UInt32 = 0, keys: [String]? = nil,
        shared: Bool = false
    ) async throws -> Sealkit_V1_QueryRecordsResponse {
        var request = Sealkit_V1_QueryRecordsRequest()
        request.query = query.wire
        if let zone { request.zone = zone.id(for: self) }
        request.cursor = cursor
        request.resultsLimit = limit
        if let keys { request.desiredKeys.names = keys }
        return try await client.call(
            path("records/query", shared: shared || zone.map { $0.owner != user } ?? false), request,
            as: Sealkit_V1_QueryRecordsResponse.self)
    }

    /// The names of all results, page after page.
    func names(_ query: Query, in zone: TestZone?, limit: UInt32 = 0) async throws -> [String] {
        var names: [String] = []
        var cursor = Data()
        repeat {
            let page = try await self.query(query, in: zone, cursor: cursor, limit: limit, keys: [])
            names += page.matches.map(\.record.recordName)
            cursor = page.cursor
        } while !cursor.isEmpty
        return names
    }

    func names(_ text: String, _ arguments: any Query.Argument..., in zone: TestZone?) async throws -> [String] {
        try await names(
            Query(recordType: "Thing", predicate: Query.Predicate(text: text, arguments: arguments)), in: zone
        ).sorted()
    }
}

extension Write {
    /// A record with plain fields.
    static func thing(_ name: String, _ fields: [String: Value], type: String = "Thing") -> Write {
        var write = Write(name, nil)
        write.type = type
        write.setPlain(fields)
        return write
    }

    /// The next revision, with other plain fields.
    static func thing(after saved: SavedRecord, _ fields: [String: Value]) -> Write {
        var write = Write(after: saved, nil)
        write.type = "Thing"
        write.setPlain(fields)
        return write
    }

    static func deletion(of saved: SavedRecord) -> Write {
        var write = Write(after: saved, kind: .delete)
        write.type = "Thing"
        return write
    }

    private mutating func setPlain(_ values: [String: Value]) {
        fields = values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
            (name: $0.key, field: .plain($0.value))
        }
    }
}
