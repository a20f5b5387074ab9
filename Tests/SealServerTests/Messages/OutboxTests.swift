import Foundation
import SealLab
import SealPrimitives
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Codes reach their mailboxes in the end, or are given up: whatever relay, process and clock do.
@Suite(.timeLimit(.minutes(60))) struct OutboxTests {
    /// Messages that wait, as the database has them.
    private static func waiting(_ server: RunningServer) async throws -> [(sealed: [UInt8], attempts: Int64)] {
        try await server.services.database.read { connection in
            try connection.rows("SELECT sealed, attempts FROM outgoing_message", []) {
                (try $0.bytes("sealed"), try $0.int64("attempts"))
            }
        }
    }

    @Test func aMessageThatWaitsOutlivesARestart() async throws {
        let (folder, clock) = (TemporaryFolder(), TestClock())
        try await RunningServer.with(folder: folder, clock: clock, outboxWaits: [.seconds(3600)]) { server in
            server.mail.fail(with: [.notSent(code: 7, status: 0, reason: "")])
            let alice = try await TestClient.ready(server)
            _ = try await alice.begin("Alice@example.org", language: "de")
            try await waitUntil("it was tried once, and that is noted") {
                try await Self.waiting(server).first?.attempts == 1
            }
            // What waits shows neither address nor code.
            let stored = try server.storedBytes()
            #expect(!stored.contains(bytes: Array("lice@".utf8)))
        }
        // The same folder, another process as far as it knows.
        try await RunningServer.with(folder: folder, clock: clock) { server in
            _ = try await server.mail.code(1)
            let sent = server.mail.sent[0]
            #expect(sent.recipient == "Alice@example.org")
            #expect(sent.language == "de")
            #expect(sent.body.contains(server.origin))
            try await waitUntil("nothing waits") { try await Self.waiting(server).isEmpty }
        }
        try await RunningServer.with(folder: folder, clock: clock) { server in
            try await Task.sleep(for: .milliseconds(200))
            #expect(server.mail.tries == 0, "sent once")
        }
    }

    /// Restarts give a relay that is out of order no more tries than it has.
    @Test func howOftenItWasTriedOutlivesARestart() async throws {
        try await RunningServer.with { server in
            try await waitUntil("nobody looks for what was left over any more") { server.services.jobs.areIdle }
            var random = SystemRandom()
            let key = SecretBytes(random: &random)
            let (rows, next) = (
                OutgoingMessages(key: key, sender: 1, kinds: [.email]),
                OutgoingMessages(key: key, sender: 2, kinds: [.email])
            )
            let now = server.clock.now
            let waiting = WaitingMessage(
                id: ID16(random: &random), kind: .email,
                message: CodeMessage(recipient: "a@example.org", code: "12345678", language: "en"), attempts: 0,
                expires: now + 60_000_000, container: "")
            let left = try await server.services.database.write(at: .everything) { connection in
                try rows.insert(waiting, in: connection)
                for _ in 0..<2 { try rows.countAttempt(waiting.id, in: connection) }
                // Whoever cannot send it leaves it to others.
                let texts = OutgoingMessages(key: key, sender: 3, kinds: [.phone])
                #expect(try !texts.areLeftOver(in: connection))
                #expect(try texts.takeOver(now: now, in: connection).messages.isEmpty)
                let left = try next.takeOver(now: now, in: connection).messages
                // They are its own from now on.
                #expect(try next.takeOver(now: now, in: connection).messages.isEmpty)
                return left
            }
            #expect(left.map(\.attempts) == [2])
            #expect(left.map(\.id) == [waiting.id])
            // It goes on counting there: of three tries two were made.
            server.mail.fail(with: [.notSent(code: 7, status: 0, reason: "")])
            server.services.outbox.send(try #require(left.first))
            try await waitUntil("it was given up") {
                try await Self.waiting(server).isEmpty && server.services.outbox.count == 0
            }
            #expect(server.mail.tries == 1)
            #expect(server.mail.sent.isEmpty)
        }
    }

    /// However many somebody has left behind, no transaction is as long as that; what cannot be opened keeps nothing
    /// from being sent.
    @Test func whatIsLeftBehindIsTakenOverInParts() async throws {
        try await RunningServer.with { server in
            try await waitUntil("nobody looks for what was left over any more") { server.services.jobs.areIdle }
            var random = SystemRandom()
            let (key, other) = (SecretBytes(random: &random), SecretBytes(random: &random))
            let now = server.clock.now
            let waiting = (0..<250).map { index in
                WaitingMessage(
                    id: ID16(random: &random), kind: .email,
                    message: CodeMessage(recipient: "a@example.org", code: "12345678", language: "en"), attempts: 0,
                    expires: now + (index < 20 ? 0 : 60_000_000 + Int64(index)), container: "")
            }
            let taken = try await server.services.database.write(at: .everything) { connection in
                for (index, message) in waiting.enumerated() {
                    try OutgoingMessages(key: index < 120 ? other : key, sender: 1, kinds: [.email])
                        .insert(message, in: connection)
                }
                let next = OutgoingMessages(key: key, sender: 2, kinds: [.email])
                return try (0..<4).map { _ in
                    let taken = try next.takeOver(now: now, in: connection)
                    return "\(taken.messages.count) \(taken.isAll)"
                }
            }
            #expect(taken == ["0 false", "100 false", "30 true", "0 true"])
        }
    }

    @Test func theCodeInItCountsAfterTheRestart() async throws {
        let (folder, clock) = (TemporaryFolder(), TestClock())
        let client = Mutex<TestClient?>(nil)
        let id = Mutex(Data())
        try await RunningServer.with(folder: folder, clock: clock, outboxWaits: [.seconds(3600)]) { server in
            server.mail.fail(with: [.notSent(code: 7, status: 0, reason: "")])
            let alice = try await TestClient.ready(server)
            let begun = try await alice.begin("alice@example.org")
            id.withLock { $0 = begun.verificationID }
            client.withLock { $0 = alice }
        }
        try await RunningServer.with(folder: folder, clock: clock) { server in
            let (known, begun) = (client.withLock { $0 }, id.withLock { $0 })
            var alice = try #require(known)
            alice.server = server
            let code = try await server.mail.code(1)
            _ = try await alice.complete(begun, code)
            #expect(try await alice.me().linkedAddresses == 1)
        }
    }

    @Test func whatDiedBetweenSendingAndStoringGoesOutAgainWithTheSameCode() async throws {
        let (folder, clock) = (TemporaryFolder(), TestClock())
        let first = Mutex<OutgoingMessage?>(nil)
        let rows = Mutex<[[SQLValue]]>([])
        try await RunningServer.with(folder: folder, clock: clock, outboxWaits: [.seconds(3600)]) { server in
            server.mail.fail(with: [.notSent(code: 7, status: 0, reason: "")])
            let alice = try await TestClient.ready(server)
            _ = try await alice.begin("alice@example.org")
            try await waitUntil("it was tried") { server.mail.tries == 1 }
            let found = try await server.services.database.read { connection in
                try connection.rows("SELECT id, kind, sealed, attempts, expires FROM outgoing_message", []) {
                    row -> [SQLValue] in
                    [
                        .blob(try row.bytes("id")), .text(try row.text("kind")), .blob(try row.bytes("sealed")),
                        .integer(0),
                        .integer(try row.int64("expires")),
                    ]
                }
            }
            rows.withLock { $0 = found }
        }
        // Sent, and then as if the process had died before it could take the row away: the row is back.
        try await RunningServer.with(folder: folder, clock: clock) { server in
            _ = try await server.mail.code(1)
            first.withLock { $0 = server.mail.sent[0] }
            try await waitUntil("nothing waits") { try await Self.waiting(server).isEmpty }
            let kept = rows.withLock { $0.first }
            let row = try #require(kept)
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    "INSERT INTO outgoing_message (id, kind, sealed, attempts, expires) VALUES ($1, $2, $3, $4, $5)",
                    row)
            }
        }
        try await RunningServer.with(folder: folder, clock: clock) { server in
            let code = try await server.mail.code(1)
            let again = server.mail.sent[0]
            let kept = first.withLock { $0 }
            let before = try #require(kept)
            #expect(before.id == again.id, "a second copy, which can be told as such")
            #expect(before.body.contains(code), "a second copy, which can be told as such")
            try await waitUntil("nothing waits") { try await Self.waiting(server).isEmpty }
        }
    }

    @Test func aRelayThatRefusesForGoodIsNotAskedAgain() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            server.mail.fail(with: [.notSent(code: 55, status: 550, reason: "")])
            let begun = try await alice.begin("a@example.org")
            #expect(begun.verificationID.count == 16, "the answer is the same")
            try await waitUntil("it was given up") { try await Self.waiting(server).isEmpty && server.mail.tries == 1 }
            // One that says “not now” is.
            server.mail.fail(with: [.notSent(code: 55, status: 451, reason: ""), .unavailable])
            _ = try await alice.begin("b@example.org")
            _ = try await server.mail.code(1)
            #expect(server.mail.tries == 4)
        }
    }

    @Test func aRelayThatStaysDownLosesTheMessageAndNothingElse() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            server.mail.fail(with: Array(repeating: .notSent(code: 7, status: 0, reason: ""), count: 3))
            _ = try await alice.begin("a@example.org")
            try await waitUntil("it was given up") { try await Self.waiting(server).isEmpty && server.mail.tries == 3 }
            // A relay that takes mail and loses it looks the same to whoever waits: another code is asked for, and
            // works.
            let again = try await alice.begin("a@example.org")
            _ = try await alice.complete(again.verificationID, server.mail.code(1))
        }
    }

    /// Its server goes on for weeks: whatever could not be noted is not there for as long.
    @Test func whatCouldNotBeNotedGoesOnceItsCodeIsOfNoUse() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            try await waitUntil("its jobs have looked") { server.services.jobs.areIdle }
            let alice = try await TestClient.ready(server)
            server.mail.fail(with: [.unavailable])
            server.mail.before {
                // What is written next is that it went out.
                guard server.mail.tries == 1 else { return }
                hook.arm { _ in throw StorageError.unavailable(message: "gone") }
            }
            _ = try await alice.begin("alice@example.org")
            _ = try await server.mail.code(1)
            try await waitUntil("it is not sent any more") { server.services.outbox.count == 0 }
            #expect(!hook.isArmed)
            #expect(try await Self.waiting(server).map(\.attempts) == [1])
            #expect(try await server.services.condition.value(of: .stuckMessages) == 1)
            server.clock.advance(seconds: 3_600)
            #expect(try await server.services.condition.value(of: .stuckMessages) == 0)
            server.services.jobs.wake(.outbox)
            try await waitUntil("nothing waits") { try await Self.waiting(server).isEmpty }
            #expect(server.mail.tries == 2)
        }
    }

    @Test func aMessageWhoseCodeHasExpiredIsNotSent() async throws {
        let (folder, clock) = (TemporaryFolder(), TestClock())
        try await RunningServer.with(folder: folder, clock: clock, outboxWaits: [.seconds(3600)]) { server in
            server.mail.fail(with: [.unavailable])
            let alice = try await TestClient.ready(server)
            _ = try await alice.begin("a@example.org")
            try await waitUntil("it was tried") { server.mail.tries == 1 }
        }
        // Neither late, nor after the clock was set back by a day, when it would seem to have a day left.
        clock.advance(seconds: -86_400)
        try await RunningServer.with(folder: folder, clock: clock) { server in
            try await waitUntil("nothing waits") { try await Self.waiting(server).isEmpty }
            #expect(server.mail.tries == 0)
        }
    }

    /// Connections are made, and nothing is said on them.
    @Test func aRelayThatHangsHoldsNobody() async throws {
        let mails = TemporaryFolder()
        let relay = try MailServer(folder: URL(fileURLWithPath: mails.file("mail")))
        defer { relay.stop() }
        try await relay.waitUntilListening()
        relay.pause()
        let mail = MailConfiguration(url: relay.url, from: "codes@example.org", startTLS: .off)
        try await RunningServer.with(sendsMail: false, mailConfiguration: mail) { server in
            let alice = try await TestClient.ready(server)
            for number in 0..<12 { _ = try await alice.begin("a\(number)@example.org") }
            #expect(server.services.outbox.count == 12)
            #expect(server.services.outbox.hasRoom)
            #expect(try await alice.me().linkedAddresses == 0)
            #expect(try await Self.waiting(server).count == 12)
            // It stops all the same, and leaves behind what libcurl would have waited half a minute for.
            await server.services.outbox.close()
            #expect(server.services.outbox.count > 0, "it did not wait for the relay")
            #expect(try await Self.waiting(server).count == 12, "nothing was lost")
        }
    }

    /// What is cut short by the server's end was not sent as far as anybody knows: the next start sends it.
    @Test func whatIsCutShortWaitsForTheNextStart() async throws {
        try await RunningServer.with { server in
            try await waitUntil("nobody looks for what was left over any more") { server.services.jobs.areIdle }
            let relay = HangingMessenger()
            let outbox = Outbox(
                messengers: [.email: relay], key: SecretBytes(copying: [UInt8](repeating: 1, count: 32)),
                sender: 1, database: server.services.database, origin: server.services.origin,
                clock: { server.clock.now },
                logger: server.services.logger, settled: { _, _ in })
            let waiting = WaitingMessage(
                id: ID16.random(), kind: .email,
                message: CodeMessage(recipient: "a@example.org", code: "12345678", language: "en"), attempts: 0,
                expires: server.clock.now + 60_000_000, container: "")
            try await server.services.database.write(at: .everything) { try outbox.store(waiting, in: $0) }
            outbox.send(waiting)
            try await waitUntil("it is being sent") { relay.isSending }
            await outbox.close()
            #expect(outbox.count == 0)
            #expect(try await Self.waiting(server).map(\.attempts) == [0])
        }
    }

    /// Also where nothing but a message shows whether the way is there: a text gateway, mail that is not checked.
    @Test(arguments: [Address.Kind.phone, .email])
    func aMistypedAddressDoesNotMeanThatCodesCannotBeSent(kind: Address.Kind) async throws {
        try await RunningServer.with(sendsTexts: true) { server in
            let alice = try await TestClient.ready(server)
            let (messenger, failing) =
                kind == .phone ? (server.phones, "text-failing") : (server.mail, "mail-failing")
            let refusal: MessengerError =
                kind == .phone ? .gateway(status: 400) : .notSent(code: 55, status: 550, reason: "")
            func begin(_ number: Int) async throws {
                let tries = messenger.tries
                _ = try await alice.begin(kind == .phone ? "+493012345\(number)" : "a\(number)@example.org")
                try await waitUntil("it was sent or given up") {
                    messenger.tries > tries && server.services.outbox.count == 0
                }
            }
            func isCalledFailing() async throws -> Bool {
                try await alice.call("/1/limits", nil, as: Sealkit_V1_LimitsResponse.self).codes.contains(failing)
            }
            for number in 1...MessengerStates.mostRefusals {
                messenger.fail(with: [refusal])
                try await begin(number)
                let isLast = number == MessengerStates.mostRefusals
                #expect(server.services.outbox.states[kind] == (isLast ? .failing : .refused), "\(number)")
                let isFailing = try await isCalledFailing()
                #expect(isFailing == isLast, "\(number)")
            }
            try await begin(7)
            #expect(server.services.outbox.states[kind] == .ok)
            let isFailing = try await isCalledFailing()
            #expect(!isFailing)
            // A gateway that does not answer is no recipient's fault.
            messenger.fail(with: [.unavailable, .unavailable, .unavailable])
            try await begin(8)
            #expect(server.services.outbox.states[kind] == .failing)
        }
    }

    /// After an outage, say, that was mended with a sender whom the relay refuses.
    @Test func whatFailedOnTheWayCountsWhenItIsRefusedLater() async throws {
        try await RunningServer.with { server in
            try await waitUntil("nobody looks for what was left over any more") { server.services.jobs.areIdle }
            let relay = CapturingMessenger(canBeTried: true)
            let outbox = Outbox(
                messengers: [.email: relay], key: SecretBytes(copying: [UInt8](repeating: 1, count: 32)),
                sender: 1, database: server.services.database, origin: server.services.origin,
                clock: { server.clock.now },
                logger: server.services.logger, waits: [.milliseconds(5), .milliseconds(5), .milliseconds(5)],
                settled: { _, _ in })
            func send() async throws {
                let waiting = WaitingMessage(
                    id: ID16.random(), kind: .email,
                    message: CodeMessage(recipient: "a@example.org", code: "12345678", language: "en"), attempts: 0,
                    expires: server.clock.now + 60_000_000, container: "")
                try await server.services.database.write(at: .everything) { try outbox.store(waiting, in: $0) }
                outbox.send(waiting)
                try await waitUntil("it was given up") { outbox.count == 0 }
            }
            for number in 1...MessengerStates.mostRefusals {
                // Refused twice, it counts once.
                relay.fail(with: [
                    .notSent(code: 7, status: 0, reason: ""), .notSent(code: 55, status: 451, reason: ""),
                    .notSent(code: 55, status: 550, reason: ""),
                ])
                try await send()
                #expect(outbox.states[.email] == (number == MessengerStates.mostRefusals ? .failing : .refused))
            }
            #expect(relay.sent.isEmpty)
            await outbox.close()
        }
    }

    @Test func aFullOutboxIsSaid() async throws {
        try await RunningServer.with(outboxWaits: [.seconds(3600)]) { server in
            let alice = try await TestClient.ready(server)
            let outbox = Outbox(
                messengers: [.email: server.mail], key: SecretBytes(copying: [UInt8](repeating: 1, count: 32)),
                sender: 1, database: server.services.database, origin: server.services.origin,
                clock: { server.clock.now },
                logger: server.services.logger, waits: [.seconds(3600)], capacity: 2, settled: { _, _ in })
            server.mail.fail(with: Array(repeating: .unavailable, count: 2))
            for number in 0..<2 {
                let message = CodeMessage(recipient: "a@example.org", code: "1", language: "en")
                #expect(outbox.hasRoom)
                outbox.send(
                    WaitingMessage(
                        id: try ID16([UInt8](repeating: UInt8(number), count: 16)), kind: .email, message: message,
                        attempts: 0,
                        expires: server.clock.now + 1_000_000, container: ""))
            }
            #expect(!outbox.hasRoom)
            #expect(outbox.carries(.email))
            #expect(!outbox.carries(.phone))
            await outbox.close()
            #expect(outbox.count == 0)
            #expect(!outbox.hasRoom)
            // A server whose outbox is closed says so, and stores nothing.
            await server.services.outbox.close()
            try await expectRefusal(.serviceUnavailable) { try await alice.begin("a@example.org") }
            #expect(try await Self.waiting(server).isEmpty)
        }
    }
}

/// A relay that takes a message and says nothing, until its sender waits no longer.
private final class HangingMessenger: Messenger {
    private let sending = Mutex(false)
    var isSending: Bool { sending.withLock { $0 } }

    func send(_ message: OutgoingMessage) async throws {
        sending.withLock { $0 = true }
        try await Task.sleep(for: .seconds(3_600))
    }
}
