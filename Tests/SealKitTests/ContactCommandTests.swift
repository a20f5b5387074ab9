import Foundation
import SealLab
import Testing

/// People on the command line: by the names that the user has given them, wherever a person is shown or asked for.
@Suite(.timeLimit(.minutes(60))) struct ContactCommandTests {
    private struct User {
        let keyFile: String
        var environment: [String: String] = [:]

        init(_ server: ServerProcess, _ name: String) async throws {
            keyFile = server.folder.appendingPathComponent("\(name).json").path
            _ = try await self("account", "create", "--server", server.origin)
        }

        var id: String {
            get async throws {
                try await self("account", "whoami", "--quiet").output.trimmingCharacters(in: .whitespacesAndNewlines)
            }
        }

        @discardableResult
        func callAsFunction(_ arguments: String..., status: Int32 = 0) async throws -> Command {
            let said = try await Command.finished(
                ServerProcess.executable, arguments + ["--key-file", keyFile], environment: environment)
            #expect(said.status == status, "\(arguments): \(said.output)\(said.errors)")
            return said
        }
    }

    @Test func namesAreShownAndTakenWhereverAPersonIs() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob, carol) = await (try User(server, "ann"), try User(server, "bob"), try User(server, "carol"))
        let (annID, bobID, carolID) = await (try ann.id, try bob.id, try carol.id)
        try await ann("contact", "name", bobID, "Bob")
        #expect(try await ann("contact", "list").output == "\(bobID) (Bob)  keys not seen yet\n")
        try await ann("zone", "create", "Notes")
        try await ann("share", "create", "Notes", "--title", "Our notes")
        let invited = try await ann("share", "invite", "Notes", "bob", "--permission", "readWrite")
        let nobody = try await ann("share", "invite", "Notes", "Bbo", status: 66)
        #expect(nobody.errors.contains("nobody is called Bbo"), "\(nobody.errors)")
        #expect(invited.output.contains("\(bobID) (Bob)  not verified"), "\(invited.output)")
        #expect(invited.output.contains("Send the share's URL to \(bobID) (Bob)"), "\(invited.output)")
        let url = try await ann("share", "url", "Notes", "--quiet").output.trimmingCharacters(
            in: .whitespacesAndNewlines)
        try await bob("contact", "name", annID, "Ann")
        #expect(try await bob("share", "preview", url).output.contains("owner       \(annID) (Ann)"))
        try await bob("share", "accept", url)
        #expect(try await bob("zone", "list").output.contains("--owner \(annID) (Ann)"))
        try await bob(
            "record", "save", "--zone", "Notes", "--owner", "Ann", "--type", "Note", "--name", "first", "--seal",
            "title=Plans")
        let record = try await ann("record", "get", "first", "--zone", "Notes")
        #expect(record.output.contains("\(bobID) (Bob) (signature verified)"), "\(record.output)")
        #expect(record.output.contains("creator   \(bobID) (Bob)"), "\(record.output)")
        #expect(try await ann("record", "list", "--zone", "Notes", "--json").output.contains("\"authorName\":\"Bob\""))
        #expect(try await ann("share", "show", "Notes").output.contains("\(bobID) (Bob)"))
        #expect(try await ann("share", "show", "Notes", "--json").output.contains("\"name\":\"Bob\""))
        #expect(try await ann("contact", "show", "BOB").output.contains("\(bobID) (Bob)  not compared"))
        let number = try await bob("contact", "show", "Ann", "--quiet").output
        let part = try await ann("contact", "verify", "Bob", "12345", "67890", status: 65)
        #expect(part.errors.contains("60 digits, and these are 10"), "\(part.errors)")
        try await ann("contact", "verify", "Bob", String(repeating: "12345", count: 12), status: 76)
        try await ann("contact", "verify", "Bob", number)
        #expect(try await ann("contact", "list", "--json").output.contains("\"name\":\"Bob\""))
        try await ann("share", "permission", "Notes", "Bob", "readOnly")
        #expect(try await ann("audit").output.contains("1 contact, 1 verified"))

        // A name that reads like another participant's id could mean either; one's own is taken too.
        try await ann("share", "invite", "Notes", carolID)
        let shown = try await ann("share", "show", "Notes").output.split(separator: "\n").first { $0.contains(carolID) }
        let words = try #require(shown).split(separator: " ")
        let seat = String(words[try #require(words.firstIndex(of: "id")) + 1])
        for name in [seat, String(bobID.dropFirst()), "You", "", "0151 2345678", "bob@example.org"] {
            let refused = try await ann("contact", "name", bobID, name, status: 65)
            #expect(refused.errors.contains("this is no name for somebody"), "\(name): \(refused.errors)")
        }
        try await carol("share", "accept", url)
        // What stands for a seat that is nobody's yet may be somebody's name as well.
        let nobodys = "Whoever has the URL"
        try await ann("share", "invite", "Notes", "--one-time")
        try await ann("contact", "name", bobID, nobodys)
        let either = try await ann("share", "remove", "Notes", nobodys, status: 65)
        #expect(either.errors.contains("the name that you have given another"), "\(either.errors)")
        #expect(either.errors.contains("take the id or user name"), "\(either.errors)")
        try await ann("contact", "name", bobID, "Bob")
        // Of several seats that are nobody's yet, none is taken for the one that was meant.
        try await ann("share", "invite", "Notes", "--one-time")
        let which = try await ann("share", "remove", "Notes", nobodys, status: 65)
        #expect(which.errors.contains("2 participants of the share go by"), "\(which.errors)")
        try await ann("share", "remove", "Notes", "Bob")
        try await ann("share", "block", "Notes", carolID)
        try await ann("contact", "name", carolID, "Carol")
        try await ann("share", "unblock", "Notes", "Carol")

        // Nothing of it needs the server, and nothing of it gets there.
        server.terminate()
        try await ann("contact", "name", "Bob", "Robert the Xylophonist")
        try await ann("contact", "name", bobID, "Carol", status: 65)
        try await ann("contact", "name", bobID, "Bob\u{7}", status: 65)
        try await ann("contact", "name", "nobody", "Bob", status: 66)
        try await ann("contact", "name", "_nobody", "Bob", status: 65)
        try await ann("contact", "name", bobID, status: 64)
        try await ann("contact", "name", bobID, "Bob", "--remove", status: 64)
        try await ann("contact", "name", carolID, "--remove")
        let local = try await ann("account", "whoami", "--quiet")
        #expect(local.output.trimmingCharacters(in: .whitespacesAndNewlines) == annID)
        let annsFiles = server.folder.appendingPathComponent("ann.json.trust")
        try FileManager.default.removeItem(at: annsFiles)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: annsFiles.path + suffix) }
        #expect(server.everything.range(of: Data("Xylophonist".utf8)) == nil)
    }

    /// In a container, too, in which nobody of them has done anything yet.
    @Test func anAccountThatWasOnlyMadeIsInvitedAtOnce() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        var (ann, bob) = await (try User(server, "ann"), try User(server, "bob"))
        ann.environment["SEALKIT_CONTAINER"] = "org.example.other"
        bob.environment["SEALKIT_CONTAINER"] = "org.example.other"
        try await ann("zone", "create", "Notes")
        try await ann("share", "create", "Notes")
        try await ann("share", "invite", "Notes", try bob.id)
        let unknown = try await ann("share", "invite", "Notes", "_" + String(repeating: "0", count: 32), status: 66)
        #expect(unknown.errors.contains("org.example.other"), "\(unknown.errors)")
    }

    @Test func argumentsThatAreNoTextAreRefused() async throws {
        for arguments in [
            "record get \"$(printf 'a\\377')\" --zone Notes", "zone create \"$(printf '\\303')\"",
            "\"$(printf '\\200')\"",
        ] {
            let said = try await Command.finished(
                URL(fileURLWithPath: "/bin/sh"), ["-c", "exec '\(ServerProcess.executable.path)' \(arguments)"],
                environment: ["SEALKIT_KEY_FILE": "/nowhere/key.json"])
            #expect(said.status == 64, "\(said.errors)")
            #expect(said.errors.contains("is not UTF-8"), "\(said.errors)")
        }
        let typed = try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "printf 'four words that nobody says\\351\\n' | '\(ServerProcess.executable.path)' account recover --recovery-name ann --server http://127.0.0.1:1 --key-file ./never.json",
            ])
        #expect(typed.status == 65, "\(typed.errors)")
        #expect(typed.errors.contains("not UTF-8"), "\(typed.errors)")
    }

    // MARK: Watching

    @Test func watchSaysThatThereIsNothingToWatchAndWhenTheServerIsAway() async throws {
        var server = try ServerProcess(mail: false)
        let (folder, port) = (server.folder, server.port)
        let ann = try await User(server, "ann")
        let (output, errors) = (folder.appendingPathComponent("watched"), folder.appendingPathComponent("said"))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            "exec '\(ServerProcess.executable.path)' watch --key-file '\(ann.keyFile)' > '\(output.path)' 2> '\(errors.path)'",
        ]
        process.standardInput = FileHandle.nullDevice
        try process.start()
        defer {
            kill(process.processIdentifier, SIGKILL)
            server.stop()
        }
        func text(_ file: URL) -> String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }
        func comes(_ words: String, in file: URL) async throws {
            for _ in 0..<1_200 where !text(file).contains(words) { try await Task.sleep(for: .milliseconds(50)) }
            #expect(text(file).contains(words), "\(text(output))\(text(errors))")
        }
        try await comes("watching", in: output)
        try await comes("nothing to watch", in: errors)
        server.terminate()
        try await comes("the server is away", in: errors)
        server = try ServerProcess(folder: folder, port: port, mail: false)
        try await comes("the server is back", in: errors)
        // It has gone on.
        try await ann("subscription", "create", "everything")
        try await ann("zone", "create", "Notes")
        try await ann("record", "save", "--zone", "Notes", "--type", "Note", "--name", "first")
        try await comes("everything", in: output)
        #expect(!text(output).contains("away"))
        #expect(process.isRunning)
    }
}
