import Foundation
import SealEnvelope
import SealPrimitives
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Schemas over HTTP: who may, what is refused, and what a change does to what is there.
@Suite(.timeLimit(.minutes(60))) struct SchemaRoutesTests {
    @Test func aSchemaGoesFromAFileToProduction() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let text = """
                DEFINE SCHEMA
                    CREATE ROLE Editor;
                    RECORD TYPE Note (
                        "___recordID" REFERENCE QUERYABLE,
                        body ENCRYPTED STRING, pinned INT64 QUERYABLE, -- comment
                        GRANT READ TO "_world", GRANT READ, WRITE TO Editor
                    );
                """
            let planned = try await boss.importing(text, validateOnly: true)
            #expect(!planned.applied)
            #expect(
                planned.differences.map(\.description_p) == [
                    "+ role Editor", "+ record type Note", "~ field Note.___recordID REFERENCE -> REFERENCE QUERYABLE",
                    "+ field Note.body ENCRYPTED STRING", "+ field Note.pinned INT64 QUERYABLE",
                    "~ grants of Note: none -> READ, WRITE TO Editor; READ TO \"_world\"",
                ])
            #expect(try await server.schema().version == StoredSchema.unwritten)
            let done = try await boss.importing(text)
            #expect(done.applied)
            #expect(done.differences == planned.differences)
            #expect(done.differences.allSatisfy { !$0.loses })
            let development = try await boss.export()
            #expect(try Schema(parsing: development) == Schema(parsing: text).completed)
            // The same again is no change, and a new version neither.
            let version = try await server.schema().version
            #expect(try await boss.importing(development).differences.isEmpty)
            #expect(try await server.schema().version == version)

            #expect(try await boss.deploy(dryRun: true).differences == done.differences)
            #expect(try await boss.export(.production) == Schema.builtIn.text)
            #expect(try await boss.deploy().applied)
            #expect(try await boss.export(.production) == development)
            #expect(try await boss.deploy().differences.isEmpty)

            let anna = try await Person.ready(server).inProduction
            let zone = try await anna.makeZone()
            #expect(try await anna.codes([Write("a")], in: zone) == [nil])
            #expect(
                try await anna.codes([SchemaTests.write("b", [("other", .plain(.int64(1)))])], in: zone) == [
                    .invalidArguments
                ])
        }
    }

    @Test func whatAppearedInDevelopmentIsDeployed() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let anna = try await Person.ready(server)
            _ = try await anna.save([Write("a")], in: try await anna.makeZone())
            let zone = try await anna.inProduction.makeZone()
            #expect(try await anna.inProduction.codes([Write("a")], in: zone) == [.invalidArguments])
            _ = try await boss.deploy()
            #expect(try await anna.inProduction.codes([Write("a")], in: zone) == [nil])
            let (development, production) = (try await server.schema(), try await server.schema(.production))
            #expect(production.schema == development.schema)
            #expect(production.hasHistory == false)
            // The environments share no number.
            let numbers = development.ids.values.flatMap(\.values) + production.ids.values.flatMap(\.values)
            #expect(Set(numbers).count == numbers.count)
        }
    }

    @Test func productionOnlyGrows() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            func note(_ fields: String, _ before: String = "") -> String {
                "DEFINE SCHEMA \(before) RECORD TYPE Note (\(fields));"
            }
            _ = try await boss.importing(note("a STRING, b ENCRYPTED INT64", "CREATE ROLE Editor;"))
            _ = try await boss.deploy()
            for (worse, loss) in [
                (note("a STRING", "CREATE ROLE Editor;"), "- field Note.b"),
                (note("a STRING, b ENCRYPTED INT64"), "- role Editor"),
                ("DEFINE SCHEMA CREATE ROLE Editor;", "- record type Note"),
                (note("a INT64, b ENCRYPTED INT64", "CREATE ROLE Editor;"), "~ field Note.a STRING -> INT64"),
                (note("a STRING, b INT64", "CREATE ROLE Editor;"), "~ field Note.b ENCRYPTED INT64 -> INT64"),
                (
                    note("a ENCRYPTED STRING, b ENCRYPTED INT64", "CREATE ROLE Editor;"),
                    "~ field Note.a STRING -> ENCRYPTED STRING"
                ),
            ] {
                for validateOnly in [true, false] {
                    do {
                        _ = try await boss.importing(worse, validateOnly: validateOnly)
                        Issue.record("\(worse) was imported")
                    } catch let refusal as Refusal {
                        #expect(refusal.code == .invalidArguments, "\(refusal)")
                        #expect(refusal.failure.reason.contains(loss), "\(refusal)")
                    }
                }
                // Should development have lost it in another way, the deployment is refused.
                try await server.deploy(try Schema(parsing: worse), to: .development)
                #expect(try await refusal { try await boss.deploy() } == .invalidArguments)
                #expect(try await refusal { try await boss.deploy(dryRun: true) } == .invalidArguments)
                #expect(try await boss.reset().applied)
                let production = try await boss.export(.production)
                #expect(try await boss.export() == production)
            }
            // Indexes and grants go both ways.
            _ = try await boss.importing(
                note("a STRING QUERYABLE, b ENCRYPTED INT64, GRANT READ TO \"_world\"", "CREATE ROLE Editor;"))
            #expect(
                try await boss.deploy().differences.map(\.description_p) == [
                    "~ field Note.a STRING -> STRING QUERYABLE", "~ grants of Note: none -> READ TO \"_world\"",
                ])
            _ = try await boss.importing(note("a STRING, b ENCRYPTED INT64", "CREATE ROLE Editor;"))
            #expect(
                try await boss.deploy().differences.map(\.description_p) == [
                    "~ field Note.a STRING QUERYABLE -> STRING", "~ grants of Note: READ TO \"_world\" -> none",
                ])
        }
    }

    @Test func aResetKeepsRecordsAndForgetsTypes() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let saved = try await anna.save([Write("a")], in: zone)
            let before = try await server.schema()
            let answer = try await boss.reset(dryRun: true)
            #expect(!answer.applied)
            #expect(answer.differences.contains { $0.description_p == "- record type Note" && $0.loses })
            #expect(try await server.schema().version == before.version)
            #expect(try await boss.reset().applied)
            let after = try await server.schema()
            #expect(after.schema == .builtIn)
            #expect(after.hasHistory)
            #expect(after.ids["Note"] == nil)
            let found = try await anna.lookup(["a"], in: zone)
            #expect(try anna.open(found.results[0].record, in: zone).hash == saved[0].hash)
            // A save brings the type back, with numbers of its own.
            #expect(try await anna.codes([Write(after: saved[0])], in: zone) == [nil])
            let again = try await server.schema()
            let numbers = (before.ids["Note"]?.values).map(Set.init) ?? []
            #expect(!numbers.isEmpty)
            #expect(numbers.isDisjoint(with: again.ids["Note"]?.values.map { $0 } ?? []))
        }
    }

    @Test func aKindThatChangesGetsAnotherNumber() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            _ = try await boss.importing("DEFINE SCHEMA RECORD TYPE Note (a STRING QUERYABLE, b INT64 QUERYABLE);")
            let before = try await server.schema()
            let target = try Schema(parsing: "DEFINE SCHEMA RECORD TYPE Note (a INT64 QUERYABLE, b INT64);")
            let change = try await server.services.database.write(at: .everything) { connection in
                try SchemaTables.write(target, over: before, in: connection).change
            }
            let after = try await server.schema()
            let (oldA, newA) = (
                try #require(before.fieldID(type: "Note", field: "a")),
                try #require(after.fieldID(type: "Note", field: "a"))
            )
            let b = try #require(before.fieldID(type: "Note", field: "b"))
            #expect(oldA != newA)
            #expect(after.fieldID(type: "Note", field: "b") == b)
            let indexes = change.indexes.sorted { $0.id < $1.id }
            #expect(
                indexes == [
                    .init(id: oldA, type: "Note", field: "a", kind: ValueType(.string), before: .queryable, after: []),
                    .init(id: b, type: "Note", field: "b", kind: ValueType(.int64), before: .queryable, after: []),
                    .init(id: newA, type: "Note", field: "a", kind: ValueType(.int64), before: [], after: .queryable),
                ])
        }
    }

    @Test func refusalsOfSchemaCalls() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            do {
                _ = try await boss.importing("DEFINE SCHEMA\n  RECORD TYPE Canary (x CANARY);")
                Issue.record("imported")
            } catch let refusal as Refusal {
                #expect(refusal.code == .invalidArguments)
                #expect(refusal.failure.reason.contains("line 2, column 25"))
                #expect(!refusal.description.lowercased().contains("canary"))
            }
            #expect(
                try await refusal {
                    try await boss.call(
                        "import", .production, Sealkit_V1_ImportSchemaRequest(),
                        as: Sealkit_V1_ChangeSchemaResponse.self)
                } == .invalidArguments)
            #expect(
                try await refusal {
                    try await boss.call(
                        "deploy", .development, Sealkit_V1_DeploySchemaRequest(),
                        as: Sealkit_V1_ChangeSchemaResponse.self)
                } == .invalidArguments)
            #expect(
                try await refusal {
                    try await boss.call(
                        "reset", .production, Sealkit_V1_ResetSchemaRequest(), as: Sealkit_V1_ChangeSchemaResponse.self)
                } == .invalidArguments)
            #expect(
                try await refusal {
                    try await boss.client.call(
                        "/database/1/a%20b/development/schema/export", Sealkit_V1_ExportSchemaRequest(),
                        as: Sealkit_V1_ExportSchemaResponse.self, token: boss.token)
                } == .badContainer)
            #expect(
                try await refusal {
                    try await boss.client.call(
                        "/database/1/a/staging/schema/export", Sealkit_V1_ExportSchemaRequest(),
                        as: Sealkit_V1_ExportSchemaResponse.self, token: boss.token)
                } == .invalidArguments)
        }
    }
}
