import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealLab
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Mail through a real relay: with TLS and authentication, and where either is not as it should be.
@Suite(.timeLimit(.minutes(60))) struct RelayTests {
    /// A relay and the certificate that it shows.
    private final class Relay: @unchecked Sendable {
        // Unchecked: started in the initialiser, then only read, and stopped once.
        let port: Int
        let certificate: String
        private let folder: TemporaryFolder
        private let process = Process()

        init(_ arguments: [String]) async throws {
            folder = TemporaryFolder()
            certificate = folder.file("c.pem")
            let key = folder.file("k.pem")
            try FileManager.default.createDirectory(atPath: folder.file("mail"), withIntermediateDirectories: true)
            _ = try await Command.finished(
                URL(fileURLWithPath: "/usr/bin/openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key,
                ])
            port = try MailServer.freePort()
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
                .appendingPathComponent("Support/smtp-relay.py")
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            process.arguments =
                ["-B", script.path, folder.file("mail"), "\(port)", "--certificate", certificate, "--key", key]
                + arguments
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.start()
            let port = port
            try await waitUntil("the relay listens") { (try? HTTPConnection(port: port)) != nil }
        }

        deinit { kill(process.processIdentifier, SIGKILL) }

        /// All that it kept.
        var mails: [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.file("mail"))) ?? []
            return names.filter { $0.hasSuffix(".mail") }.sorted()
                .compactMap { try? String(contentsOfFile: folder.file("mail/" + $0), encoding: .utf8) }
        }

        /// How often it was given a message.
        var tries: Int {
            (try? String(contentsOfFile: folder.file("mail/tries"), encoding: .utf8)).flatMap { Int($0) } ?? 0
        }

        /// From now on.
        func behave(_ behaviour: String) throws {
            try Data(behaviour.utf8).write(to: URL(fileURLWithPath: folder.file("mail/behaviour")), options: .atomic)
        }

        func messenger(
            _ scheme: String = "smtp", user: String? = nil, password: String? = nil, trusted: Bool = true,
            startTLS: MailConfiguration.StartTLS = .required
        ) throws -> MailMessenger {
            try MailMessenger(
                configuration: configuration(
                    scheme, user: user, password: password, trusted: trusted, startTLS: startTLS))
        }

        func configuration(
            _ scheme: String = "smtp", user: String? = nil, password: String? = nil, trusted: Bool = true,
            startTLS: MailConfiguration.StartTLS = .required
        ) -> MailConfiguration {
            MailConfiguration(
                url: "\(scheme)://127.0.0.1:\(port)", from: "Codes <codes@example.org>", username: user,
                password: password,
                authorityFile: trusted ? certificate : nil, startTLS: startTLS)
        }
    }

    private func message() -> OutgoingMessage {
        CodeMessage(recipient: "canary@example.net", code: "12345678", language: "en").written(
            .email, id: "one", origin: "https://o.example")
    }

    /// What sending fails with; nil where it is taken.
    private func failure(_ messenger: MailMessenger) async -> MessengerError? {
        do {
            try await messenger.send(message())
            return nil
        } catch {
            #expect(!"\(error)".contains("canary"), "\(error)")
            #expect(!"\(error)".contains("-word"), "\(error)")
            return error as? MessengerError
        }
    }

    @Test func startTLSWithAuthentication() async throws {
        let relay = try await Relay(["--tls", "starttls", "--user", "codes", "--password", "right-word"])
        let good = await failure(try relay.messenger(user: "codes", password: "right-word"))
        #expect(good == nil)
        let mail = try #require(relay.mails.first)
        #expect(relay.mails.count == 1)
        #expect(mail.hasPrefix("canary@example.net\n"))
        #expect(mail.contains("12345678"))
        // A wrong password is final, and nothing is sent; so is a certificate that nobody vouches for, but for as long
        // as it lasts.
        let wrong = await failure(try relay.messenger(user: "codes", password: "wrong-word"))
        #expect(wrong != nil)
        let untrusted = await failure(try relay.messenger(user: "codes", password: "right-word", trusted: false))
        #expect(untrusted != nil)
        #expect(untrusted?.isWorthRetrying == true)
        let nobody = await failure(try relay.messenger())
        #expect(nobody != nil)
        #expect(relay.tries == 1)
    }

    /// What `/health` says of mail.
    private func health(_ server: RunningServer) async throws -> String { try await healthParts(server)["mail"] ?? "" }

    private func healthParts(_ server: RunningServer) async throws -> [String: String] {
        let answer = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: server.origin + "/health"), timeout: .seconds(30))
        #expect(answer.status == .ok)
        let body = Data(buffer: try await answer.body.collect(upTo: 1 << 16))
        return try JSONDecoder().decode([String: String].self, from: body)
    }

    @Test func theRelayIsTriedWithoutSendingAnything() async throws {
        let relay = try await Relay(["--tls", "starttls", "--user", "codes", "--password", "right-word"])
        func failure(_ user: String?, _ password: String?, trusted: Bool = true) async throws -> MessengerError? {
            let messenger = try relay.messenger(user: user, password: password, trusted: trusted)
            do {
                try await messenger.tryOut()
                return nil
            } catch {
                #expect(!"\(error) \(error.text)".contains("-word"))
                return error
            }
        }
        #expect(try await failure("codes", "right-word") == nil)
        let denied = try await failure("codes", "wrong-word")?.text ?? ""
        #expect(denied.contains("535"))
        #expect(denied.contains("--smtp-username"))
        #expect(try await failure("codes", "right-word", trusted: false)?.text.contains("--smtp-ca-file") == true)
        // Connected and encrypted, but nobody whom the relay takes mail from.
        let unknown = try await failure(nil, nil)
        #expect(unknown == .loginWanted(status: 530))
        #expect(unknown?.text.contains("smtp.username") == true)
        #expect(relay.tries == 0)
        #expect(relay.mails.isEmpty)
    }

    @Test func whetherMailWorksIsAPartOfTheHealthOfItsOwn() async throws {
        let relay = try await Relay(["--tls", "starttls", "--user", "codes", "--password", "right-word"])
        for (password, state, line) in [
            ("right-word", "ok", "codes can be sent"), ("wrong-word", "failing", "codes cannot be sent"),
        ] {
            let log = LogCapture()
            let mail = relay.configuration(user: "codes", password: password)
            try await RunningServer.with(sendsMail: false, mailConfiguration: mail, logger: log.logger) { server in
                try await waitUntil("mail is \(state)") { try await health(server) == state }
            }
            #expect(log.lines.contains { $0.contains(line) && $0.contains(mail.url) })
            #expect(!log.lines.contains { $0.contains("-word") })
        }
        // Off: nothing is known until the first mail.
        var mail = relay.configuration(user: "codes", password: "right-word")
        mail.check = .off
        try await RunningServer.with(sendsMail: false, mailConfiguration: mail) { server in
            #expect(try await health(server) == "untried")
            let alice = try await TestClient.ready(server)
            _ = try await alice.begin("canary@example.net")
            try await waitUntil("it was sent") { try await health(server) == "ok" }
        }
        #expect(relay.tries == 1)
    }

    /// What `sealkit admin mail-test` shows: the relay's own last line, and no mail twice.
    @Test func whoTriesTheRelayIsToldWhatItSaid() async throws {
        let relay = try await Relay(["--tls", "starttls", "--user", "codes", "--password", "right-word"])
        let good = await (try relay.messenger(user: "codes", password: "right-word")).trial(message())
        #expect(good.failure == nil)
        #expect(good.answer.hasPrefix("250 "))
        #expect(relay.mails.count == 1)
        let denied = await (try relay.messenger(user: "codes", password: "wrong-word")).trial(message())
        #expect(denied.answer.hasPrefix("535 "))
        #expect(denied.failure?.remedy?.contains("--smtp-username") == true)
        try relay.behave("refuse")
        let refused = await (try relay.messenger(user: "codes", password: "right-word")).trial(message())
        #expect(refused.failure != nil)
        #expect(refused.answer == "550 no such mailbox: canary@example.net")
        let said = refused.failure?.text ?? "canary"
        #expect(!said.contains("canary"))
        let silent = MailConfiguration(
            url: "smtp://127.0.0.1:\(try MailServer.freePort())", from: "Codes <codes@example.org>", startTLS: .off)
        let nobody = await (try MailMessenger(configuration: silent)).trial(message())
        #expect(nobody.answer.isEmpty)
        #expect(nobody.failure?.remedy?.contains("smtp.url") == true)
        // The same over the whole way.
        try relay.behave("accept")
        let mail = relay.configuration(user: "codes", password: "right-word")
        try await RunningServer.with(sendsMail: false, mailConfiguration: mail, hasOperator: true) { server in
            let answer = try await OperatorClient(server).call(
                Endpoints.operator.mailTest, .with { $0.address = "me@example.net" })
            #expect(answer.taken)
            #expect(answer.relay == mail.url)
            #expect(answer.answer.hasPrefix("250 "))
        }
        #expect(relay.mails.last?.hasPrefix("me@example.net\n") == true)
    }

    /// As it refuses when it is told the sender: 553, say, which libcurl takes for an answer of success.
    @Test func aRelayThatTakesNoMailFromTheSenderSaysWhichSettingToChange() async throws {
        let relay = try await Relay(["--behaviour", "refuse-sender"])
        let messenger = try relay.messenger(startTLS: .off)
        await #expect(throws: MessengerError.senderRefused(status: 553)) { try await messenger.tryOut() }
        let mail = relay.configuration(startTLS: .off)
        let refusal = RelayFailure(url: mail.url, reason: MessengerError.senderRefused(status: 553).text)
        await #expect(throws: refusal) { try await RelayFailure.tryOut(mail) }
        #expect("\(refusal)".contains("smtp.from"))
        #expect(!"\(refusal)".contains("Weird"))
    }

    /// What a relay took at the start it may refuse later, with or without a word about whom it means.
    @Test(arguments: ["refuse-sender", "refuse-sender-late"])
    func whatARelayRefusesLaterShowsInTheHealth(behaviour: String) async throws {
        let relay = try await Relay([])
        let log = LogCapture()
        let mail = relay.configuration(startTLS: .off)
        try await RunningServer.with(sendsMail: false, mailConfiguration: mail, logger: log.logger) { server in
            try await waitUntil("mail is ok") { try await health(server) == "ok" }
            let alice = try await TestClient.ready(server)
            #expect(try await server.codes() == ["mail"])
            try relay.behave(behaviour)
            _ = try await alice.begin("canary@example.net")
            let first = behaviour == "refuse-sender" ? "failing" : "refused"
            try await waitUntil("mail is \(first)") { try await health(server) == first }
            for index in 1..<MessengerStates.mostRefusals { _ = try await alice.begin("canary\(index)@example.net") }
            try await waitUntil("mail is failing") { try await health(server) == "failing" }
            #expect(try await healthParts(server)["status"] == "degraded")
            #expect(try await server.codes() == ["mail", "mail-failing"])
            try await waitUntil("all are given up") { server.services.outbox.count == 0 }

            try relay.behave("accept")
            _ = try await alice.begin("canary@example.net")
            try await waitUntil("mail is ok again") { try await health(server) == "ok" }
            #expect(try await server.codes() == ["mail"])
        }
        #expect(log.lines.contains { $0.contains("codes cannot be sent") })
        #expect(!log.lines.contains { $0.contains("canary") })
    }

    @Test func tlsFromTheStart() async throws {
        let relay = try await Relay(["--tls", "from-the-start", "--user", "codes", "--password", "right-word"])
        let good = await failure(try relay.messenger("smtps", user: "codes", password: "right-word"))
        #expect(good == nil)
        #expect(relay.mails.count == 1)
        let untrusted = await failure(
            try relay.messenger("smtps", user: "codes", password: "right-word", trusted: false))
        #expect(untrusted != nil)
        #expect(relay.tries == 1)
    }

    /// Each waits for the other to begin, or does not understand it.
    @Test(
        arguments: [
            ("smtp", "from-the-start", .fromTheStart, "write smtps:// in place of smtp://"),
            ("smtps", "starttls", .afterAWord, "write smtp:// in place of smtps://"),
            ("smtps", nil, .afterAWord, "--smtp-starttls at required"),
        ] as [(String, String?, RelayTLS, String)])
    func theOtherSchemeIsTheRemedy(scheme: String, tls: String?, found: RelayTLS, remedy: String) async throws {
        let relay = try await Relay(
            (tls.map { ["--tls", $0] } ?? []) + ["--user", "codes", "--password", "right-word"])
        var mail = relay.configuration(scheme, user: "codes", password: "right-word")
        mail.check = .required
        for trusted in [true, false] {
            mail.authorityFile = trusted ? relay.certificate : nil
            let messenger = try MailMessenger(configuration: mail)
            await #expect(throws: MessengerError.otherTLS(found)) { try await messenger.tryOut() }
        }
        let refusal = RelayFailure(url: mail.url, reason: MessengerError.otherTLS(found).text)
        await #expect(throws: refusal) { try await RelayFailure.tryOut(mail) }
        #expect("\(refusal)".contains(remedy))
        mail.check = .warn
        let log = LogCapture()
        try await RunningServer.with(sendsMail: false, mailConfiguration: mail, logger: log.logger) { server in
            try await waitUntil("mail is failing") { try await health(server) == "failing" }
            // Strangers are told one word.
            #expect(try await healthParts(server).keys.sorted() == ["mail", "status", "storage", "texts", "version"])
        }
        #expect(log.lines.contains { $0.contains("codes cannot be sent") && $0.contains(remedy) })
        #expect(!log.lines.contains { $0.contains("-word") })
        #expect(relay.tries == 0)
    }

    @Test func whatIsNoRelayIsNotTakenForOne() async throws {
        try await RunningServer.with { server in
            let web = try #require(URL(string: server.origin)?.port)
            for scheme in ["smtp", "smtps"] {
                for port in [1, web] {
                    let mail = MailConfiguration(url: "\(scheme)://127.0.0.1:\(port)", from: "codes@example.org")
                    let messenger = try MailMessenger(configuration: mail)
                    await #expect { try await messenger.tryOut() } throws: { error in
                        guard case .notSent? = error as? MessengerError else { return false }
                        return true
                    }
                }
            }
        }
    }

    @Test func whereTLSIsRequiredNothingIsSaidWithoutIt() async throws {
        let relay = try await Relay([])
        let refused = await failure(try relay.messenger())
        #expect(refused?.text.contains("offers no STARTTLS") == true)
        #expect(relay.tries == 0)
        let opportunistic = await failure(try relay.messenger(startTLS: .opportunistic))
        #expect(opportunistic == nil)
        #expect(relay.tries == 1)
    }

    @Test func relaysThatFailEachInTheirWay() async throws {
        for (behaviour, tries, mails) in [("refuse", 1, 0), ("later", 2, 1), ("lose", 1, 0)] {
            let relay = try await Relay(["--behaviour", behaviour])
            let log = LogCapture()
            try await RunningServer.with(
                sendsMail: false, mailConfiguration: relay.configuration(startTLS: .off), logger: log.logger
            ) { server in
                let alice = try await TestClient.ready(server)
                let begun = try await alice.begin("canary@example.net")
                #expect(begun.verificationID.count == 16, "\(behaviour)")
                try await waitUntil("it was sent, or given up: \(behaviour)") {
                    relay.tries > 0 && server.services.outbox.count == 0
                }
                #expect(relay.tries == tries, "\(behaviour)")
                #expect(relay.mails.count == mails, "\(behaviour)")
                if behaviour == "lose" {
                    // Nobody can tell; a second message is asked for.
                    _ = try await alice.begin("canary@example.net")
                    try await waitUntil("it was sent") { relay.tries == 2 }
                }
                let waiting = try await server.services.database.read { connection in
                    try connection.exists("SELECT 1 FROM outgoing_message", [])
                }
                #expect(!waiting || behaviour == "lose")
            }
            // The relay's words repeat the address; ours do not.
            #expect(!log.lines.contains { $0.contains("canary") }, "\(behaviour)")
        }
    }
}

extension RunningServer {
    /// How codes go out, as everybody is told.
    fileprivate func codes() async throws -> [String] {
        try await TestClient(self).call("/1/limits", nil, as: Sealkit_V1_LimitsResponse.self).codes
    }
}
