import ArgumentParser
import Foundation
import SealLab
import Testing

@testable import SealKit
@testable import sealkit

/// Commands that are printed to be run, run as they are printed.
@Suite(.timeLimit(.minutes(60))) struct AdvisedCommandTests {
    private struct User {
        let server: ServerProcess
        let keyFile: String
        let name: String

        init(_ server: ServerProcess, _ name: String) async throws {
            self.server = server
            // A blank, as folders have them.
            keyFile = server.folder.appendingPathComponent("\(name)'s keys.json").path
            let made = try await Command.finished(
                ServerProcess.executable, ["account", "create", "--server", server.origin, "--key-file", keyFile])
            #expect(made.status == 0, "\(made.errors)")
            let whoami = try await Command.finished(
                ServerProcess.executable, ["account", "whoami", "--quiet", "--key-file", keyFile])
            self.name = whoami.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// - Parameter words: two of the command, and its arguments.
        func said(_ words: String...) async throws -> Command { try await said(words) }

        @discardableResult
        func callAsFunction(_ words: String...) async throws -> String {
            try await said(words).output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        private func said(_ words: [String]) async throws -> Command {
            let said = try await Command.finished(
                ServerProcess.executable, words.prefix(2) + ["--key-file", keyFile] + words.dropFirst(2))
            #expect(said.status == 0, "\(words): \(said.errors)")
            return said
        }
    }

    /// A shell's, in the server's folder.
    private func run(_ line: String, _ server: ServerProcess) async throws -> Command {
        let programs = ServerProcess.executable.deletingLastPathComponent().path
        let said = try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "cd \(server.folder.path.inShell) && \(line)"],
            environment: ["PATH": "\(programs):/usr/bin:/bin"])
        #expect(said.status == 0, "\(line): \(said.errors)")
        return said
    }

    /// What is printed after some words, to the end of their line.
    private func line(after words: String, in text: String) throws -> String {
        let begin = try #require(text.range(of: words), "\(text)").upperBound
        return String(text[begin...].prefix { $0 != "\n" })
    }

    /// Its owner chooses a zone's name, and whoever accepts the share runs what is printed.
    @Test func aZonesNameIsOneWordToTheShell() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob) = await (try User(server, "ann"), try User(server, "bob"))
        for zone in ["a'; id>stolen; 'b", "$(id>stolen)", "-x Our notes", #"back\slash"#] {
            try await ann("zone", "create", "--", zone)
            try await ann("record", "save", "--zone=\(zone)", "--type", "Note", "--name", "first")
            let share = AdvisedShare(
                zone: zone, try SharedRecordOption.parse([]), try GlobalOptions.parse(["--key-file", ann.keyFile]))
            _ = try await run(share.command("create"), server)
            _ = try await run(share.command("public") + " readOnly", server)
            let url = try await run(share.command("url", " --quiet"), server).output
            let accepted = try await bob("share", "accept", url.trimmingCharacters(in: .newlines))
            let read = try await run(try line(after: "Read it with: ", in: accepted), server)
            #expect(read.output.contains("first"), "\(accepted)\(read)")
        }
        #expect(!FileManager.default.fileExists(atPath: server.folder.appendingPathComponent("stolen").path))
    }

    /// An administrator has a zone of the same name, and a share of it.
    @Test func whatIsAdvisedOfAShareIsOfThatShare() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob, carol) = await (try User(server, "ann"), try User(server, "bob"), try User(server, "carol"))
        for user in [ann, bob] {
            try await user("zone", "create", "Notes")
            try await user("share", "create", "Notes")
        }
        let invitation = try await ann(
            "share", "invite", "Notes", bob.name, "--permission", "readWrite", "--quiet")
        try await bob("share", "accept", invitation)
        try await ann("share", "role", "Notes", bob.name, "administrator")
        let open = try await ann("share", "public", "Notes", "readOnly", "--quiet")
        try await carol("share", "accept", open)
        let removed = try await bob.said("share", "remove", "Notes", carol.name, "--owner", ann.name)
        let url = try await bob("share", "url", "Notes", "--owner", ann.name, "--quiet")
        let shown = try await run(try line(after: "See: ", in: removed.errors), server)
        #expect(shown.output.contains(url), "\(removed.errors)\(shown)")
        #expect(try await !shown.output.contains(bob("share", "url", "Notes", "--quiet")), "\(removed.errors)")

        // Whoever wants to be rid of the share is not sent to what destroys its records.
        let oneself = ["share", "remove", "--key-file", ann.keyFile, "Notes", ann.name]
        let refused = try await Command.finished(ServerProcess.executable, oneself)
        #expect(refused.status == 77 && !refused.errors.contains("delete"), "\(refused)")
        let advice = try line(after: "keep its records: ", in: refused.errors)
        let stop = String(try #require(advice.split(separator: " [").first, "\(advice)"))
        _ = try await run(stop.replacing("share stop", with: "share stop --yes"), server)
        let ended = try await Command.finished(
            ServerProcess.executable, ["share", "show", "--key-file", ann.keyFile, "Notes"])
        #expect(ended.status == 66, "\(ended)")
        try await ann("record", "list", "--zone", "Notes")

        // Of a record's share.
        try await ann("zone", "create", "Lists")
        try await ann("record", "save", "--zone", "Lists", "--type", "Note", "--name", "groceries")
        try await ann("share", "create", "Lists", "--record", "groceries")
        try await ann("share", "invite", "Lists", carol.name, "--record", "groceries")
        let once = try await ann("share", "invite", "Lists", "--one-time", "--record", "groceries", "--json")
        let seat = try #require(
            (try JSONSerialization.jsonObject(with: Data(once.utf8)) as? [String: Any])?["participantID"] as? String)
        let also = try await ann.said("share", "remove", "Lists", carol.name, "--record", "groceries")
        let advised = also.errors.replacing("<id>", with: seat.inShell)
        _ = try await run(try line(after: "take one back: ", in: advised), server)
        #expect(try await !ann("share", "show", "Lists", "--record", "groceries").contains(seat))
    }
}
