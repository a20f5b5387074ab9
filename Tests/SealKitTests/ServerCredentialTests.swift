import Foundation
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct ServerCredentialTests {
    private func world(_ person: Person) throws -> Database {
        try Container(person.container.containerIdentifier, transport: HTTPTransport(server: person.server.origin))
            .publicDatabase
    }

    private func place(_ city: String) -> Record {
        var record = Record(recordType: "Place")
        record["city"] = city
        return record
    }

    @Test func anotherServerWritesWithItsCredentialFile() async throws {
        let ann = try await Person()
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("credential.json")
        let made = try await ann.container.createServerKey(name: "importer")
        try made.write(to: file)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        #expect(await failure { try made.write(to: file) } == .constraintViolation)

        let credential = try ServerCredential(contentsOf: file)
        #expect(credential.userRecordID == made.userRecordID)
        let container = try Container(serverCredential: credential)
        #expect(try container.userRecordID() == made.userRecordID)
        var saved = try await container.publicDatabase.save(place("Berlin"))
        #expect(saved.creatorUserRecordID?.recordName == made.userRecordID.recordName)
        saved["city"] = "Potsdam"
        let photo = folder.url.appendingPathComponent("photo")
        try pattern(200_000).write(to: photo)
        saved["photo"] = Asset(fileURL: photo)
        saved = try await container.publicDatabase.save(saved)
        let found = try await world(ann).record(for: saved.recordID)
        #expect(found["city"] == "Potsdam")
        let asset: Asset = try #require(found["photo"])
        #expect(try Data(contentsOf: try #require(asset.fileURL)) == pattern(200_000))
        #expect(try await container.userRecord().recordID == made.userRecordID)

        // It is nobody else, and nowhere else.
        let hers = try await ann.container.publicDatabase.save(place("Bonn"))
        #expect(
            await failure { try await container.publicDatabase.deleteRecord(withID: hers.recordID) }
                == .permissionFailure)
        #expect(await failure { _ = try await container.privateDatabase.allRecordZones() } == .notAuthenticated)
        #expect(await failure { _ = try await container.createServerKey(name: "another") } == .permissionFailure)

        #expect(try await ann.container.serverKeys().map(\.userRecordID) == [made.userRecordID])
        try await ann.container.revokeServerKey(made.userRecordID)
        #expect(try await ann.container.serverKeys().isEmpty)
        #expect(
            await failure { _ = try await container.publicDatabase.record(for: saved.recordID) } == .notAuthenticated)
        #expect(await failure { try await ann.container.revokeServerKey(made.userRecordID) } == .unknownItem)
        #expect(try await world(ann).record(for: saved.recordID).plainValue("city") == .string("Potsdam"))
    }

    @Test func aCredentialFileIsReadWholeOrNotAtAll() async throws {
        let ann = try await Person()
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("credential.json")
        try await ann.container.createServerKey(name: "n").write(to: file)
        let text = try String(contentsOf: file, encoding: .utf8)
        func code(mode: Int = 0o600, _ change: (String) -> String) throws -> SealKitError.Code? {
            let altered = folder.url.appendingPathComponent(UUID().uuidString)
            try change(text).write(to: altered, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: altered.path)
            do throws(SealKitError) {
                _ = try ServerCredential(contentsOf: altered)
                return nil
            } catch { return error.code }
        }
        #expect(try code { $0 } == nil)
        #expect(try code(mode: 0o640) { $0 } == .permissionFailure)
        #expect(try code { String($0.dropLast(10)) } == .invalidArguments)
        #expect(try code { $0.replacing("sealkit-server-credential", with: "sealkit-key-file") } == .invalidArguments)
        #expect(try code { $0.replacing("\"version\" : 1", with: "\"version\" : 2") } == .incompatibleVersion)
        #expect(try code { $0.replacing("org.example.notes", with: "org.example.other") } == .integrityFailure)
        #expect(try code { $0.replacing("\"_", with: "\"_0") } == .integrityFailure)
        #expect(
            await failure { _ = try ServerCredential(contentsOf: folder.url.appendingPathComponent("none")) }
                == .notAuthenticated)
    }

    @Test func aCredentialShowsNoKey() async throws {
        let ann = try await Person()
        let credential = try await ann.container.createServerKey(name: "n")
        var dumped = ""
        dump(credential, to: &dumped)
        #expect(!dumped.contains("seed"))
        #expect(!dumped.contains("Secret"))
        #expect(dumped.contains(credential.containerIdentifier))
        #expect("\(credential)" == "ServerCredential(\(credential.server), org.example.notes, development)")
    }

    @Test func theCommandLineHasThePublicDatabaseAndItsKeys() async throws {
        let ann = try await Person()
        let folder = try TemporaryFolder()
        let keyFile = folder.url.appendingPathComponent("ann.json")
        try KeyFile.write(ann.account, to: keyFile, passphrase: nil)
        func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
            let command = try await Command.finished(
                ServerProcess.executable, arguments + ["--key-file", keyFile.path, "--container", "org.example.notes"])
            return (command.status, command.output)
        }
        let name = "cli-\(UUID().uuidString)"
        let saved = try await run(
            "record", "save", "--database", "public", "--type", "Place", "--name", name, "--set", "city=Berlin")
        #expect(saved.status == 0)
        #expect(try await world(ann).record(for: Record.ID(recordName: name)).plainValue("city") == .string("Berlin"))
        let shown = try await run("record", "get", name, "--database", "public", "--value", "city")
        #expect(shown.status == 0)
        #expect(shown.output == "Berlin")
        #expect(
            try await run("record", "save", "--database", "public", "--type", "Place", "--seal", "city=Berlin").status
                != 0)
        #expect(try await run("record", "get", name, "--database", "public", "--zone", "Notes").status != 0)
        #expect(try await run("record", "get", name).status != 0)
        #expect(try await run("record", "delete", name, "--database", "public").status == 0)
        #expect(await failure { _ = try await world(ann).record(for: Record.ID(recordName: name)) } == .unknownItem)

        let file = folder.url.appendingPathComponent("credential.json").path
        let made = try await run("server-key", "create", "--name", "importer", "--output", file, "--quiet")
        let user = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(made.status == 0)
        #expect(user.hasPrefix("_"))
        // Never over another file, and then no key is left behind.
        #expect(try await run("server-key", "create", "--name", "again", "--output", file).status != 0)
        #expect(try await run("server-key", "list", "--quiet").output.split(separator: "\n").map(String.init) == [user])
        #expect(try await run("server-key", "revoke", user).status == 0)
        #expect(try await run("server-key", "list", "--quiet").output.isEmpty)
        #expect(try await run("server-key", "revoke", user).status != 0)
    }

    /// The example is whole: another language needs nothing of ours.
    @Test func theExampleScriptSavesARecord() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let python = root.appendingPathComponent(".build/verifier/bin/python")
        try #require(FileManager.default.isExecutableFile(atPath: python.path), "make test sets the verifier up")
        let ann = try await Person()
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("credential.json")
        let credential = try await ann.container.createServerKey(name: "script")
        try credential.write(to: file)
        let name = "place-\(UUID().uuidString)"
        let script = try await Command.finished(
            python,
            [
                root.appendingPathComponent("Examples/server-to-server.py").path, file.path, "Place", name, "city",
                "Berlin",
            ])
        #expect(script.status == 0, "\(script)")
        #expect(script.output.contains("changeTag"), "\(script)")
        let found = try await world(ann).record(for: Record.ID(recordName: name))
        #expect(found["city"] == "Berlin")
        #expect(found.creatorUserRecordID?.recordName == credential.userRecordID.recordName)
    }
}
