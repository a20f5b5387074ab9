import ArgumentParser
import Foundation
import SealLab
import Testing

@testable import SealKit
@testable import sealkit

/// What a command could not say is not taken for said: its exit code tells, and nothing rests on it.
@Suite(.timeLimit(.minutes(60))) struct OutputTests {
    private let home: TemporaryFolder
    private let server: ServerProcess

    init() throws {
        home = try TemporaryFolder()
        server = try ServerProcess(mail: false)
    }

    private var keyFile: String { home.url.appendingPathComponent("ann.json").path }
    private var operatorToken: String { server.folder.appendingPathComponent("data.secrets/management.token").path }
    private var environment: [String: String] {
        ["SEALKIT_KEY_FILE": keyFile, "SEALKIT_ACCOUNT": "", "HOME": home.url.path]
    }

    private func run(_ arguments: String..., typing: String = "") async throws -> Command {
        try await run(arguments, typing: typing)
    }

    /// - Parameter output: where the shell sends standard output.
    private func run(_ arguments: [String], typing: String = "", output: String = "") async throws -> Command {
        let file = home.url.appendingPathComponent("typed-\(UUID().uuidString)")
        try Data(typing.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "exec \"$@\" < '\(file.path)' \(output)", "sh", ServerProcess.executable.path] + arguments,
            environment: environment)
    }

    /// On a disk that is full.
    private func runFull(_ arguments: String..., typing: String = "") async throws -> Command {
        try await run(arguments, typing: typing, output: "> /dev/full")
    }

    private func create() async throws -> String {
        let made = try await run("account", "create", "--quiet", "--server", server.origin)
        #expect(made.status == 0, "\(made.errors)")
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: Every command

    /// The words of every command that somebody can call.
    private static func commands(_ type: any ParsableCommand.Type = SealKitCommand.self, _ words: [String] = [])
        -> [[String]]
    {
        let configuration = type.configuration
        return [words]
            + configuration.subcommands.flatMap { commands($0, words + [$0._commandName]) }
    }

    @Test func theHelpOfEveryCommandThatCannotBeWrittenIsAnError() async throws {
        let all = Self.commands()
        #expect(all.count > 80)
        // By one shell, which tells the status of each.
        let script = all.map { "\"$0\" \(($0 + ["--help"]).joined(separator: " ")) > /dev/full; echo $?" }.joined(
            separator: "\n")
        let said = try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script, ServerProcess.executable.path], environment: environment)
        #expect(said.output.split(separator: "\n") == Array(repeating: "73", count: all.count), "\(said.output)")
        #expect(said.errors.components(separatedBy: "standard output could not be written").count == all.count + 1)
        #expect(try await run(["--version"], output: "> /dev/full").status == 73)
    }

    @Test func whatEveryCommandSaysIsWrittenOrAnError() async throws {
        _ = try await create()
        for arguments in [
            ["zone", "create", "Notes"], ["share", "create", "Notes"], ["subscription", "create", "all"],
            [
                "record", "save", "--zone", "Notes", "--type", "Note", "--name", "first", "--seal", "title=Plans",
                "--set", "folder=work",
            ],
        ] {
            #expect(try await run(arguments).status == 0)
        }
        let operate = ["--server", server.origin, "--management-token-file", operatorToken]
        let asking: [[String]] = [
            ["account", "whoami"], ["account", "status"], ["account", "passphrase", "--remove"], ["zone", "list"],
            ["zone", "create", "Other"],
            ["zone", "keys", "Notes"], ["zone", "rotate", "Notes"], ["zone", "rekey", "Notes"],
            ["record", "list", "--zone", "Notes"],
            ["record", "get", "first", "--zone", "Notes"],
            ["record", "get", "first", "--zone", "Notes", "--value", "title"],
            ["record", "query", "folder = 'work'", "--type", "Note", "--zone", "Notes"], ["share", "show", "Notes"],
            ["share", "invite", "Notes", "--one-time"], ["device", "list"], ["audit"], ["subscription", "list"],
            ["schema", "export"] + operate, ["admin", "token-keys", "list", "--data", server.dataFolder.path],
            ["watch"],
        ]
        // They can be done once.
        let changing: [[String]] = [
            ["record", "save", "--zone", "Notes", "--type", "Note", "--name", "second", "--set", "folder=x"],
            ["record", "delete", "second", "--zone", "Notes"], ["share", "public", "Notes", "readOnly"],
            ["share", "stop", "Notes", "--yes"],
            ["subscription", "delete", "all"], ["zone", "delete", "Other", "--yes"],
        ]
        for words in asking + asking.filter({ $0.first != "admin" }).map({ $0 + ["--json"] }) + changing {
            let said = try await run(words, output: "> /dev/full")
            #expect(said.status == 73, "\(words): \(said)")
            #expect(said.errors.contains("outputNotWritten"), "\(words): \(said)")
        }
        let isThere = try await run("zone", "list", "--quiet")
        #expect(isThere.status == 0, "\(isThere)")
        #expect(isThere.output == "Notes\n_defaultZone\n", "\(isThere)")
    }

    @Test func aReaderThatHasGoneAndAStreamThatIsClosedAreErrors() async throws {
        _ = try await create()
        #expect(try await run("zone", "create", "Notes").status == 0)
        let closed = try await run(["zone", "list"], output: ">&-")
        #expect(closed.status == 73, "\(closed)")
        #expect(closed.errors.contains("outputNotWritten"), "\(closed)")
        // Nothing that the command opens has got the number of what is closed.
        #expect(try await run("zone", "list", "--quiet").output == "Notes\n_defaultZone\n")

        let process = Process()
        let (pipe, errors) = (Pipe(), Pipe())
        process.executableURL = ServerProcess.executable
        process.arguments = ["zone", "list"]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, pipe, errors)
        try pipe.fileHandleForReading.close()
        try process.start()
        let said = await errors.text()
        await process.end()
        #expect(process.terminationReason == .exit, "\(said)")
        #expect(process.terminationStatus == 73, "\(said)")
    }

    @Test func aServerThatCannotSayThatItListensEnds() async throws {
        let data = home.url.appendingPathComponent("data").path
        let said = try await run(["serve", "--data", data, "--listen", "127.0.0.1:0"], output: "> /dev/full")
        #expect(said.status == 73, "\(said.errors)")
    }

    // MARK: What is shown once

    @Test func aRecoveryKeyCountsUntilTheNextWasWritten() async throws {
        let first = try await create()
        #expect(try await run("zone", "create", "garden").status == 0)
        for arguments in [["account", "recovery-key"], ["account", "rotate-keys"], ["account", "reset", "--yes"]] {
            for flags in [[], ["--json"], ["--quiet"]] {
                let said = try await run(arguments + flags, output: "> /dev/full")
                #expect(said.status == 73, "\(arguments): \(said)")
                #expect(said.errors.contains("still does"), "\(arguments): \(said)")
                #expect(!said.errors.contains("is void"))
                let checked = try await run("account", "recovery-key", "--check", typing: first + "\n")
                #expect(checked.status == 0, "\(arguments): \(checked.errors)")
            }
        }
        #expect(try await run("zone", "list", "--quiet").output == "garden\n_defaultZone\n")
        // As it was printed, with what is said about it.
        let printed = try await run("account", "recovery-key").output
        #expect(try await run("account", "recovery-key", "--check", typing: printed).status == 0)
        let second = try await run("account", "recovery-key", "--quiet").output
        #expect(try await run("account", "recovery-key", "--check", typing: second).status == 0)
        #expect(try await run("account", "recovery-key", "--check", typing: first + "\n").status == 66)
    }

    /// A file that the system has taken may still come to nothing: on the disk, it does not.
    @Test(.enabled("strace is not installed, or may not watch", { await SystemCalls.canBeWatched() }))
    func aRecoveryKeyThatGoesToAFileIsOnTheDisk() async throws {
        _ = try await create()
        let (calls, file) = (SystemCalls(in: home.url), home.url.appendingPathComponent("key"))
        let program = try calls.program(in: home.url)
        let said = try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "exec '\(program.path)' account recovery-key --quiet > '\(file.path)'"],
            environment: environment)
        #expect(said.status == 0, "\(said.errors)")
        var all: [String] = []
        // What watches it writes a little later.
        for _ in 0..<500 where !all.contains("sync key") {
            try await Task.sleep(for: .milliseconds(20))
            all = try calls.all(below: home.url)
        }
        #expect(all.contains("sync key"))
        let key = try String(contentsOf: file, encoding: .utf8)
        #expect(try await run("account", "recovery-key", "--check", typing: key).status == 0)
    }

    @Test func anAccountWhoseRecoveryKeyCouldNotBeShownIsThereAndGetsAnother() async throws {
        let said = try await runFull("account", "create", "--server", server.origin)
        #expect(said.status == 73, "\(said)")
        #expect(said.errors.contains("sealkit account recovery-key"), "\(said)")
        #expect(try await run("account", "whoami").status == 0)
        let key = try await run("account", "recovery-key", "--quiet")
        #expect(key.status == 0, "\(key.errors)")
        #expect(try await run("account", "recovery-key", "--check", typing: key.output).status == 0)
    }

    @Test func aTokenThatCouldNotBeShownIsNobodys() async throws {
        let options = [
            "--server", server.origin, "--container", "org.example.notes", "--management-token-file", operatorToken,
        ]
        let made = try await run(["management-token", "create", "--name", "CI"] + options, output: "> /dev/full")
        #expect(made.status == 73, "\(made)")
        let list = try await run(["management-token", "list"] + options)
        #expect(list.status == 0, "\(list)")
        #expect(list.output.isEmpty, "\(list)")
    }

    // MARK: What lies beside the key file

    /// README names one file: nothing of it is elsewhere once a command has ended, well or not.
    @Test func whatWasVerifiedIsWholeInItsFileWhenACommandHasEnded() async throws {
        _ = try await create()
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: home.url.path).sorted() }
        #expect(try names() == ["ann.json", "ann.json.trust"])
        for (arguments, status) in [
            (["zone", "create", "Notes"], 0), (["record", "get", "nothing", "--zone", "Notes"], 66),
            (["record", "get", "x", "--zone", "Nowhere"], 66),
            (["record", "list", "--zone", "Notes"], 0), (["account", "delete"], 65),
        ] as [([String], Int32)] {
            #expect(try await run(arguments).status == status, "\(arguments)")
            #expect(try names() == ["ann.json", "ann.json.trust"], "\(arguments)")
        }
        // A copy of the two is the same device.
        #expect(
            try await run("record", "save", "--zone", "Notes", "--type", "Note", "--name", "first", "--seal", "title=a")
                .status == 0)
        let copy = home.url.appendingPathComponent("copy.json").path
        try FileManager.default.copyItem(atPath: keyFile, toPath: copy)
        try FileManager.default.copyItem(atPath: keyFile + ".trust", toPath: copy + ".trust")
        let audited = try await run("audit", "--key-file", copy)
        #expect(audited.status == 0, "\(audited)")
        #expect(try await run("account", "delete", "--yes", "--key-file", copy).status == 0)
        #expect(try names() == ["ann.json", "ann.json.trust"])
    }
}
