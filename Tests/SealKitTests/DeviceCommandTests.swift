import Foundation
import SealKit
import SealLab
import Testing

/// Devices on the command line.
@Suite(.timeLimit(.minutes(60))) struct DeviceCommandTests {
    /// A command that asks, and is answered.
    private final class Dialogue {
        private let process = Process()
        private let (input, output, errors) = (Pipe(), Pipe(), Pipe())

        init(_ arguments: [String]) throws {
            process.executableURL = ServerProcess.executable
            process.arguments = arguments + ["--quiet"]
            (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
            try process.start()
        }

        func hear() async -> String { await output.line().trimmingCharacters(in: .whitespaces) }
        func say(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

        func stop() async {
            process.terminate()
            await process.end()
        }

        func end() async -> (status: Int32, errors: String) {
            let told = await errors.text()
            await process.end()
            return (process.terminationStatus, told)
        }
    }

    private let server: ServerProcess
    private let folder: TemporaryFolder

    init() throws {
        server = try ServerProcess.shared.get()
        folder = try TemporaryFolder()
    }

    private func keyFile(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    private func run(_ name: String, _ arguments: String..., status: Int32 = 0) async throws -> (
        output: String, errors: String
    ) {
        let said = try await Command.finished(ServerProcess.executable, arguments + ["--key-file", keyFile(name)])
        #expect(said.status == status, "\(arguments): \(said.errors)")
        return (said.output.trimmingCharacters(in: .whitespacesAndNewlines), said.errors)
    }

    private func enrolment(_ name: String) async throws -> (
        new: Dialogue, old: Dialogue, codes: (new: String, old: String)
    ) {
        let new = try Dialogue(["account", "enrol", "--server", server.origin, "--key-file", keyFile(name)])
        let old = try Dialogue(["device", "approve", await new.hear(), "--key-file", keyFile("phone")])
        return (new, old, (await new.hear(), await old.hear()))
    }

    @Test func aDeviceIsEnrolledListedNamedAndTakenOff() async throws {
        _ = try await run("phone", "account", "create", "--server", server.origin)
        let whoami = try await run("phone", "account", "whoami", "--quiet").output
        // One that is told other digits hands nothing over.
        let failed = try await enrolment("failed")
        #expect(failed.codes.new == failed.codes.old)
        #expect(failed.codes.new.count == 6)
        let other = failed.codes.new == "000000" ? "000001" : "000000"
        for _ in 0..<3 { try failed.old.say(other) }
        let refused = await failed.old.end()
        #expect(refused.status == 76, "\(refused.errors)")
        #expect(refused.errors.contains("nothing was handed over"), "\(refused.errors)")
        try failed.new.say(failed.codes.old)
        #expect(await failed.new.end().status == 66)
        #expect(!FileManager.default.fileExists(atPath: keyFile("failed")))

        // The new one cannot know what the other has done.
        let alone = try await enrolment("failed")
        try alone.old.say(alone.codes.new)
        #expect(await alone.old.end().status == 0)
        for _ in 0..<3 { try alone.new.say("1234567") }
        let left = await alone.new.end()
        #expect(left.status == 76, "\(left.errors)")
        #expect(left.errors.contains("has taken nothing"), "\(left.errors)")
        #expect(left.errors.contains("is void"), "\(left.errors)")
        #expect(!left.errors.contains("nothing was handed over"))

        // Mistyped, and then right; meanwhile no other one is begun or answered with either key file.
        let desk = try await enrolment("desk")
        let late = try Dialogue(["account", "enrol", "--server", server.origin, "--key-file", keyFile("tablet")])
        let busy = try await run("phone", "device", "approve", late.hear(), status: 75)
        #expect(busy.errors.contains("one at a time"), "\(busy.errors)")
        #expect(
            try await run("desk", "account", "enrol", "--server", server.origin, status: 75).errors.contains(
                "one at a time"))
        // Nor by another way: that one's end would take away what is verified for this one.
        #expect(
            try await run("desk", "account", "create", "--server", server.origin, status: 75).errors.contains(
                "one at a time"))
        #expect(FileManager.default.fileExists(atPath: keyFile("desk") + ".trust"))
        await late.stop()
        try desk.old.say(desk.codes.new + "1")
        try desk.new.say(desk.codes.new == "000000" ? "000001" : "000000")
        try desk.old.say(desk.codes.new)
        try desk.new.say(desk.codes.old)
        let (one, another) = (await desk.new.end(), await desk.old.end())
        #expect(one.status == 0, "\(one.errors) \(another.errors)")
        #expect(another.status == 0, "\(one.errors) \(another.errors)")
        let locks = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
            $0.hasSuffix(".lock")
        }
        #expect(locks.isEmpty)
        #expect(try await run("desk", "account", "whoami", "--quiet").output == whoami)
        let list = try await run("phone", "device", "list", "--quiet").output.split(separator: "\n").map(String.init)
        #expect(list.count == 2)
        #expect(try await run("phone", "device", "list").output.contains("this one"))
        let id = try #require(list.last)
        #expect(
            try await run("phone", "device", "name", String(id.prefix(8)), "Ann's desk").output.contains("Ann's desk"))
        #expect(try await run("desk", "device", "list").output.contains("Ann's desk  this one"))
        _ = try await run("phone", "audit")

        // One that the phone has not approved: every command says so, until it is acknowledged.
        try FileManager.default.copyItem(atPath: keyFile("phone"), toPath: keyFile("copy"))
        _ = try await run("copy", "zone", "create", "Notes")
        for _ in 0..<2 {
            #expect(try await run("phone", "zone", "list").errors.contains("new devices of this account"))
        }
        #expect(try await run("phone", "audit", status: 72).output.contains("not acknowledged: "))
        let new = try #require(
            try await run("phone", "device", "list", "--quiet").output.split(separator: "\n").last.map(String.init))
        _ = try await run("phone", "device", "acknowledge", new)
        // Twice is no error, and neither is one that was never new.
        _ = try await run("phone", "device", "acknowledge", new, id)
        #expect(
            try await run("phone", "device", "name", String(id.prefix(2)), "x", status: 65).errors.contains(
                "at least 4"))
        #expect(try await !run("phone", "zone", "list").errors.contains("new devices"))
        _ = try await run("phone", "audit")
        _ = try await run("phone", "device", "revoke", new)
        #expect(try await run("copy", "zone", "list", status: 77).errors.contains("was removed from the account"))
        _ = try await run("phone", "device", "revoke", "nobody", status: 66)
        _ = try await run("phone", "device", "approve", "nonsense", status: 65)
        // The desk hears of what was there and is gone: its own list is the new one.
        #expect(try await run("desk", "device", "list", "--quiet").output.split(separator: "\n").count == 2)
    }
}
