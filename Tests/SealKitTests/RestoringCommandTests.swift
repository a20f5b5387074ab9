import Foundation
import SealKit
import SealLab
import Testing

/// What a server has lost that was restored from a backup, put right from the command line.
@Suite(.timeLimit(.minutes(60))) struct RestoringCommandTests {
    private let server: RestorableServer
    private let keyFile: String

    init() async throws {
        server = try RestorableServer()
        keyFile = server.process.folder.appendingPathComponent("ann.json").path
        _ = try await call("account", "create", "--server", server.process.origin)
        _ = try await call("zone", "create", "Notes")
    }

    @discardableResult
    private func call(_ words: String..., status: Int32 = 0) async throws -> Command {
        let said = try await Command.finished(
            ServerProcess.executable, words + ["--key-file", keyFile], environment: ["SEALKIT_ACCOUNT": ""])
        #expect(said.status == status, "\(words): \(said.output)\(said.errors)")
        return said
    }

    private func save(_ name: String, _ title: String, _ options: String..., status: Int32 = 0) async throws -> Command
    {
        let words = ["record", "save", "--zone", "Notes", "--name", name, "--seal", "title=\(title)"] + options
        let said = try await Command.finished(
            ServerProcess.executable, words + ["--key-file", keyFile], environment: ["SEALKIT_ACCOUNT": ""])
        #expect(said.status == status, "\(words): \(said.output)\(said.errors)")
        return said
    }

    private func title(_ name: String) async throws -> String {
        try await call("record", "get", name, "--zone", "Notes", "--value", "title").output
    }

    @Test func whatARestoredServerHasLostIsSavedAndDeletedAgain() async throws {
        defer { server.stop() }
        for name in ["kept", "whole", "gone"] {
            _ = try await save(name, "first", "--type", "Note", "--set", "folder=work")
        }
        try server.backUp()
        for name in ["kept", "whole"] { _ = try await save(name, "second", "--update") }
        for name in ["added", "given-up"] { _ = try await save(name, "only here", "--type", "Note") }
        try await call("record", "delete", "gone", "--zone", "Notes")
        try server.restore()

        // Nothing old passes for new, and nothing is saved over it, by mistake.
        let refused = try await call("record", "get", "kept", "--zone", "Notes", status: 76)
        #expect(refused.errors.contains("sealkit record get --restoring"))
        #expect(refused.errors.contains("sealkit record save --restoring"))
        _ = try await save("kept", "third", "--update", status: 76)
        _ = try await save("kept", "third", "--overwrite", status: 76)
        // The server has nothing of these, and would take them: what is saved anew is refused as well.
        for name in ["added", "gone"] {
            let over = try await save(name, "made anew", "--type", "Note", status: 76)
            #expect(over.errors.contains("sealkit record save --restoring"), "\(over.errors)")
        }

        // What the server has is shown where it is asked for; with --update it counts again, changed or as it is.
        let old = try await call("record", "get", "kept", "--zone", "Notes", "--restoring", "--value", "title")
        #expect(old.output == "first")
        try await call("record", "get", "kept", "--zone", "Notes", status: 76)
        try await call("record", "save", "--zone", "Notes", "--name", "kept", "--restoring", "--update")
        #expect(try await title("kept") == "first")
        let folder = try await call("record", "get", "kept", "--zone", "Notes", "--value", "folder")
        #expect(folder.output == "work")

        // Given as a whole.
        _ = try await save("whole", "second", "--restoring", "--type", "Note")
        #expect(try await title("whole") == "second")
        try await call("record", "get", "added", "--zone", "Notes", "--restoring", status: 66)
        _ = try await save("added", "from memory", "--restoring", "--type", "Note")
        #expect(try await title("added") == "from memory")

        // What was deleted is deleted again.
        try await call("record", "get", "gone", "--zone", "Notes", status: 76)
        try await call("record", "delete", "gone", "--zone", "Notes", "--restoring")
        // And what nobody has any more does not stay missing.
        let missed = try await call("record", "get", "given-up", "--zone", "Notes", status: 76)
        #expect(missed.errors.contains("sealkit record delete --restoring"), "\(missed.errors)")
        try await call("record", "list", "--zone", "Notes", status: 76)
        try await call("record", "delete", "given-up", "--zone", "Notes", "--restoring")
        try await call("record", "get", "given-up", "--zone", "Notes", status: 66)
        try await call("record", "list", "--zone", "Notes")
        // Once more nothing is lost: the newer version stands.
        _ = try await save("whole", "older", "--restoring", "--type", "Note", status: 79)
        #expect(try await title("whole") == "second")
    }

    @Test func restoringIsSaidOfARecordByName() async throws {
        defer { server.stop() }
        try await call("record", "save", "--zone", "Notes", "--type", "Note", "--restoring", status: 64)
        try await call(
            "record", "save", "--zone", "Notes", "--name", "a", "--type", "Note", "--restoring", "--overwrite",
            status: 64)
        try await call("record", "get", "a", "--database", "public", "--restoring", status: 65)
    }
}
