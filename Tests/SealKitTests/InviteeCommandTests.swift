import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit
@testable import sealkit

/// From a share's URL to reading on the command line, the commands about addresses, and those of the server's operator.
@Suite(.timeLimit(.minutes(60))) struct InviteeCommandTests {
    private func codeCommand(_ server: ServerProcess, _ address: String) -> String {
        let mails = server.folder.appendingPathComponent("mail/new").path
        return """
            for i in $(seq 300); do
                code=$(grep -l '\(address)' '\(mails)'/* 2>/dev/null | xargs -r grep -hoE '^ +[0-9]{8}$' | tail -n 1)
                [ -n "$code" ] && echo $code && exit
                sleep 0.1
            done
            exit 1
            """
    }

    @Test func oneCommandTakesAnInviteeFromTheURLToReading() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await InviteeTests.Invited(server)
        let folder = try TemporaryFolder()
        let keyFile = folder.url.appendingPathComponent("carol.json").path
        let environment = [
            "SEALKIT_KEY_FILE": keyFile, "SEALKIT_CONTAINER": place.ann.container.containerIdentifier,
            "SHARE_URL": place.url,
            "CODE": codeCommand(place.ann.server, place.mail), "SEALKIT": ServerProcess.executable.path,
        ]
        func run(_ script: String) async throws -> Command {
            try await Command.finished(URL(fileURLWithPath: "/bin/sh"), ["-c", script], environment: environment)
        }
        // Without a terminal nobody gets an account by mistake.
        let refused = try await run(#"printf '%s\n' "$SHARE_URL" | "$SEALKIT" share accept -"#)
        #expect(refused.status != 0)
        #expect(refused.errors.contains("--new-account"))
        #expect(!FileManager.default.fileExists(atPath: keyFile))
        // Relay and server were started together: where the server was first, mail fails until it tries again.
        try await server.mail?.waitUntilListening()
        let transport = try HTTPTransport(server: server.origin)
        for _ in 0..<600 where try await ServerInformation(transport: transport).isMailFailing {
            try await Task.sleep(for: .milliseconds(100))
        }
        // One whose making was cut off is no account yet.
        var random = SystemRandom()
        var begun = try AccountSecrets(server: server.origin, seeds: [AccountSeed(random: &random)])
        begun.recoveryKey = RecoveryKey(random: &random)
        try await FileKeyStore(file: URL(fileURLWithPath: keyFile)).save(begun, replacing: nil)
        // One pipe: the URL, the address that it asks for, and the code from a command.
        let said = try await run(
            #"printf '%s\n%s\n' "$SHARE_URL" "\#(place.mail)" | "$SEALKIT" share accept - --new-account --code-command "$CODE" --read"#
        )
        #expect(said.status == 0, "\(said.errors)")
        #expect(said.output.contains("Your recovery key"))
        #expect(said.output.contains(place.note.recordID.recordName))
        #expect(said.errors.contains("A code is on its way to \(place.mail)"))
        #expect(said.errors.contains("1 record"))
        let mode = try FileManager.default.attributesOfItem(atPath: keyFile)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // The URL is used up: nobody else makes an account for it.
        let late = folder.url.appendingPathComponent("late.json").path
        let refusedLate = try await run(
            #"printf '%s\n' "$SHARE_URL" | "$SEALKIT" share accept - --new-account --key-file '\#(late)'"#)
        #expect(refusedLate.status == 66, "\(refusedLate.errors)")
        #expect(refusedLate.output.isEmpty)
        #expect(refusedLate.errors.contains("no seat for somebody without an account"), "\(refusedLate.errors)")
        #expect(!FileManager.default.fileExists(atPath: late))
        // The account is there from now on: the share is accepted already, and its address is linked.
        let again = try await run(#"printf '%s\n' "$SHARE_URL" | "$SEALKIT" share accept - --quiet"#)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.hasPrefix(place.ann.name), "\(again.errors)")
        let list = try await run(#""$SEALKIT" account address list"#)
        #expect(list.output.contains("e-mail"))
        #expect(list.output.contains("not discoverable"))
        let on = try await run(#""$SEALKIT" account address discoverable \#(place.mail) on --json"#)
        #expect(on.status == 0, "\(on.errors)")
        #expect(on.output.contains(#""discoverable":true"#), "\(on.errors)")
        #expect(try await place.ann.container.shareParticipant(forEmailAddress: place.mail).userIdentity.hasAccount)
        let id = list.output.prefix(32)
        let off = try await run(#""$SEALKIT" account address remove \#(id)"#)
        #expect(off.status == 0)
        let empty = try await run(#""$SEALKIT" account address list --quiet"#)
        #expect(empty.status == 0)
        #expect(empty.output.isEmpty)
    }

    /// What is known of mail is said, and the same whosever the address is.
    @Test func aCodeIsNotCalledOnItsWayWhileMailIsFailing() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let keyFile = server.folder.appendingPathComponent("ann.json").path
        func run(_ arguments: String...) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable, arguments, environment: ["SEALKIT_KEY_FILE": keyFile])
        }
        let made = try await run("account", "create", "--server", server.origin)
        #expect(made.status == 0, "\(made.errors)")
        server.mail?.stop()
        // The first one finds out.
        _ = try await run("account", "address", "add", "ann@example.org", "--code-command", "echo 12345678")
        let transport = try HTTPTransport(server: server.origin)
        for _ in 0..<600 where try await !ServerInformation(transport: transport).isMailFailing {
            try await Task.sleep(for: .milliseconds(50))
        }
        for address in ["ann@example.org", "nobody@example.org"] {
            let said = try await run("account", "address", "add", address, "--code-command", "echo 12345678")
            #expect(said.errors.contains("The server cannot send mail at present: the code to \(address) waits"))
            #expect(!said.errors.contains("on its way"))
        }
    }

    /// With nothing on the command line: everything is asked for.
    @Test func atATerminalEverythingIsAskedFor() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await InviteeTests.Invited(server)
        let folder = try TemporaryFolder()
        let keyFile = folder.url.appendingPathComponent("carol.json").path
        func atTerminal(_ answers: [[Any]]) async throws -> Command {
            try await Command.atTerminal(
                ["share", "accept", "--language", "fr"], answers: answers,
                environment: [
                    "SEALKIT_KEY_FILE": keyFile, "SEALKIT_CONTAINER": place.ann.container.containerIdentifier,
                ])
        }
        let declined = try await atTerminal([["Share URL: ", place.url], ["Make an account there? [y/N] ", "n"]])
        #expect(declined.status == 130, "\(declined.output)\(declined.errors)")
        #expect(!FileManager.default.fileExists(atPath: keyFile), "\(declined.output)\(declined.errors)")
        let mail: [String: Any] = ["mail": server.folder.appendingPathComponent("mail/new").path, "to": place.mail]
        // The first mail is there before a second one is asked for: which of two came first, nobody could tell.
        let wrong = mail.merging(["count": 1, "instead": "1234 5678"]) { $1 }
        let said = try await atTerminal([
            ["Share URL: ", place.url], ["Make an account there? [y/N] ", "y"], ["Address: ", place.mail],
            ["Code (", wrong],
            ["4 tries left", ""], ["Address: ", place.mail], ["Code (", mail.merging(["count": 2]) { $1 }],
        ])
        #expect(said.status == 0, "\(said.output)\(said.errors)")
        #expect(said.output.contains("Your recovery key"))
        #expect(said.output.contains(place.note.recordID.recordName))
        #expect(!said.output.contains(place.url), "the URL is a secret, and shows nowhere")
    }

    @Test func aLinkedAddressesCodeMayBeMistyped() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let environment = ["SEALKIT_KEY_FILE": folder.url.appendingPathComponent("dora.json").path]
        #expect(
            try await Command.finished(
                ServerProcess.executable, ["account", "create", "--server", server.origin], environment: environment
            ).status == 0)
        let address = "dora@example.org"
        let mail: [String: Any] = [
            "mail": server.folder.appendingPathComponent("mail/new").path, "to": address, "count": 1,
        ]
        let said = try await Command.atTerminal(
            ["account", "address", "add", address], answers: [["Code (", "1234 5678"], ["4 tries left", mail]],
            environment: environment)
        #expect(said.status == 0, "\(said.output)\(said.errors)")
        #expect(said.output.contains("linked \(address)"), "\(said.output)\(said.errors)")
        // Where nobody can be asked again the first answer counts.
        let wrong = try await Command.finished(
            ServerProcess.executable, ["account", "address", "add", "dora@example.net", "--code-command", "echo 1"],
            environment: environment)
        #expect(wrong.status == 77, "\(wrong.errors)")
        #expect(wrong.errors.contains("the code is wrong"), "\(wrong.errors)")
        // A command in a pipe ends with its reader: 128 + SIGPIPE.
        let ended = server.folder.appendingPathComponent("ended").path
        let piped = try await Command.finished(
            ServerProcess.executable,
            [
                "account", "address", "add", "dora@example.com", "--code-command",
                "(yes 1; echo $? > '\(ended)') | head -n 1",
            ],
            environment: environment)
        #expect(piped.status == 77, "\(piped.errors)")
        #expect(piped.errors.contains("the code is wrong"), "\(piped.errors)")
        #expect(try String(contentsOfFile: ended, encoding: .utf8) == "141\n")
    }

    @Test func aCodeThatHasExpiredIsNotCalledWrong() async throws {
        var code = CodeOptions()
        code.codeCommand = "echo 1"
        func ask(_ expires: Date, _ triesLeft: Int) throws(SealKitError) -> String? {
            try code.code(
                sentTo: "dora@example.org", by: nil, expires: expires, triesLeft: triesLeft, emptyLineFor: "a new code",
                Output(isJSON: false, isQuiet: true))
        }
        #expect(
            try ask(.distantPast, Verification.tries) == "1", "the server's clock may be another: it is asked first")
        let late = try #require(throws: SealKitError.self) { _ = try ask(Date(), 4) }
        #expect(late.code == .verificationFailed)
        #expect(late.reason.contains("expired"))
        #expect(!late.remedy.isEmpty)
        let wrong = try #require(throws: SealKitError.self) { _ = try ask(.distantFuture, 4) }
        #expect(wrong.code == .verificationFailed)
        #expect(wrong.reason.contains("wrong"))
    }

    @Test func wrongAnswersEndTheCommand() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await InviteeTests.Invited(server)
        let folder = try TemporaryFolder()
        let keyFile = folder.url.appendingPathComponent("carol.json").path
        func accept(_ arguments: [String]) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable, ["share", "accept", place.url] + arguments,
                environment: [
                    "SEALKIT_KEY_FILE": keyFile, "SEALKIT_CONTAINER": place.ann.container.containerIdentifier,
                ])
        }
        let wrong = try await accept(["--new-account", "--address", place.mail, "--code-command", "echo 1"])
        #expect(wrong.status != 0, "\(wrong.errors)")
        #expect(wrong.errors.contains("code"), "\(wrong.errors)")
        // The account was made, and is used from then on; without one there is nothing to read an address from.
        #expect(FileManager.default.fileExists(atPath: keyFile))
        let silent = try await accept([])
        #expect(silent.status != 0)
        #expect(silent.errors.contains("no address"))
        let failing = try await accept(["--address", place.mail, "--code-command", "exit 3"])
        #expect(failing.status != 0)
        #expect(failing.errors.contains("code command"))
        let nobody = try await accept(["--address", "nobody"])
        #expect(nobody.status != 0)
        #expect(!nobody.errors.contains(place.url))
    }

    @Test func tokenKeysAreRotatedFromTheCommandLine() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        func admin(_ arguments: String..., status: Int32 = 0) async throws -> String {
            let said = try await Command.finished(
                ServerProcess.executable, ["admin", "token-keys"] + arguments,
                environment: ["SEALKIT_DATA": server.dataFolder.path])
            #expect(said.status == status, "\(arguments): \(said.errors)")
            return said.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        func published() async throws -> [String] {
            let answer = try await HTTPTransport(server: server.origin).get(
                "/.well-known/sealkit/token-keys", token: nil)
            return try Sealkit_V1_TokenKeysResponse(serializedBytes: answer.body).keys.map(\.keyID)
        }
        let before = try await published()
        let made = try await admin("rotate", "--quiet")
        let after = try await published()
        #expect(before.count == 1)
        #expect(after == before + [made])
        #expect(try await admin("list", "--quiet").split(separator: "\n").map(String.init) == after)
        #expect(try await admin("list").contains("signs"))
        _ = try await admin("remove", made, status: 65)
        _ = try await admin("remove", "k4.pid.nobody", status: 65)
        _ = try await admin("remove", before[0])
        #expect(try await published() == [made])
        let elsewhere = try await Command.finished(
            ServerProcess.executable, ["admin", "token-keys", "list", "--data", "/nonexistent"])
        #expect(elsewhere.status != 0)
        #expect(elsewhere.errors.contains("no token keys"))
    }
}
