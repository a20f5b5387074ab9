import Foundation
import SealLab
import Testing

@testable import SealKit
@testable import sealkit

/// What nothing brings back is asked for once more: at the terminal, or by `--yes`.
@Suite(.timeLimit(.minutes(60))) struct ConfirmationTests {
    private let home: TemporaryFolder
    private let server: ServerProcess

    init() async throws {
        home = try TemporaryFolder()
        server = try ServerProcess(mail: false)
        #expect(try await run("account", "create", "--server", server.origin).status == 0)
    }

    private var environment: [String: String] {
        [
            "SEALKIT_KEY_FILE": home.url.appendingPathComponent("ann.json").path, "SEALKIT_ACCOUNT": "",
            "HOME": home.url.path,
        ]
    }

    private func run(_ arguments: String...) async throws -> Command {
        try await Command.finished(ServerProcess.executable, arguments, environment: environment)
    }

    /// Nobody answers, another answer than what was asked for, the answer: nothing happens but for the last.
    /// - Parameter isUndone: whether nothing has happened.
    private func expectAsked(
        _ arguments: String..., naming question: String, word: String, isUndone: () async throws -> Bool
    ) async throws {
        let alone = try await Command.finished(ServerProcess.executable, arguments, environment: environment)
        #expect(alone.status == 65, "\(arguments): \(alone)")
        #expect(alone.errors.contains("--yes"), "\(arguments): \(alone)")
        #expect(alone.output.isEmpty, "\(arguments): \(alone)")
        let asked = "Type \(word) to go on: "
        var undone = try await isUndone()
        #expect(undone, "\(arguments)")
        let other = try await Command.atTerminal(arguments, answers: [[asked, "yes"]], environment: environment)
        #expect(other.status == 130, "\(arguments): \(other)")
        #expect(other.output.contains(question), "\(arguments): \(other)")
        #expect(other.output.contains("nothing was changed"), "\(arguments): \(other)")
        undone = try await isUndone()
        #expect(undone, "\(arguments)")
        // Who was asked is not told of options for where nobody can be.
        let none = try await Command.atTerminal(arguments, answers: [[asked, ""]], environment: environment)
        #expect(none.status == 130, "\(arguments): \(none)")
        #expect(none.output.contains("nothing was changed"), "\(arguments): \(none)")
        undone = try await isUndone()
        #expect(undone, "\(arguments)")
        let done = try await Command.atTerminal(arguments, answers: [[asked, word]], environment: environment)
        #expect(done.output.contains(question), "\(arguments): \(done)")
        undone = try await isUndone()
        #expect(!undone, "\(arguments)")
    }

    @Test func theEndOfAZoneIsAskedFor() async throws {
        #expect(try await run("zone", "create", "Notes").status == 0)
        #expect(try await run("share", "create", "Notes").status == 0)
        try await expectAsked(
            "zone", "delete", "Notes", naming: "deletes the zone Notes with all its records", word: "Notes"
        ) {
            try await run("zone", "list", "--quiet").output == "Notes\n_defaultZone\n"
        }
        // One that is not there is no question.
        let nowhere = try await run("zone", "delete", "Nowhere")
        #expect(nowhere.status == 66, "\(nowhere)")
        #expect(try await run("zone", "create", "Other").status == 0)
        #expect(try await run("zone", "delete", "Other", "--yes").status == 0)
    }

    @Test func theEndOfAShareIsAskedFor() async throws {
        #expect(try await run("zone", "create", "Notes").status == 0)
        #expect(try await run("share", "create", "Notes").status == 0)
        #expect(try await run("share", "invite", "Notes", "--one-time").status == 0)
        try await expectAsked(
            "share", "stop", "Notes", naming: "everybody out of Notes (participants and invitations: 1)", word: "Notes"
        ) {
            try await run("share", "show", "Notes").status == 0
        }
    }

    @Test func theEndOfAForkIsAskedFor() async throws {
        #expect(try await run("zone", "create", "Notes").status == 0)
        let alone = try await run("zone", "end-fork", "Notes")
        #expect(alone.status == 65, "\(alone)")
        #expect(alone.errors.contains("--yes"), "\(alone)")
    }

    @Test func aDeviceThatRevokesItselfIsAsked() async throws {
        let id = try await run("device", "list", "--quiet").output.trimmingCharacters(in: .newlines)
        try await expectAsked("device", "revoke", id, naming: "the device that this runs on", word: "revoke") {
            try await run("zone", "list").status == 0
        }
    }

    @Test func theEndOfAnAccountNamesIt() async throws {
        let user = try await run("account", "whoami", "--quiet").output.trimmingCharacters(in: .newlines)
        try await expectAsked("account", "delete", naming: user, word: "delete") {
            try await run("account", "status").status == 0
        }
        // By its name on this machine.
        let named = ["HOME": home.url.path, "SEALKIT_KEY_FILE": "", "SEALKIT_ACCOUNT": ""]
        let made = try await Command.finished(
            ServerProcess.executable, ["account", "create", "--server", server.origin, "--account", "work"],
            environment: named)
        #expect(made.status == 0, "\(made)")
        for (arguments, question, word) in [
            (["account", "reset", "--account", "work"], "of the account work on", "reset"),
            (["account", "delete", "--account", "work"], "deletes the account work at", "delete"),
            (["account", "remove", "work"], "the keys of the account work", "work"),
        ] {
            let other = try await Command.atTerminal(
                arguments, answers: [["Type \(word) to go on: ", "no"]], environment: named)
            #expect(other.status == 130, "\(arguments): \(other)")
            #expect(other.output.contains(question), "\(arguments): \(other)")
        }
    }
}
