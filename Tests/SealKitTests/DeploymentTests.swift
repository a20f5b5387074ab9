import Foundation
import SealLab
import Testing

@testable import SealKit

/// What goes wrong with the first server that has a name, and how it is told.
@Suite(.timeLimit(.minutes(60))) struct DeploymentTests {
    /// What a call fails with.
    private func error(_ body: () async throws -> Void) async -> SealKitError? {
        do {
            try await body()
            return nil
        } catch { return error as? SealKitError }
    }

    @Test func aServerReachedByAnotherNameThanItsOwnSaysItsName() async throws {
        let server = try ServerProcess(mail: false, arguments: ["--origin", "https://notes.example.org"])
        defer { server.stop() }
        let transport = try HTTPTransport(server: server.origin)
        #expect(try await ServerInformation(transport: transport).origin == "https://notes.example.org")
        let passphrase = try Account.RecoveryPassphrase(
            name: "ann@example.org", passphrase: "correct horse battery staple")
        let made = await error { _ = try await Account.create(transport: transport) }
        let recovered = await error { _ = try await Account.recover(passphrase, transport: transport) }
        for told in [made, recovered] {
            #expect(told?.code == .invalidArguments)
            #expect(told?.reason.contains(server.origin) == true, "\(told?.reason ?? "")")
            #expect(told?.reason.contains("https://notes.example.org") == true, "\(told?.reason ?? "")")
            #expect(told?.remedy.contains("if \(server.origin) is its name") == true)
        }
        let file = server.folder.appendingPathComponent("ann.json").path
        let command = try await Command.finished(
            ServerProcess.executable, ["account", "create", "--server", server.origin, "--key-file", file])
        #expect(command.status == 65, "\(command.errors)")
        #expect(command.errors.contains("calls itself https://notes.example.org"), "\(command.errors)")
        #expect(!FileManager.default.fileExists(atPath: file))
        // Under the right address it is made, wherever the wrong one led to.
        let store = MemoryKeyStore()
        let kept = await error { _ = try await Account.create(transport: transport, in: store) }
        #expect(kept?.code == .invalidArguments)
        #expect(try await Account.load(from: store) == nil)
        let right = try HTTPTransport(server: try ServerProcess.shared.get().origin)
        let (account, _) = try await Account.create(transport: right, in: store)
        #expect(try await account.status() == .available)
    }

    /// An account that was there before the server got its name.
    @Test func aLoginUnderAFormerNameSaysTheNewOne() async throws {
        var server = try ServerProcess(mail: false)
        let (folder, port) = (server.folder, server.port)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("ann.json").path
        let made = try await Command.finished(
            ServerProcess.executable, ["account", "create", "--server", server.origin, "--key-file", file])
        #expect(made.status == 0, "\(made.errors)")
        server.terminate()
        server = try ServerProcess(
            folder: folder, port: port, mail: false, arguments: ["--origin", "https://notes.example.org"])
        defer { server.terminate() }
        let listed = try await Command.finished(ServerProcess.executable, ["zone", "list", "--key-file", file])
        #expect(listed.status == 75, "\(listed.errors)")
        #expect(listed.errors.contains("calls itself https://notes.example.org"), "\(listed.errors)")
        #expect(listed.errors.contains("sealkit account move"), "\(listed.errors)")
    }

    /// The keys are good under any name: whoever follows the remedy has the account that they had.
    @Test func anAccountMovesWithItsServersName() async throws {
        var server = try ServerProcess(mail: false)
        let (folder, port) = (server.folder, server.port)
        defer { try? FileManager.default.removeItem(at: folder) }
        func run(_ arguments: [String], _ name: String = "ann") async throws -> Command {
            let file = folder.appendingPathComponent("\(name).json").path
            return try await Command.finished(ServerProcess.executable, arguments + ["--key-file", file])
        }
        let former = server.origin
        for (arguments, name) in [
            (["account", "create", "--server", former], "ann"), (["account", "create", "--server", former], "bob"),
            (["zone", "create", "Notes"], "ann"), (["share", "create", "Notes"], "ann"),
        ] {
            let done = try await run(arguments, name)
            #expect(done.status == 0, "\(done.errors)")
        }
        let user = try await run(["account", "whoami", "--quiet"]).output
        let bob = try await run(["account", "whoami", "--quiet"], "bob").output.trimmingCharacters(in: .whitespaces)
            .trimmingCharacters(in: .newlines)
        let old = try await run(["share", "invite", "Notes", bob, "--quiet"]).output
            .trimmingCharacters(in: .newlines)
        server.terminate()
        let name = "http://localhost:\(port)"
        server = try ServerProcess(folder: folder, port: port, mail: false, arguments: ["--origin", name])
        defer { server.terminate() }

        let away = try await run(["account", "move", "http://127.0.0.1:1"])
        #expect(away.status == 69, "\(away.errors)")
        let misnamed = try await run(["account", "move", former])
        #expect(misnamed.status == 75, "\(misnamed.errors)")
        #expect(misnamed.errors.contains("calls itself \(name)"), "\(misnamed.errors)")
        // A share's URL with the new name leads to no second account either.
        let url = old.replacing(former, with: name)
        let early = try await run(["share", "accept", url], "bob")
        #expect(early.status == 65, "\(early.errors)")
        #expect(early.errors.contains("sealkit account move"), "\(early.errors)")
        #expect(!early.errors.contains("make"), "\(early.errors)")

        for person in ["ann", "bob"] {
            let moved = try await run(["account", "move", name, "--quiet"], person)
            #expect(moved.status == 0, "\(moved.errors)")
            #expect(moved.output == name + "\n")
        }
        #expect(try await run(["account", "whoami", "--quiet"]).output == user)
        let zones = try await run(["zone", "list", "--quiet"])
        #expect(zones.output.contains("Notes"), "\(zones.errors)")
        let devices = try await run(["device", "list", "--quiet"])
        #expect(devices.output.split(separator: "\n").count == 1, "\(devices.output)")
        // One that went out before names the old one.
        let late = try await run(["share", "accept", old], "bob")
        #expect(late.status == 65, "\(late.errors)")
        #expect(late.errors.contains("put \(name) in its place in the URL"), "\(late.errors)")
        let accepted = try await run(["share", "accept", url], "bob")
        #expect(accepted.status == 0, "\(accepted.errors)")
    }

    /// Another server has no account with these keys: nothing changes.
    @Test func anAccountDoesNotMoveToWhereNobodyKnowsIt() async throws {
        let (own, other) = (try ServerProcess(mail: false), try ServerProcess(mail: false))
        defer {
            own.stop()
            other.stop()
        }
        let file = own.folder.appendingPathComponent("ann.json").path
        for (arguments, status, says) in [
            (["account", "create", "--server", own.origin], 0, ""),
            (["account", "move", other.origin], 77, "knows no account with these keys"),
            (["zone", "list"], 0, ""),
        ] as [([String], Int32, String)] {
            let done = try await Command.finished(ServerProcess.executable, arguments + ["--key-file", file])
            #expect(done.status == status, "\(arguments): \(done.errors)")
            if !says.isEmpty { #expect(done.errors.contains(says), "\(done.errors)") }
        }
    }

    /// Nobody who does not have an account can prove an address to a server that sends no codes.
    @Test func anInvitationThatNobodyNewCanAcceptIsSaidToBeOne() async throws {
        for (mail, isWarned) in [(false, true), (true, false)] {
            let server = try ServerProcess(mail: mail)
            defer { server.stop() }
            let file = server.folder.appendingPathComponent("ann.json").path
            func run(_ arguments: String...) async throws -> Command {
                try await Command.finished(ServerProcess.executable, arguments + ["--key-file", file])
            }
            for arguments in [
                ["account", "create", "--server", server.origin], ["zone", "create", "Notes"],
                ["share", "create", "Notes"],
            ] {
                let done = try await Command.finished(ServerProcess.executable, arguments + ["--key-file", file])
                #expect(done.status == 0, "\(done.errors)")
            }
            let invited = try await run("share", "invite", "Notes", "carol@example.org")
            #expect(invited.status == 0, "\(invited.errors)")
            #expect(invited.output.contains("Send this URL"), "\(invited.errors)")
            #expect(invited.errors.contains("nobody new can accept") == isWarned, "\(invited.errors)")
            let json = try await run("share", "invite", "Notes", "dave@example.org", "--json")
            #expect(json.output.contains("\"addressCanBeProved\":\(!isWarned)"), "\(json.output)")
            let phone = try await run("share", "invite", "Notes", "+4915112345678")
            #expect(phone.errors.contains("sends no text messages"), "\(phone.errors)")
            let single = try await run("share", "invite", "Notes", "--one-time")
            #expect(single.status == 0, "\(single.errors)")
            #expect(!single.errors.contains("warning"), "\(single.errors)")
        }
    }

    @Test func theSettingsThatAreWrongAreNamed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, data) = (folder.appendingPathComponent("sealkit.yaml"), folder.appendingPathComponent("data").path)
        func serve(_ arguments: String...) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable, ["serve", "--data", data, "--listen", "127.0.0.1:0"] + arguments)
        }
        let missing = try await serve("--config", file.path)
        #expect(missing.status == 65, "\(missing.errors)")
        #expect(missing.errors.contains("There is no file \(file.path)"), "\(missing.errors)")
        try Data("log:\n  levl: debug\n".utf8).write(to: file)
        let unknown = try await serve("--config", file.path)
        #expect(unknown.status == 65, "\(unknown.errors)")
        #expect(unknown.errors.contains("line 2: there is no setting “log.levl”"), "\(unknown.errors)")
        let nameless = try await serve("--behind-proxy")
        #expect(nameless.status == 65, "\(nameless.errors)")
        #expect(nameless.errors.contains("Give --origin"), "\(nameless.errors)")
        let relay = try await serve(
            "--smtp-url", "smtp://127.0.0.1:1", "--smtp-from", "a@example.org", "--smtp-starttls", "off",
            "--smtp-check", "required")
        #expect(relay.status == 69, "\(relay.errors)")
        #expect(relay.errors.contains("The mail relay smtp://127.0.0.1:1 cannot be used"), "\(relay.errors)")
        #expect(!FileManager.default.fileExists(atPath: data))
    }

    @Test func theLogSaysAtWhichSignalItStopped() throws {
        for (signal, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP")] {
            let server = try ServerProcess(mail: false)
            defer { server.stop() }
            kill(server.identifier, signal)
            #expect(server.exitStatus == 0, "\(name)")
            #expect(server.log.contains("\"message\":\"the server stops\",\"reason\":\"\(name)\""), "\(server.log)")
            #expect(server.log.contains("\"data\":\"\(server.dataFolder.path)\""))
        }
    }

    /// `<name>.pem` and `<name>.key`, of this machine.
    private func makeCertificate(_ name: String, in folder: URL) async throws {
        func file(_ kind: String) -> String { folder.appendingPathComponent("\(name).\(kind)").path }
        let made = try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", file("pem"), "-keyout",
                file("key"),
            ])
        #expect(made.status == 0, "\(made.errors)")
    }

    /// A renewal may come while a start waits, for a relay here; systemd starts nothing again that SIGHUP has ended.
    @Test func aRenewalDoesNotEndAServerThatStarts() async throws {
        let folder = SealLab.ServerProcess.temporaryFolder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await makeCertificate("own", in: folder)
        let relay = try SilentServer()
        let server = try SealLab.ServerProcess(
            folder: folder, logLevel: "notice",
            arguments: [
                "--origin", "https://notes.example.org", "--tls-certificate",
                folder.appendingPathComponent("own.pem").path, "--tls-key",
                folder.appendingPathComponent("own.key").path,
                "--smtp-url", relay.origin.replacing("http:", with: "smtp:"), "--smtp-from", "a@example.org",
                "--smtp-starttls", "off", "--smtp-check", "required",
            ])
        defer { withExtendedLifetime(relay) { server.remove() } }
        for _ in 0..<3_000 where !server.log.contains("SealKit starts") { try await Task.sleep(for: .milliseconds(20)) }
        kill(server.identifier, SIGHUP)
        // Of signals that wait the system delivers the one with the lower number first.
        kill(server.identifier, SIGTERM)
        #expect(server.exitStatus == SIGTERM, "\(server.log)")
    }

    @Test func aSignalHasTheCertificateReadAgain() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
        for name in ["old", "new"] { try await makeCertificate(name, in: folder) }
        func use(_ name: String) throws {
            for kind in ["pem", "key"] {
                try Data(contentsOf: file("\(name).\(kind)")).write(to: file("used.\(kind)"), options: .atomic)
            }
        }
        try use("old")
        let server = try ServerProcess(
            mail: false,
            arguments: [
                "--origin", "https://notes.example.org", "--tls-certificate", file("used.pem").path, "--tls-key",
                file("used.key").path,
            ])
        defer { server.stop() }
        func answer(trusting name: String) async throws -> Int32 {
            try await Command.finished(
                URL(fileURLWithPath: "/usr/bin/curl"),
                ["-s", "--cacert", file("\(name).pem").path, server.origin + "/health"]
            ).status
        }
        #expect(try await answer(trusting: "old") == 0)
        try use("new")
        kill(server.identifier, SIGHUP)
        for _ in 0..<3_000 where !server.log.contains("was read again") { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await answer(trusting: "new") == 0)
        #expect(try await answer(trusting: "old") == 60)
        #expect(server.isRunning)
    }
}
