import Foundation
import SealKit
import SealLab
import Testing

@testable import sealkit

/// Sharing on the command line, by people who have nothing but key files.
@Suite(.timeLimit(.minutes(60))) struct ShareCommandTests {
    private struct User {
        let server: ServerProcess
        let keyFile: String
        let name: String

        init(_ server: ServerProcess, _ name: String) async throws {
            self.server = server
            keyFile = server.folder.appendingPathComponent("\(name).json").path
            let made = try await Command.finished(
                ServerProcess.executable, ["account", "create", "--server", server.origin, "--key-file", keyFile])
            #expect(made.status == 0, "\(made.errors)")
            let whoami = try await Command.finished(
                ServerProcess.executable, ["account", "whoami", "--quiet", "--key-file", keyFile])
            self.name = whoami.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// What a command prints; nothing where it fails with another status than the one that is due.
        func callAsFunction(_ arguments: String..., status: Int32 = 0) async throws -> String {
            let said = try await Command.finished(ServerProcess.executable, arguments + ["--key-file", keyFile])
            #expect(said.status == status, "\(arguments): \(said.errors)")
            return said.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    @Test func aParentIsGivenAndTakenAwayFromTheCommandLine() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await User(server, "ann")
        _ = try await ann("zone", "create", "Notes")
        _ = try await ann("record", "save", "--zone", "Notes", "--type", "Note", "--name", "root")
        _ = try await ann("record", "save", "--zone", "Notes", "--type", "Note", "--name", "child", "--parent", "root")
        _ = try await ann("share", "create", "Notes", "--record", "root")
        // Below its own child a root would be its own ancestor.
        _ = try await ann(
            "record", "save", "--zone", "Notes", "--name", "root", "--update", "--parent", "child", status: 65)
        // As long as it has a child it does not go; without its parent the child is beside it.
        _ = try await ann("record", "delete", "--zone", "Notes", "root", status: 65)
        _ = try await ann("record", "save", "--zone", "Notes", "--name", "child", "--update", "--unset", "parent")
        _ = try await ann("record", "save", "--zone", "Notes", "--name", "child", "--update", "--parent", "root")
        _ = try await ann("record", "save", "--zone", "Notes", "--name", "child", "--update", "--parent", "")
        _ = try await ann(
            "record", "save", "--zone", "Notes", "--name", "child", "--parent", "root", "--unset", "parent", status: 64)
        _ = try await ann("record", "delete", "--zone", "Notes", "root")
        _ = try await ann("record", "delete", "--zone", "Notes", "child")
    }

    /// Whoever wants to see the URL once more takes no right away by that.
    @Test func whoIsInvitedAgainKeepsTheirRights() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob) = await (try User(server, "ann"), try User(server, "bob"))
        _ = try await ann("zone", "create", "Notes")
        _ = try await ann("share", "create", "Notes")
        let url = try await ann(
            "share", "invite", "Notes", bob.name, "--permission", "readWrite", "--expires-in", "7", "--quiet")
        let invited = try await ann("share", "show", "Notes", "--json")
        #expect(try await ann("share", "invite", "Notes", bob.name, "--quiet") == url)
        #expect(try await ann("share", "show", "Notes", "--json") == invited)
        _ = try await bob("share", "accept", url)
        let again = try await ann("share", "invite", "Notes", bob.name)
        #expect(again.contains("takes part already, with readWrite"), "\(again)")
        _ = try await bob("record", "save", "--zone", "Notes", "--owner", ann.name, "--type", "Note", "--name", "first")
        // Where it is asked for it is done, and said.
        let said = try await Command.finished(
            ServerProcess.executable,
            ["share", "invite", "Notes", bob.name, "--permission", "readOnly", "--key-file", ann.keyFile])
        #expect(said.errors.contains("had readWrite before, and has readOnly now"), "\(said.errors)")
        _ = try await bob(
            "record", "save", "--zone", "Notes", "--owner", ann.name, "--type", "Note", "--name", "second", status: 77)
    }

    @Test func participantsAreManagedFromTheCommandLine() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob, carol) = await (try User(server, "ann"), try User(server, "bob"), try User(server, "carol"))
        _ = try await ann("zone", "create", "Notes")
        _ = try await ann(
            "record", "save", "--zone", "Notes", "--type", "Note", "--name", "first", "--seal", "title=Plans")
        _ = try await ann("share", "create", "Notes", "--title", "Our notes")
        let url = try await ann("share", "invite", "Notes", bob.name, "--permission", "readWrite", "--quiet")
        let shown = try await bob("share", "preview", url)
        #expect(shown.contains("\"Our notes\""), "\(shown)")
        #expect(shown.contains("title by    \(ann.name) (owner), "), "\(shown)")
        #expect(try await bob("share", "preview", url, "--json").contains("\"previewAuthor\":\"\(ann.name)\""))
        _ = try await bob("share", "accept", url)
        // An administrator, from its own key file.
        _ = try await bob("share", "show", "Notes", "--owner", ann.name)
        _ = try await bob("share", "invite", "Notes", carol.name, "--owner", ann.name, status: 77)
        _ = try await ann("share", "role", "Notes", bob.name, "administrator")
        let shareURL = try await bob("share", "url", "Notes", "--owner", ann.name, "--quiet")
        #expect(shareURL == url)
        let single = try await bob(
            "share", "invite", "Notes", "--one-time", "--expires-in", "7", "--owner", ann.name, "--quiet")
        _ = try await carol("share", "accept", single)
        #expect(try await carol("record", "list", "--zone", "Notes", "--owner", ann.name, "--quiet").contains("first"))
        _ = try await bob("share", "block", "Notes", carol.name, "--owner", ann.name)
        _ = try await carol("record", "list", "--zone", "Notes", "--owner", ann.name, status: 66)
        _ = try await ann("share", "unblock", "Notes", carol.name)
        _ = try await ann("share", "unblock", "Notes", carol.name, status: 66)

        // Asking for access.
        _ = try await carol("share", "request", url, "--contact", "Carol", status: 66)
        _ = try await ann("share", "requests", "Notes", "--allow", "on")
        _ = try await carol("share", "request", url, "--contact", "Carol, from next door")
        #expect(try await ann("share", "requests", "Notes").contains("Carol, from next door"))
        _ = try await ann("share", "deny", "Notes", carol.name)
        _ = try await ann("share", "approve", "Notes", carol.name, status: 66)
        _ = try await carol("share", "request", url, "--contact", "Carol")
        _ = try await ann("share", "approve", "Notes", carol.name, "--permission", "readWrite")
        _ = try await carol("share", "accept", url)
        _ = try await carol("share", "leave", "Notes", "--owner", ann.name)

        // The public, and the end.
        #expect(try await ann("share", "public", "Notes", "readOnly", "--quiet") == url)
        _ = try await carol("share", "accept", url)
        let open = try await ann("share", "show", "Notes")
        #expect(open.contains("publicUser"))
        #expect(open.contains("whoever has the URL may join: readOnly"), "\(open)")
        // Said once more, without a title: it stays.
        _ = try await ann("share", "create", "Notes")
        #expect(try await ann("share", "show", "Notes").contains("\"Our notes\""))
        _ = try await ann("share", "public", "Notes", "none")
        _ = try await carol("record", "list", "--zone", "Notes", "--owner", ann.name, status: 66)
        _ = try await ann("share", "stop", "Notes", "--yes")
        _ = try await bob("record", "list", "--zone", "Notes", "--owner", ann.name, status: 66)
        _ = try await ann("share", "show", "Notes", status: 66)
        #expect(try await ann("record", "list", "--zone", "Notes", "--quiet").contains("first"))
        _ = try await ann("share", "invite", "Notes", status: 64)
    }

    @Test func whoIsMeantAndWhoMayStillComeInIsShown() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob) = await (try User(server, "ann"), try User(server, "bob"))
        func said(_ arguments: String...) async throws -> Command {
            try await Command.finished(ServerProcess.executable, arguments + ["--key-file", ann.keyFile])
        }
        _ = try await ann("zone", "create", "Notes")
        _ = try await ann("share", "create", "Notes", "--title", "Our notes")
        // Whom the server has named, and how to find out whether it is that person.
        let invited = try await ann("share", "invite", "Notes", bob.name)
        #expect(invited.contains("\(bob.name)  not verified"), "\(invited)")
        #expect(invited.contains("sealkit contact verify \(bob.name)"), "\(invited)")
        let url = try await ann("share", "url", "Notes", "--quiet")
        let preview = try await bob("share", "preview", url)
        #expect(preview.contains("owner       \(ann.name)  not verified"), "\(preview)")
        #expect(preview.contains("sealkit contact show \(ann.name)"), "\(preview)")
        let accepted = try await bob("share", "accept", url)
        #expect(accepted.contains("\(ann.name)  not verified"), "\(accepted)")
        #expect(accepted.contains("sealkit contact verify \(ann.name)"), "\(accepted)")
        let shown = try await said("share", "show", "Notes")
        #expect(
            shown.output.split(separator: "\n").contains { $0.contains(ann.name) && $0.hasSuffix("  you") },
            "\(shown.output)")
        #expect(shown.output.contains("not verified"), "\(shown)")
        #expect(shown.errors.contains("sealkit contact verify"), "\(shown)")
        let number = try await bob("contact", "show", ann.name, "--quiet")
        _ = try await ann("contact", "verify", bob.name, number)
        let again = try await ann("share", "show", "Notes").split(separator: "\n").filter { $0.contains(bob.name) }
        #expect(again.count == 1, "\(again)")
        #expect(again.allSatisfy { $0.hasSuffix("  verified") }, "\(again)")
        #expect(try await ann("share", "show", "Notes", "--json").contains("\"isVerified\":true"))

        _ = try await ann("share", "invite", "Notes", "--one-time")
        let removed = try await said("share", "remove", "Notes", bob.name)
        #expect(removed.status == 0, "\(removed)")
        #expect(removed.errors.contains("one-time URLs may still accept"), "\(removed)")
        #expect(
            removed.errors.contains("sealkit share remove --key-file=\(ann.keyFile.inShell) Notes <id>"), "\(removed)")
    }

    @Test func aZoneIsMadeToBeSharedAsAWholeOnly() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await User(server, "ann")
        _ = try await ann("zone", "create", "Diary", "--encryption-scope", "per-zone")
        #expect(try await ann("zone", "list").contains("encrypted per zone"))
        #expect(try await ann("zone", "list", "--json").contains("\"encryptionScope\":\"per-zone\""))
        _ = try await ann(
            "record", "save", "--zone", "Diary", "--type", "Note", "--name", "first", "--seal", "title=Plans")
        _ = try await ann("share", "create", "Diary", "--record", "first", status: 65)
        _ = try await ann("share", "create", "Diary")
        _ = try await ann("zone", "create", "Notes")
        _ = try await ann("zone", "create", "Notes", "--encryption-scope", "per-zone", status: 65)
        _ = try await ann("zone", "create", "Other", "--encryption-scope", "whole", status: 64)
    }

    private func run(_ arguments: [String], _ keyFile: URL) async throws -> Command {
        try await Command.finished(ServerProcess.executable, arguments, environment: ["SEALKIT_KEY_FILE": keyFile.path])
    }

    @Test func aRecordIsSharedShownAndLeft() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob) = (
            server.folder.appendingPathComponent("ann.json"), server.folder.appendingPathComponent("bob.json")
        )
        for keyFile in [ann, bob] {
            #expect(try await run(["account", "create", "--server", server.origin], keyFile).status == 0)
        }
        #expect(try await run(["zone", "create", "Lists"], ann).status == 0)
        for name in ["groceries", "private"] {
            let save = [
                "record", "save", "--zone", "Lists", "--type", "Note", "--name", name, "--seal", "title=\(name)",
            ]
            #expect(try await run(save, ann).status == 0)
        }
        let create = ["share", "create", "Lists", "--record", "groceries", "--title", "Groceries"]
        let created = try await run(create, ann)
        #expect(created.status == 0, "\(created.errors)")
        // Again it is the same share.
        #expect(try await run(create, ann).status == 0)
        let shown = try await run(["share", "show", "Lists", "--record", "groceries"], ann)
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.output.contains("Groceries"), "\(shown.errors)")
        let none = try await run(["share", "show", "Lists", "--record", "private"], ann)
        #expect(none.status == 66, "\(none.errors)")
        #expect(none.errors.contains("not the root of a share"), "\(none.errors)")
        let whole = try await run(["share", "create", "Lists"], ann)
        #expect(whole.status != 0, "\(whole.errors)")
        #expect(whole.errors.contains("shared"), "\(whole.errors)")
        let leave = try await run(
            ["share", "leave", "Lists", "--owner", "_00000000000000000000000000000000", "--record", "groceries"], bob)
        #expect(leave.status == 66, "\(leave.errors)")
    }

    @Test func aRecordsParticipantsAreManaged() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob, carol) = await (try User(server, "ann"), try User(server, "bob"), try User(server, "carol"))
        _ = try await ann("zone", "create", "Lists")
        for name in ["groceries", "books"] {
            _ = try await ann(
                "record", "save", "--zone", "Lists", "--type", "Note", "--name", name, "--seal", "title=\(name)")
            _ = try await ann("share", "create", "Lists", "--record", name, "--title", "All \(name)")
        }
        let url = try await ann(
            "share", "invite", "Lists", bob.name, "--record", "groceries", "--permission", "readWrite", "--quiet")
        #expect(try await ann("share", "url", "Lists", "--record", "groceries", "--quiet") == url)
        #expect(try await ann("share", "url", "Lists", "--record", "books", "--quiet") != url)
        _ = try await bob("share", "accept", url)
        #expect(
            try await bob("record", "list", "--zone", "Lists", "--owner", ann.name, "--quiet").contains("groceries"))
        _ = try await bob("record", "get", "--zone", "Lists", "--owner", ann.name, "books", status: 66)
        // One share's participants are not the other's.
        #expect(try await ann("share", "show", "Lists", "--record", "groceries").contains(bob.name))
        #expect(try await !ann("share", "show", "Lists", "--record", "books").contains(bob.name))
        _ = try await ann("share", "permission", "Lists", bob.name, "readOnly", "--record", "books", status: 66)
        _ = try await ann("share", "permission", "Lists", bob.name, "readOnly", "--record", "groceries")
        #expect(try await ann("share", "show", "Lists", "--record", "groceries").contains("readOnly"))
        _ = try await bob(
            "record", "save", "--zone", "Lists", "--owner", ann.name, "--type", "Note", "--name", "groceries", "--seal",
            "title=mine",
            status: 77)
        // A URL of its own, which the share keeps.
        let once = try await ann("share", "invite", "Lists", "--one-time", "--record", "groceries", "--quiet")
        let invited = try await ann("share", "show", "Lists", "--record", "groceries", "--quiet").split(separator: "\n")
            .map(String.init)
        let seat = try #require(invited.last)
        #expect(try await ann("share", "url", "Lists", "--record", "groceries", "--for", seat, "--quiet") == once)
        _ = try await ann("share", "remove", "Lists", seat, "--record", "groceries")
        _ = try await carol("share", "accept", once, status: 66)
        _ = try await ann("share", "remove", "Lists", bob.name, "--record", "groceries")
        _ = try await bob("record", "list", "--zone", "Lists", "--owner", ann.name, status: 66)
        // A record that is the root of nothing, and a share that ended.
        _ = try await ann("share", "stop", "Lists", "--record", "books", "--yes")
        _ = try await ann("share", "invite", "Lists", carol.name, "--record", "books", status: 66)
        _ = try await ann("share", "url", "Lists", "--record", "nothing", status: 66)
    }
}
