import Foundation
import SealKit
import SealLab
import Testing

/// `sealkit schema`, `sealkit schema role` and `sealkit management-token` as processes, against a server of their own.
@Suite(.timeLimit(.minutes(60))) struct SchemaCommandTests {
    static let schema = """
        DEFINE SCHEMA

            CREATE ROLE Editor;

            RECORD TYPE Note (
                body   ENCRYPTED STRING,
                pinned INT64 QUERYABLE,
                GRANT READ TO "_world"
            );

        """

    private static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Command {
        try await Command.finished(ServerProcess.executable, arguments, environment: environment)
    }

    private static func withServer(
        _ body: (_ run: ([String]) async throws -> Command, ServerProcess, URL) async throws -> Void
    ) async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let token = server.folder.appendingPathComponent("data.secrets/management.token").path
        let file = server.folder.appendingPathComponent("notes.ckdb")
        try Data(schema.utf8).write(to: file)
        try await body(
            { arguments in
                try await run(
                    arguments + [
                        "--server", server.origin, "--container", "org.example.notes", "--management-token-file", token,
                    ])
            }, server, file)
    }

    @Test func aSchemaIsImportedExportedAndDeployed() async throws {
        try await Self.withServer { run, server, file in
            let planned = try await run(["schema", "import", "--file", file.path, "--dry-run", "--json"])
            #expect(planned.status == 0, "\(planned.errors)")
            #expect(planned.output.contains(#"{"change":"+ role Editor","loses":false}"#))
            #expect(try await !run(["schema", "export"]).output.contains("Note"))
            #expect(try await run(["schema", "import", "--file", file.path]).status == 0)

            let exported = server.folder.appendingPathComponent("exported.ckdb")
            #expect(try await run(["schema", "export", "--file", exported.path]).status == 0)
            let text = try String(contentsOf: exported, encoding: .utf8)
            #expect(text.contains("RECORD TYPE Note"))
            #expect(try await run(["schema", "export"]).output == text)
            #expect(try await run(["schema", "import", "--file", exported.path]).errors.contains("nothing differs"))

            let deployment = try await run(["schema", "deploy", "--dry-run"])
            #expect(deployment.status == 0)
            #expect(deployment.output.contains("+ field Note.body ENCRYPTED STRING"))
            #expect(try await run(["schema", "deploy"]).status == 0)
            #expect(try await run(["schema", "export", "--environment", "production"]).output == text)

            // Production's fields stay.
            try Data("DEFINE SCHEMA".utf8).write(to: file)
            let refused = try await run(["schema", "import", "--file", file.path])
            #expect(refused.status == 65, "\(refused.errors)")
            #expect(refused.errors.contains("- record type Note"), "\(refused.errors)")
            #expect(try await run(["schema", "reset"]).errors.contains("nothing differs"))
        }
    }

    @Test func rolesAndTokens() async throws {
        try await Self.withServer { run, server, file in
            #expect(try await run(["schema", "import", "--file", file.path]).status == 0)
            let key = server.folder.appendingPathComponent("account.json").path
            let made = try await Self.run([
                "account", "create", "--server", server.origin, "--container", "org.example.notes", "--key-file", key,
                "--json",
            ])
            let answer = try #require(try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any])
            let user = try #require(answer["userRecordName"] as? String)
            #expect(try await run(["schema", "role", "assign", "Editor", user]).status == 0)
            #expect(try await run(["schema", "role", "list"]).output == "Editor  \(user)\n")
            #expect(try await run(["schema", "role", "assign", "Nobody", user]).status == 66)
            #expect(try await run(["schema", "role", "revoke", "Editor", user]).status == 0)
            #expect(
                try await run(["schema", "role", "list", "--json"]).output == #"{"role":"Editor","users":[]}"# + "\n")

            let token = try await run(["management-token", "create", "--name", "CI", "--days", "1", "--quiet"])
                .output.trimmingCharacters(in: .newlines)
            let secret = ["SEALKIT_MANAGEMENT_TOKEN": token]
            func export(_ container: String) async throws -> Command {
                try await Self.run(
                    ["schema", "export", "--server", server.origin, "--container", container], environment: secret)
            }
            #expect(try await export("org.example.notes").status == 0)
            let elsewhere = try await export("org.other")
            #expect(elsewhere.status == 77)
            #expect(!elsewhere.errors.contains(token))
            let id = try await run(["management-token", "list", "--quiet"]).output.trimmingCharacters(in: .newlines)
            #expect(try await run(["management-token", "revoke", id]).status == 0)
            #expect(try await export("org.example.notes").status == 77)
            #expect(try await run(["management-token", "list"]).output.isEmpty)
        }
    }

    @Test func aFileIsValidatedWithoutAServer() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "sealkit-schema-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("notes.ckdb")
        func validate(_ contents: Data) async throws -> Command {
            try contents.write(to: file)
            return try await Self.run(["schema", "validate", "--file", file.path])
        }
        let good = try await validate(Data(Self.schema.utf8))
        #expect(good.status == 0)
        #expect(good.output.contains("1 record type and 2 fields"))
        let bad = try await validate(Data("DEFINE SCHEMA\n  RECORD TYPE Note (a TEXT);".utf8))
        #expect(bad.status == 65, "\(bad.errors)")
        #expect(bad.errors.contains("notes.ckdb:2:23: expected a data type"), "\(bad.errors)")
        #expect(try await validate(Data([0xFF, 0xFE])).status == 65)
        #expect(try await Self.run(["schema", "validate", "--file", folder.path + "/none"]).status == 66)
        // Without a token, nothing is asked of a server.
        let missing = try await Self.run(
            ["schema", "export", "--server", "http://127.0.0.1:1"], environment: ["SEALKIT_MANAGEMENT_TOKEN": ""])
        #expect(missing.status == 77)
        #expect(missing.errors.contains("management token"))
        let wrong = try await Self.run(
            ["schema", "export", "--server", "http://127.0.0.1:1"], environment: ["SEALKIT_MANAGEMENT_TOKEN": "canary"])
        #expect(wrong.status == 65)
        #expect(!wrong.errors.contains("canary"))
    }
}
