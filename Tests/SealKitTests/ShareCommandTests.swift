import Foundation
import SealKit
import SealLab
import Testing

/// Shares of records on the command line.
@Suite struct ShareCommandTests {
    private func run(_ arguments: [String], _ keyFile: URL) throws -> Command {
        try Command.run(ServerProcess.executable, arguments, environment: ["SEALKIT_KEY_FILE": keyFile.path])
    }

    @Test func aRecordIsSharedShownAndLeft() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob) = (server.folder.appendingPathComponent("ann.json"), server.folder.appendingPathComponent("bob.json"))
        for keyFile in [ann, bob] {
            #expect(try run(["account", "create", "--server", server.origin], keyFile).status == 0)
        }
        #expect(try run(["zone", "create", "Lists"], ann).status == 0)
        for name in ["groceries", "private"] {
            let save = ["record", "save", "--zone", "Lists", "--type", "Note", "--name", name, "--seal", "title=\(name)"]
            #expect(try run(save, ann).status == 0)
        }
        let create = ["share", "create", "Lists", "--record", "groceries", "--title", "Groceries"]
        let created = try run(create, ann)
        #expect(created.status == 0, "\(created.errors)")
        // Again it is the same share.
        #expect(try run(create, ann).status == 0)
        let shown = try run(["share", "show", "Lists", "--record", "groceries"], ann)
        #expect(shown.status == 0 && shown.output.contains("Groceries"), "\(shown.errors)")
        let none = try run(["share", "show", "Lists", "--record", "private"], ann)
        #expect(none.status == 66 && none.errors.contains("not the root of a share"), "\(none.errors)")
        let whole = try run(["share", "create", "Lists"], ann)
        #expect(whole.status != 0 && whole.errors.contains("shared"), "\(whole.errors)")
        let leave = try run(["share", "leave", "Lists", "--owner", "_00000000000000000000000000000000", "--record", "groceries"], bob)
        #expect(leave.status == 66, "\(leave.errors)")
    }
}
