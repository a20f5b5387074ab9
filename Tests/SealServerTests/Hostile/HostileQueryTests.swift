import Foundation
import SealPrimitives
import SealQuery
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What a query gives away beside its results.
@Suite(.timeLimit(.minutes(60))) struct HostileQueryTests {
    private static func query(
        _ query: Query, cursor: Data = Data(), by client: TestClient
    ) async throws -> Sealkit_V1_QueryRecordsResponse {
        try await client.call(
            Person.publicPath("records/query"),
            Sealkit_V1_QueryRecordsRequest.with {
                $0.query = query.wire
                $0.cursor = cursor
            }, as: Sealkit_V1_QueryRecordsResponse.self)
    }

    /// Records that only their creators may read: a page that ends among them, because it has cost enough, must not say
    /// in its cursor where it stands.
    @Test func aCursorDoesNotTellWhatItsReaderMayNotRead() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            for batch in 0..<6 {
                let writes = (0..<400).map {
                    PublicWrite("canary-name-\(batch * 400 + $0)", "canary-text-\(batch * 400 + $0)")
                }
                let refused = try await anna.publicCodes(writes).compactMap(\.self)
                #expect(refused.isEmpty)
            }
            try await Management(server).importing(
                """
                DEFINE SCHEMA
                    RECORD TYPE Note (
                        "___recordID" REFERENCE QUERYABLE,
                        body STRING QUERYABLE SORTABLE SEARCHABLE,
                        GRANT READ, WRITE TO "_creator", GRANT CREATE TO "_icloud"
                    );
                """)
            let world = try TestClient(server)
            let all = Query.Predicate([])
            for query in [
                Query(recordType: "Note", predicate: all),
                Query(recordType: "Note", predicate: all, sortDescriptors: [.init(key: "body", ascending: true)]),
                Query(recordType: "Note", predicate: all, sortDescriptors: [.init(key: "body", ascending: false)]),
                Query(
                    recordType: "Note", predicate: all,
                    sortDescriptors: [.init(key: "body", ascending: true), .init(key: "recordID", ascending: true)]),
                try QueryTests.query("body > 'c'", type: "Note"),
                try QueryTests.query("self CONTAINS 'canary'", type: "Note"),
            ] {
                var cursor = Data()
                var pages = 0
                repeat {
                    let page = try await Self.query(query, cursor: cursor, by: world)
                    #expect(page.matches.isEmpty)
                    #expect(page.authors.isEmpty)
                    #expect(![UInt8](page.cursor).contains(bytes: Array("canary".utf8)))
                    cursor = page.cursor
                    pages += 1
                } while !cursor.isEmpty && pages < 20
                #expect(pages > 1)
                #expect(pages < 20)
            }
            // Their creator finds them.
            let found = try await Self.query(Query(recordType: "Note", predicate: all), by: anna.client)
            #expect(found.matches.count == 200)
        }
    }

    /// What was in the public database before an index was made is found by it.
    @Test func indexesAreMadeOfPublicRecordsToo() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let boss = try Management(server)
            let note =
                "DEFINE SCHEMA RECORD TYPE Note (body STRING%, GRANT READ TO \"_world\", GRANT CREATE TO \"_icloud\");"
            try await boss.importing(note.replacing("%", with: ""))
            #expect(try await anna.publicCodes([PublicWrite("a", "first"), PublicWrite("b", "second")]) == [nil, nil])
            let query = try QueryTests.query("body BEGINSWITH 'f'", type: "Note")
            let unmarked = try await refusal { try await Self.query(query, by: try TestClient(server)) }
            #expect(unmarked == .invalidArguments)
            try await boss.importing(note.replacing("%", with: " QUERYABLE SORTABLE SEARCHABLE"))
            try await server.services.jobs.run(.indexes)
            #expect(try await Self.query(query, by: try TestClient(server)).matches.map(\.record.recordName) == ["a"])
            let words = try QueryTests.query("self CONTAINS 'second'", type: "Note")
            #expect(try await Self.query(words, by: try TestClient(server)).matches.map(\.record.recordName) == ["b"])
            // And taken away with it.
            try await boss.importing(note.replacing("%", with: ""))
            try await server.services.jobs.run(.indexes)
            let entries = try await server.services.database.read { connection in
                try connection.exists(
                    "SELECT 1 FROM record_index WHERE owner < 0 UNION ALL SELECT 1 FROM search_document")
            }
            #expect(!entries)
        }
    }

    /// An index that is made later has all records of a zone, however many steps that takes.
    @Test func indexesAreMadeOfEveryRecord() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let boss = try Management(server)
            let note =
                "DEFINE SCHEMA RECORD TYPE Note (body STRING%, GRANT READ TO \"_world\", GRANT CREATE TO \"_icloud\");"
            try await boss.importing(note.replacing("%", with: ""))
            let names = (0..<390).map { "r\($0)" } + ["z"]
            let codes = try await anna.publicCodes(names.map { PublicWrite($0, $0 == "z" ? "last" : "other") })
            #expect(codes.compactMap(\.self).isEmpty)
            try await boss.importing(note.replacing("%", with: " QUERYABLE SORTABLE"))
            try await server.services.jobs.run(.indexes)
            let query = try QueryTests.query("body BEGINSWITH 'l'", type: "Note")
            let found = try await Self.query(query, by: try TestClient(server)).matches.map(\.record.recordName)
            #expect(found == ["z"])
        }
    }

    /// A record of a megabyte could bring a quarter of a million words, each entered with the names of its zone and
    /// type.
    @Test func wordsDoNotMakeAnIndexOfManyTimesTheirRoom() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let boss = try Management(server)
            let text = (0..<12_000).map { String($0, radix: 36) }.joined(separator: " ")
            let type = String(repeating: "T", count: 200)
            let write = Write.thing("large", ["text": .string(text)], type: type)
            let fresh = try await refusal { try await anna.codes([write], in: zone) }
            #expect(fresh == .limitExceeded)
            // Nothing of it is left, the type included.
            #expect(try await anna.lookup(["large"], in: zone).results[0].code == .unknownItem)
            #expect(try await server.schema().schema.types[type] == nil)
            // Without an index it is a text like any other; one that is made later leaves it out, and takes the others.
            try await boss.importing("DEFINE SCHEMA RECORD TYPE \(type) (text STRING);")
            #expect(
                try await anna.codes([write, .thing("small", ["text": .string("few words")], type: type)], in: zone)
                    == [nil, nil])
            try await boss.importing("DEFINE SCHEMA RECORD TYPE \(type) (text STRING SEARCHABLE);")
            try await server.services.jobs.run(.indexes)
            #expect(try await anna.names(QueryTests.query("self CONTAINS 'words'", type: type), in: zone) == ["small"])
            let stored = try await server.services.database.read { connection in
                try connection.first("SELECT CAST(SUM(LENGTH(terms)) AS BIGINT) AS bytes FROM search_document") {
                    try $0.int64("bytes")
                }
            }
            #expect(try #require(stored) < 1_000)
        }
    }
}
