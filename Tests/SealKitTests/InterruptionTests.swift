import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import Testing

@testable import SealKit
@testable import sealkit

/// Commands that somebody ends before their time.
@Suite(.timeLimit(.minutes(60))) struct InterruptionTests {
    private let folder: TemporaryFolder
    private let server: ServerProcess

    init() throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(mail: false)
    }

    private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }
    private var environment: [String: String] { ["SEALKIT_KEY_FILE": path("ann.json")] }
    /// Without the journal of what the device has verified, which comes and goes.
    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { !$0.contains(".trust-") }
                .sorted()
        }
    }

    private func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Command {
        try await Command.finished(
            ServerProcess.executable, arguments, environment: self.environment.merging(environment) { $1 })
    }

    // MARK: At prompts

    @Test func atAPromptSignalsEndTheCommandAndLeaveTheTerminalAsItWas() async throws {
        #expect(
            try await run(
                "account", "create", "--server", server.origin, environment: ["SEALKIT_PASSPHRASE": "correct horse"]
            ).status == 0)
        let interrupted: [[String: Any]] = [
            ["keys": "hal\u{3}"], ["keys": "\u{1C}"], ["signal": Int(SIGTERM)], ["signal": Int(SIGHUP)],
            ["signal": Int(SIGINT)],
        ]
        for how in interrupted {
            let said = try await Command.atTerminal(
                ["account", "whoami"], answers: [["Passphrase of", how]], environment: environment)
            #expect(said.status == 130, "\(how): \(said.output)\(said.errors)")
            #expect(said.output.contains("operationCancelled"), "\(how): \(said.output)\(said.errors)")
        }
        // A question whose answer shows, with a secret before it that is not asked for.
        let asked = try await Command.atTerminal(
            ["account", "reset"], answers: [["Type reset", ["keys": "res\u{3}"]]],
            environment: environment.merging(["SEALKIT_PASSPHRASE": "correct horse"]) { $1 })
        #expect(asked.status == 130, "\(asked.output)\(asked.errors)")
        #expect(asked.output.contains("operationCancelled"), "\(asked.output)\(asked.errors)")
        // Stopped and taken up again, by a shell that has jobs: the terminal shows what is typed meanwhile.
        let script = "set -m; \"$0\" account whoami --quiet; stty -a | grep -oE -- '-?\\<echo\\>'; fg >/dev/null"
        let stopped = try await Command.atTerminal(
            ["-c", script, ServerProcess.executable.path],
            answers: [["Passphrase of", ["keys": "hal\u{1A}"]], ["Passphrase of", "correct horse"]],
            program: URL(fileURLWithPath: "/bin/bash"), environment: environment)
        #expect(stopped.status == 0, "\(stopped.output)\(stopped.errors)")
        #expect(!stopped.output.contains("-echo"), "\(stopped.output)\(stopped.errors)")
        #expect(stopped.output.contains("\n_"), "its user name: \(stopped.output)")
    }

    // MARK: While the server does not answer

    /// A command at work, which a server that says nothing more keeps from its end.
    private func stuck(_ arguments: [String], whenThereIs part: String) async throws -> (Process, Pipe) {
        let process = Process()
        let errors = Pipe()
        process.executableURL = ServerProcess.executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (
            FileHandle.nullDevice, FileHandle.nullDevice, errors
        )
        let (path, identifier) = (folder.url.path, server.identifier)
        // By a thread of its own: it must not come late.
        try await Thread.waiting {
            defer { kill(identifier, SIGSTOP) }
            let end = ContinuousClock.now + .seconds(60)
            func isThere() -> Bool {
                (try? FileManager.default.contentsOfDirectory(atPath: path))?.contains { $0.contains(part) } ?? false
            }
            try process.start()
            while !isThere(), ContinuousClock.now < end { usleep(1000) }
        }
        #expect(process.isRunning)
        return (process, errors)
    }

    private func end(_ stuck: (process: Process, errors: Pipe), by signal: Int32) async -> (
        status: Int32, errors: String
    ) {
        kill(stuck.process.processIdentifier, signal)
        let told = await stuck.errors.text()
        await stuck.process.end()
        kill(server.identifier, SIGCONT)
        return (stuck.process.terminationStatus, told)
    }

    private func fill() async throws {
        #expect(try await run("account", "create", "--server", server.origin).status == 0)
        #expect(try await run("zone", "create", "Notes").status == 0)
        try pattern(24 << 20).write(to: folder.url.appendingPathComponent("film"))
        let saved = try await run(
            "record", "save", "--zone", "Notes", "--type", "Film", "--name", "film", "--asset", "film=" + path("film"))
        #expect(saved.status == 0, "\(saved.errors)")
    }

    @Test func whatIsWrittenIsGoneWhenItsCommandIsCancelled() async throws {
        defer { server.stop() }
        try await fill()
        let before = try names
        let commands = [
            ["data", "export", path("archive")], ["export", "--raw", path("raw"), "--zone", "Notes"],
            ["record", "asset", "film", "film", "--zone", "Notes", "--output", path("copy")],
        ]
        for (command, signal) in zip(commands, [SIGINT, SIGTERM, SIGINT]) {
            let process = try await stuck(command, whenThereIs: ".part-")
            let said = await end(process, by: signal)
            #expect(said.status == 130, "\(command): \(said)")
            #expect(said.errors.contains("operationCancelled"), "\(command): \(said)")
            #expect(try names == before, "\(command)")
        }
    }

    /// A file is put in the place of a file, and of nothing else.
    @Test func noDeviceOrPipeIsReplacedByAFile() async throws {
        defer { server.stop() }
        try await fill()
        #expect(mkfifo(path("pipe"), 0o600) == 0)
        try Data("old".utf8).write(to: folder.url.appendingPathComponent("old"))
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("old"))
        func fetch(_ target: String) async throws -> Command {
            try await run("record", "asset", "film", "film", "--zone", "Notes", "--output", target, "--force")
        }
        for target in [path("pipe"), "/dev/null", folder.url.path, "-"] {
            let refused = try await fetch(target)
            #expect(refused.status == 65, "\(target): \(refused.errors)")
            #expect(refused.errors.contains("is no file"), "\(target): \(refused.errors)")
        }
        // What a link leads to is the file that is meant.
        #expect(try await fetch(path("link")).status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("link")) == path("old"))
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("old")) == pattern(24 << 20))
    }

    /// Nobody cleans up after SIGKILL but the next one.
    @Test func whatAKilledExportLeavesTheNextOneRemoves() async throws {
        defer { server.stop() }
        try await fill()
        let process = try await stuck(["data", "export", path("archive")], whenThereIs: ".part-")
        #expect(await end(process, by: SIGKILL).status == SIGKILL)
        #expect(try names.count { $0.hasPrefix("archive.part-") } == 1)
        // Of other names, of others' making, or in use.
        for name in ["archive.part-notes", "archive2.part-0123ABCD", "archive.part-0123abcd"] {
            try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: false)
        }
        let used = try ExportFolder(folder.url.appendingPathComponent("archive"))
        #expect(used.removedParts == 1)
        let kept = try names.filter { $0.contains(".part-") }
        #expect(kept.count == 4)
        let export = try await run("data", "export", path("archive"))
        #expect(export.status == 0, "\(export.errors)")
        #expect(!export.errors.contains("removed"), "\(export.errors)")
        #expect(try names.filter { $0.contains(".part-") } == kept)
        used.abandon()
        try FileManager.default.createDirectory(
            atPath: path("raw.part-0123ABCD/assets"), withIntermediateDirectories: true)
        let raw = try await run("export", "--raw", path("raw"), "--zone", "Notes")
        #expect(raw.status == 0, "\(raw.errors)")
        #expect(raw.errors.contains("removed 1 folder"), "\(raw.errors)")
        #expect(try !names.contains { $0.hasPrefix("raw.part-") })
    }

    @Test func whatOnlyWaitsIsCancelledToo() async throws {
        defer { server.stop() }
        #expect(try await run("account", "create", "--server", server.origin).status == 0)
        let process = Process()
        let output = Pipe()
        process.executableURL = ServerProcess.executable
        process.arguments = ["watch"]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (
            FileHandle.nullDevice, output, FileHandle.nullDevice
        )
        try process.start()
        #expect(await output.line().contains("watching"))
        kill(process.processIdentifier, SIGINT)
        await process.end()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 130)
    }

    @Test func anAccountThatIsNotMadeLeavesNothingBehind() async throws {
        defer { server.stop() }
        let nobody = try await run("account", "create", "--server", "http://127.0.0.1:1")
        #expect(nobody.status == 69, "\(nobody.errors)")
        #expect(try names == [])
        // Waiting for another device that does not come.
        let process = try await stuck(["account", "enrol", "--server", server.origin], whenThereIs: "ann.json.trust")
        #expect(await end(process, by: SIGINT).status == 130)
        #expect(try names == [])
        // What was there before is not its own to remove.
        #expect(try await run("account", "create", "--server", server.origin).status == 0)
        try FileManager.default.removeItem(atPath: path("ann.json"))
        #expect(try await run("account", "create", "--server", "http://127.0.0.1:1").status == 69)
        #expect(try names.contains("ann.json.trust"))
    }

    // MARK: Recovery keys

    @Test func aRecoveryKeyThatMayNotCountIsNotSaidToCount() async throws {
        var random = SystemRandom()
        let key = RecoveryKey(random: &random)
        let output = Output(isJSON: false, isQuiet: true)
        for isShown in [true, false] {
            let failed = await #expect(throws: SealKitError.self) {
                try await NewRecoveryKey.make(output) { show throws(SealKitError) in
                    if isShown { try await show(key) }
                    throw SealKitError(.serverResponseLost, "no answer came", remedy: "try again", retryAfter: 3)
                }
            }
            #expect(failed?.code == .serverResponseLost)
            #expect(failed?.retryAfter == 3)
            #expect(failed?.remedy.contains("sealkit account recovery-key --check") == isShown)
            #expect(failed?.remedy.contains("try again") == true)
        }
    }
}
