import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealWire
import Testing

@testable import SealKit

/// Ways back and new keys by the command line, with several devices of one account.
@Suite(.timeLimit(.minutes(60))) struct RecoveryCommandTests {
    private let home: TemporaryFolder
    private let server: ServerProcess

    init() throws {
        home = try TemporaryFolder()
        server = try ServerProcess(mail: false)
    }

    private func run(
        _ arguments: String..., device: String, typing: String = "", environment: [String: String] = [:]
    ) async throws -> Command {
        let file = home.url.appendingPathComponent("typed-\(UUID().uuidString)")
        try Data((typing + "\n").utf8).write(to: file)
        // `exec` with a file as standard input: secrets are read from there.
        let words = ([ServerProcess.executable.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "exec \(words) < '\(file.path)'"],
            environment: self.environment(device).merging(environment) { $1 })
    }

    private func environment(_ device: String) -> [String: String] {
        [
            "HOME": home.url.path, "SEALKIT_ACCOUNT": "",
            "SEALKIT_KEY_FILE": home.url.appendingPathComponent("\(device).json").path,
        ]
    }

    private func create(_ device: String) async throws -> String {
        let made = try await run("account", "create", "--quiet", "--server", server.origin, device: device)
        #expect(made.status == 0, "\(made.errors)")
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func key(_ command: Command) -> String { command.output.trimmingCharacters(in: .whitespacesAndNewlines) }

    @Test func recoveryKeysAreRenewedAndChecked() async throws {
        let first = try await create("phone")
        #expect(
            try await run("account", "recovery-key", "--check", device: "phone", typing: first.lowercased()).status == 0
        )
        var second = key(try await run("account", "recovery-key", "--quiet", device: "phone"))
        #expect(second != first)
        #expect(second.split(separator: "-").count == 13)
        // As a word processor may have set it.
        let typeset = second.split(separator: "-").enumerated().map { $0 % 2 == 0 ? "\($1)\u{2013}" : "\($1)\u{A0}" }
            .joined()
        #expect(try await run("account", "recovery-key", "--check", device: "phone", typing: typeset).status == 0)
        let renewed = try await run("account", "recovery-key", device: "phone")
        #expect(renewed.output.contains("Keep the one before until then"))
        #expect(renewed.errors.contains("the one before is void"))
        second = key(try await run("account", "recovery-key", "--quiet", device: "phone"))
        let silent = try await run("account", "recovery-key", "--check", device: "phone")
        #expect(silent.status == 65)
        #expect(silent.errors.contains("as a line on standard input"))
        let old = try await run("account", "recovery-key", "--check", device: "phone", typing: first)
        #expect(old.status == 66)
        #expect(old.errors.contains("recovery-key"))
        // A slip of the pen is found, and where.
        var groups = second.split(separator: "-").map(String.init)
        groups[4] = String(groups[4].reversed())
        let mistyped = groups.joined(separator: " ")
        if RecoveryKey.mistypedGroups(in: mistyped) == [5] {
            let said = try await run("account", "recover", "--server", server.origin, device: "desk", typing: mistyped)
            #expect(said.status == 65)
            #expect(said.errors.contains("group 5"))
        }
        #expect(
            try await run("account", "recover", "--server", server.origin, device: "desk", typing: first).status == 66)
        let back = try await run(
            "account", "recover", "--quiet", "--server", server.origin, device: "desk", typing: second)
        #expect(back.status == 0, "\(back.errors)")
        #expect(key(back) == key(try await run("account", "whoami", "--quiet", device: "phone")))
    }

    @Test func newKeysSayThatABrowsersPasskeyIsGone() async throws {
        _ = try await create("phone")
        let file = home.url.appendingPathComponent("phone.json")
        let account = try #require(try await Account.load(from: FileKeyStore(file: file)))
        var random = SystemRandom()
        let bundle = account.bundle(of: account.seeds, by: RecoveryKey(random: &random), .passkey)
        let _: Sealkit_V1_AccountResponse = try await account.call(Endpoints.accounts.saveRecovery, bundle)
        let rotated = try await run("account", "rotate-keys", device: "phone")
        #expect(rotated.status == 0, "\(rotated.errors)")
        #expect(rotated.errors.contains("passkey"), "\(rotated.errors)")
        #expect(rotated.errors.contains("server-to-server keys"), "\(rotated.errors)")
        let again = try await run("account", "rotate-keys", device: "phone")
        #expect(again.status == 0, "\(again.errors)")
        #expect(!again.errors.contains("passkey"), "\(again.errors)")
    }

    @Test func aMistypedGroupIsTypedAgainAndNoOther() async throws {
        let groups = try await create("phone").split(separator: "-").map(String.init)
        let right = groups.joined(separator: "-")
        var mistyped = groups
        mistyped[4] = (mistyped[4].first == "7" ? "8" : "7") + mistyped[4].dropFirst()
        mistyped[11] = String(mistyped[11].dropLast())
        let wrong = mistyped.joined(separator: "-")
        func recover(_ device: String, _ answers: [String]...) async throws -> Command {
            try await Command.atTerminal(
                ["account", "recover", "--server", server.origin], answers: answers, environment: environment(device))
        }
        let back = try await recover(
            "desk", ["Recovery key: ", wrong], ["Group 5 of 13 is mistyped", mistyped[4]],
            ["Group 5 of 13", groups[4].lowercased()],
            ["Group 12 of 13 is mistyped", " \(groups[11]) "])
        #expect(back.status == 0, "\(back.output)\(back.errors)")
        #expect(back.output.contains("recovered"), "\(back.output)\(back.errors)")
        // What is typed is not shown.
        #expect(!back.output.contains(groups[4].lowercased()) && !back.output.contains(groups[0]))
        // Whoever would rather type all of it again may; a key of another length is asked for whole.
        let whole = try await recover(
            "tablet", ["Recovery key: ", "12345"], ["no whole key", wrong], ["Group 5 of 13", right])
        #expect(whole.status == 0, "\(whole.output)\(whole.errors)")
        let givenUp = try await recover("watch", ["Recovery key: ", wrong], ["Group 5 of 13", ""])
        #expect(givenUp.status == 130, "\(givenUp.output)")
        #expect(givenUp.output.contains("not typed to its end"), "\(givenUp.output)")
        let checked = try await Command.atTerminal(
            ["account", "recovery-key", "--check"],
            answers: [["Recovery key: ", wrong], ["Group 5 of 13", groups[4]], ["Group 12 of 13", groups[11]]],
            environment: environment("phone"))
        #expect(checked.status == 0, "\(checked.output)")
        // Without anybody to ask, all of them are named.
        let said = try await run("account", "recover", "--server", server.origin, device: "watch", typing: wrong)
        #expect(said.status == 65, "\(said.errors)")
        #expect(said.errors.contains("group 5, 12"), "\(said.errors)")
        let short = try await run(
            "account", "recover", "--server", server.origin, device: "watch", typing: "12345-67890")
        #expect(short.status == 65, "\(short.errors)")
        #expect(short.errors.contains("13 groups"), "\(short.errors)")
    }

    @Test func aRecoveryPassphraseIsSetUsedAndRemoved() async throws {
        _ = try await create("phone")
        let name = "ann-\(UUID().uuidString)@example.org"
        let words = "four words that nobody says"
        let set = try await run(
            "account", "recovery-passphrase", "--name", name, device: "phone",
            environment: ["SEALKIT_RECOVERY_PASSPHRASE": words])
        #expect(set.status == 0, "\(set.errors)")
        #expect(!(set.output + set.errors).contains(words))
        let back = try await run(
            "account", "recover", "--server", server.origin, "--recovery-name", name.uppercased(), device: "desk",
            typing: words)
        #expect(back.status == 0, "\(back.errors)")
        let unasked = try await run(
            "account", "recover", "--server", server.origin, "--recovery-name", name, device: "watch",
            environment: ["SEALKIT_RECOVERY_PASSPHRASE": words])
        #expect(unasked.status == 0, "\(unasked.errors)")
        let nameless = try await run(
            "account", "recover", "--server", server.origin, "--recovery-passphrase-fd", "0", device: "tablet",
            typing: words)
        #expect(nameless.status == 64)
        #expect(nameless.errors.contains("--recovery-name"))
        let wrong = try await run(
            "account", "recover", "--server", server.origin, "--recovery-name", name, device: "tablet",
            typing: words + "!")
        #expect(wrong.status == 66)
        #expect(!wrong.errors.contains(words))
        let short = try await run(
            "account", "recovery-passphrase", "--name", name, device: "phone",
            environment: ["SEALKIT_RECOVERY_PASSPHRASE": "short"])
        #expect(short.status == 65)
        #expect(short.errors.contains("12 characters"))
        #expect(try await run("account", "recovery-passphrase", "--remove", device: "phone").status == 0)
        #expect(try await run("account", "recovery-passphrase", device: "phone").status == 64)
        let gone = try await run(
            "account", "recover", "--server", server.origin, "--recovery-name", name, device: "tablet", typing: words)
        #expect(gone.status == 66)
    }

    @Test func newKeysAndAResetByTheCommandLine() async throws {
        let first = try await create("phone")
        #expect(try await run("zone", "create", "garden", device: "phone").status == 0)
        let recovered = try await run("account", "recover", "--server", server.origin, device: "desk", typing: first)
        #expect(recovered.status == 0, "\(recovered.errors)")
        let name = try await run("account", "whoami", "--quiet", device: "phone").output
        let rotated = try await run("account", "rotate-keys", "--quiet", device: "phone")
        #expect(rotated.status == 0, "\(rotated.errors)")
        #expect(try RecoveryKey(text: key(rotated)).bundleID != RecoveryKey(text: first).bundleID)
        // The same user, on a device that goes on and on one that is out.
        #expect(try await run("account", "whoami", "--quiet", device: "phone").output == name)
        #expect(try await run("zone", "list", "--quiet", device: "phone").output.contains("garden"))
        let out = try await run("zone", "list", device: "desk")
        #expect(out.status == 77)
        #expect(out.errors.contains("new keys"))
        #expect(
            try await run("account", "recover", "--server", server.origin, device: "tablet", typing: first).status == 66
        )
        let tablet = try await run(
            "account", "recover", "--server", server.origin, device: "tablet", typing: key(rotated))
        #expect(tablet.status == 0, "\(tablet.errors)")
        #expect(try await run("zone", "list", "--quiet", device: "tablet").output.contains("garden"))

        // A passphrase goes with the keys that it was for, and that is said.
        let without = try await run("account", "rotate-keys", device: "phone")
        #expect(without.status == 0, "\(without.errors)")
        #expect(without.errors.contains("no recovery passphrase now"), "\(without.errors)")
        let with = try await run(
            "account", "rotate-keys", "--recovery-name", "ann-\(UUID().uuidString)", device: "phone",
            environment: ["SEALKIT_RECOVERY_PASSPHRASE": "four words that nobody says"])
        #expect(with.status == 0, "\(with.errors)")
        #expect(!with.errors.contains("no recovery passphrase now"), "\(with.errors)")
        let asked = try await run("account", "reset", device: "phone", typing: "no")
        #expect(asked.status != 0)
        #expect(try await run("zone", "list", "--quiet", device: "phone").output.contains("garden"))
        let reset = try await run("account", "reset", "--yes", "--json", device: "phone")
        #expect(reset.status == 0, "\(reset.errors)")
        #expect(reset.output.contains("recoveryKey"), "\(reset.errors)")
        #expect(try await run("zone", "list", "--quiet", device: "phone").output == "_defaultZone\n")
        #expect(try await run("account", "whoami", "--quiet", device: "phone").output == name)
    }

    /// The phone was stolen: a device that has just got the account back gives it new keys at once.
    @Test func aRecoveredDeviceReplacesTheKeysAtOnce() async throws {
        _ = try await create("phone")
        #expect(try await run("zone", "create", "garden", device: "phone").status == 0)
        let first = key(try await run("account", "rotate-keys", "--quiet", device: "phone"))
        #expect(
            try await run("account", "recover", "--server", server.origin, device: "desk", typing: first).status == 0)
        let rotated = try await run("account", "rotate-keys", "--quiet", device: "desk")
        #expect(rotated.status == 0, "\(rotated.errors)")
        #expect(key(rotated) != first)
        #expect((try? RecoveryKey(text: key(rotated))) != nil)
        #expect(try await run("zone", "list", device: "phone").status == 77)
        let status = try await run("account", "status", device: "phone")
        #expect(status.status == 77)
        #expect(status.output.contains("new keys"))
        let deleted = try await run("account", "delete", "--yes", device: "phone")
        #expect(deleted.status == 77, "\(deleted.errors)")
        #expect(try await run("zone", "list", "--quiet", device: "desk").output.contains("garden"))
    }

    /// Killed at ten places between its start and its end, wherever they fall: in the key file, before the server,
    /// among the zones.
    @Test func keysThatAKilledCommandWasReplacingAreReplacedByTheNext() async throws {
        var recoveryKey = try await create("phone")
        let name = try await run("account", "whoami", "--quiet", device: "phone").output
        for zone in ["garden", "kitchen", "attic"] {
            #expect(try await run("zone", "create", zone, device: "phone").status == 0)
            let saved = try await run(
                "record", "save", "--type", "Note", "--zone", zone, "--name", "n", "--seal", "body=of the \(zone)",
                device: "phone")
            #expect(saved.status == 0, "\(saved.errors)")
        }
        let start = ContinuousClock.now
        let whole = try await run("account", "rotate-keys", "--quiet", device: "phone")
        let length = ContinuousClock.now - start
        #expect(whole.status == 0, "\(whole.errors)")
        recoveryKey = key(whole)
        var killed = 0
        for place in 0...9 {
            let output = home.url.appendingPathComponent("killed-\(place)")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = [
                "-c", "exec '\(ServerProcess.executable.path)' account rotate-keys --quiet > '\(output.path)'",
            ]
            process.environment = ProcessInfo.processInfo.environment.merging(environment("phone")) { $1 }
            process.standardError = FileHandle.nullDevice
            try process.start()
            let (identifier, wait) = (process.processIdentifier, length * place / 10)
            // By a thread of its own: it must not come late.
            await Thread.waiting {
                Thread.sleep(forTimeInterval: wait / .seconds(1))
                kill(identifier, SIGKILL)
            }
            await process.end()
            if process.terminationReason == .uncaughtSignal { killed += 1 }
            // Killed at once, it has not even a file.
            let shown = ((try? String(contentsOf: output, encoding: .utf8)) ?? "").trimmingCharacters(
                in: .whitespacesAndNewlines)
            if !shown.isEmpty { recoveryKey = shown }
            // Whatever was done before the end, the account is the same, goes on, and the key that was shown last
            // brings it back.
            let next = try await run("account", "rotate-keys", "--quiet", device: "phone")
            #expect(next.status == 0, "place \(place): \(next.errors)")
            recoveryKey = key(next)
            #expect(try await run("account", "whoami", "--quiet", device: "phone").output == name)
            let read = try await run("record", "get", "n", "--zone", "garden", "--value", "body", device: "phone")
            #expect(read.output.contains("of the garden"), "place \(place): \(read.errors)")
        }
        #expect(killed > 0)
        let checked = try await run("account", "recovery-key", "--check", device: "phone", typing: recoveryKey)
        #expect(checked.status == 0, "\(checked.errors)")
        let back = try await run(
            "account", "recover", "--quiet", "--server", server.origin, device: "desk", typing: recoveryKey)
        #expect(back.status == 0, "\(back.errors)")
        for zone in ["garden", "kitchen", "attic"] {
            #expect(
                try await run("record", "get", "n", "--zone", zone, "--value", "body", device: "desk").output.contains(
                    "of the \(zone)"))
        }
    }
}
