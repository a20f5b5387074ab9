import Foundation
import SealEnvelope
import SealPrimitives
import SealQuery
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

@testable import SealServer
@testable import SealService
@testable import SealStorage

extension LimitProbe {
    static let cascades = [
        LimitProbe(name: "deleteSelfReferences") { server, amount in
            let anna = try await Person.ready(server)
            var wide = Write("wide", nil)
            let references = (0..<amount).map {
                Value.reference(ReferenceValue(recordName: "r\($0)", action: .deleteSelf))
            }
            wide.fields = [("refs", .plain(.list(references)))]
            return try await anna.codes([wide], in: try await anna.makeZone())[0]
        },
        LimitProbe(name: "deleteSelfReferencesPerRequest") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let writes = stride(from: 0, to: amount, by: 700).map { start -> Write in
                var write = Write("r\(start)", nil)
                let references = (start..<min(start + 700, amount)).map {
                    Value.reference(ReferenceValue(recordName: "t\($0)", action: .deleteSelf))
                }
                write.fields = [("refs", .plain(.list(references)))]
                return write
            }
            return try await anna.codes(writes, in: zone, atomic: false).compactMap(\.self).first
        },
        // CascadeTests deletes real chains.
        LimitProbe(name: "cascadedDeletions") { _, amount in ReferenceReader.Bounds().refusal(records: amount)?.code },
    ]

    // MARK: A query

    static let queries = [
        LimitProbe(name: "queryConditions") { server, amount in
            let conditions = (0..<amount).map { Query.Condition(.compare("age", .notEqual, .int64(Int64($0)))) }
            return try await ask(conditions, server)
        },
        LimitProbe(name: "queryListValues") { server, amount in
            try await ask([Query.Condition(.isIn("age", (0..<amount).map { .int64(Int64($0)) }))], server)
        },
        LimitProbe(name: "queryValueBytes") { server, amount in
            try await ask(
                [Query.Condition(.compare("name", .equal, .string(String(repeating: "x", count: amount))))], server)
        },
        LimitProbe(name: "queryWords") { server, amount in
            let words = (0..<amount).map { "w\($0)" }.joined(separator: " ")
            return try await ask([Query.Condition(.words(words, all: true))], server)
        },
        LimitProbe(name: "querySortKeys") { server, amount in
            try await ask(
                [], server, sortedBy: (0..<amount).map { Query.SortDescriptor(key: "k\($0)", ascending: true) })
        },
        LimitProbe(name: "queryZones") { _, amount in
            try await code { try QueryRecords.check(zoneCount: amount) }
        },
        LimitProbe(name: "querySortedZones") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([.thing("a", ["age": .int64(1)])], in: zone)
            guard let type = try await server.schema().indexed["Thing"] else { throw TestFailure("no type") }
            let query = Query(
                recordType: "Thing", predicate: Query.Predicate([]),
                sortDescriptors: [Query.SortDescriptor(key: "age", ascending: true)])
            return try await code {
                try await server.services.database.read { connection in
                    let path = DatabasePath(
                        container: TestClient.container, environment: .development, database: .private)
                    let row = try Zones.writable(zone.id(for: anna), by: anna.caller(connection), path, in: connection)
                    let seal = try CursorSeal(
                        server.services.addresses.cursorKey(), query, zone: nil, user: nil, path)
                    let pager = QueryPager(
                        query: query, type: type, zones: Array(repeating: row, count: amount), rights: nil, cursor: nil,
                        seal: seal, limit: 10, connection: connection)
                    _ = try pager.page()
                }
            }
        },
        LimitProbe(name: "queryRecordsInOrder") { server, amount in
            let (anna, zone) = try await crowd.of(amount, server)
            let query = Query(
                recordType: "Thing", predicate: Query.Predicate([]),
                sortDescriptors: [
                    Query.SortDescriptor(key: "same", ascending: true),
                    Query.SortDescriptor(key: "age", ascending: true),
                ])
            return try await refusal { try await anna.query(query, in: zone, limit: 1, keys: []) }
        },
    ]

    /// What such a query is refused with; that there is no such type comes after what is probed.
    private static func ask(
        _ conditions: [Query.Condition], _ server: RunningServer, sortedBy descriptors: [Query.SortDescriptor] = []
    ) async throws -> ErrorCode? {
        let anna = try await Person.ready(server)
        let query = Query(recordType: "Nothing", predicate: Query.Predicate(conditions), sortDescriptors: descriptors)
        let code = try await refusal { try await anna.query(query, in: nil) }
        return code == .unknownItem ? nil : code
    }

    /// What the server's own error is; nil without one.
    static func code(_ body: () async throws -> Void) async throws -> ErrorCode? {
        do {
            try await body()
            return nil
        } catch let error as ServerError {
            return error.code
        }
    }

    /// Somebody's zone with ever more records: they are too many to make anew for each amount.
    private static let crowd = Crowd()

    private final class Crowd: Sendable {
        private let state = Mutex<(person: Person, zone: TestZone, count: Int)?>(nil)

        func of(_ amount: Int, _ server: RunningServer) async throws -> (Person, TestZone) {
            var known = state.withLock { $0 }
            if known?.person.client.server.origin != server.origin {
                let anna = try await Person.ready(server)
                known = (anna, try await anna.makeZone(), 0)
            }
            guard let (anna, zone, count) = known else { throw TestFailure("nobody") }
            for start in stride(from: count, to: amount, by: 400) {
                let things = (start..<min(start + 400, amount)).map {
                    Write.thing("r\($0)", ["same": .int64(1), "age": .int64(Int64($0))])
                }
                _ = try await anna.save(things, in: zone)
            }
            state.withLock { $0 = (anna, zone, amount) }
            return (anna, zone)
        }
    }

    // MARK: A schema

    static let schemas = [
        LimitProbe(name: "recordTypes") { server, amount in
            let builtIn = Schema.builtIn.types.count
            return try await grow(
                Schema.builtIn.adding(
                    types: Dictionary(uniqueKeysWithValues: (builtIn..<amount - 1).map { ("T\($0)", [:]) })), server)
        },
        LimitProbe(name: "fieldsPerRecordType") { server, amount in
            try await grow(Schema.builtIn.adding(types: ["New": fields(amount - 1)]), server)
        },
        LimitProbe(name: "fieldsPerSchema") { server, amount in
            var types: [String: [String: RecordType.Field]] = ["New": [:]]
            var rest = amount - 1 - Schema.builtIn.fieldCount
            while rest > 0 {
                types["T\(rest)"] = fields(min(rest, 1_000))
                rest -= 1_000
            }
            return try await grow(Schema.builtIn.adding(types: types), server)
        },
        LimitProbe(name: "rolesPerSchema") { server, amount in
            let roles = (0..<amount).map { "CREATE ROLE r\($0);" }.joined(separator: " ")
            return try await refusal {
                try await Management(server).importing("DEFINE SCHEMA " + roles, validateOnly: true)
            }
        },
        LimitProbe(name: "schemaBytes") { server, amount in
            let text = "DEFINE SCHEMA"
            let padded = text + String(repeating: " ", count: amount - text.utf8.count)
            return try await refusal { try await Management(server).importing(padded, validateOnly: true) }
        },
        LimitProbe(name: "managementTokens") { server, amount in
            let boss = try Management(server)
            return try await last(amount, refusedWith: .limitExceeded) { _ in
                try await createToken(boss, container: "org.example.c\(amount)", lifetime: 0)
            }
        },
        LimitProbe(name: "managementTokenSeconds") { server, amount in
            try await createToken(try Management(server), container: "org.example.c", lifetime: UInt64(amount))
        },
        LimitProbe(name: "serverKeys") { server, amount in
            let anna = try await Person.ready(server)
            return try await last(amount, refusedWith: .limitExceeded) { _ in
                let key = try ServerKeyClient(server)
                return try await refusal { try await anna.createServerKey(key.chain, signer: key.key) }
            }
        },
    ]

    /// With the schema in place, what saving a record with one field more, of the type `New`, is refused with.
    private static func grow(_ schema: Schema, _ server: RunningServer) async throws -> ErrorCode? {
        try await server.deploy(schema, to: .development)
        let anna = try await Person.ready(server)
        var write = Write.thing("a", ["another": .int64(1)])
        write.type = "New"
        return try await anna.codes([write], in: try await anna.makeZone())[0]
    }

    private static func fields(_ count: Int) -> [String: RecordType.Field] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("f\($0)", RecordType.Field(ValueType(.int64))) })
    }

    private static func createToken(_ boss: Management, container: String, lifetime: UInt64) async throws -> ErrorCode?
    {
        let request = Sealkit_V1_CreateManagementTokenRequest.with {
            ($0.container, $0.name, $0.lifetime) = (container, "CI", lifetime)
        }
        return try await refusal {
            try await boss.client.call(
                "/1/management-tokens/create", request, as: Sealkit_V1_CreateManagementTokenResponse.self,
                token: boss.token)
        }
    }
}
