import AsyncHTTPClient
import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct EventStreamTests {
    @Test func aStreamGoesOnAfterTheServerWasStartedAgain() async throws {
        let folder = TemporaryFolder()
        let state = Mutex<(phone: Person, desk: Person, zone: TestZone, id: String?)?>(nil)
        try await RunningServer.with(folder: folder) { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            let events = try await desk.listen()
            _ = try await phone.save([Write("a")], in: zone)
            let first = try await events.next()
            #expect(first.number == 1)
            events.close()
            _ = try await phone.save([Write("b")], in: zone)
            state.withLock { $0 = (phone, desk, zone, first.id) }
        }
        let (phone, desk, zone, id) = try #require(state.withLock { $0 })
        try await RunningServer.with(folder: folder) { server in
            let events = try await desk.at(server).listen(after: id)
            #expect(events.first.name == "ready")
            #expect(events.first.id == id)
            #expect(try await events.next().number == 2)
            // The subscription holds, and a save knows of it at once.
            _ = try await phone.at(server).save([Write("c")], in: zone)
            #expect(try await events.next().number == 3)
        }
    }

    @Test func whoMissedTooMuchIsToldToFetch() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            _ = try await phone.save([Write("a")], in: zone)
            _ = try await phone.save([Write("b")], in: zone)
            let now = server.clock.now
            try await server.services.database.write(at: .everything) {
                try NotificationFeed.sweep(now: now + PushLimits.kept + 1, in: $0)
            }
            let behind = try await desk.listen(after: desk.notificationID(1))
            #expect(behind.first.name == "reset")
            #expect(behind.first.number == 2)
            #expect(try behind.first.failure.errorCode == .changeTokenExpired)
            #expect(try await desk.listen(after: desk.notificationID(2)).first.name == "ready")
            // From before a restore: a number that was never given out.
            let ahead = try await desk.listen(after: desk.notificationID(9))
            #expect(ahead.first.name == "reset")
            #expect(ahead.first.number == 2)
            _ = try await phone.save([Write("c")], in: zone)
            for events in [behind, ahead] { #expect(try await events.next().number == 3) }
        }
    }

    /// A number without a run is from before runs were kept. It holds up to where the feed stood then.
    @Test func idsOfAnOlderServerHold() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            for name in ["a", "b"] { _ = try await phone.save([Write(name)], in: zone) }
            // As it is after the upgrade.
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute("UPDATE notification_feed SET run = 0, began = 0")
                try connection.execute("DELETE FROM notification_run")
            }
            #expect(try await desk.listen().first.id == "2")
            let events = try await desk.listen(after: "1")
            #expect(events.first.name == "ready")
            #expect(try await events.next().id == "2")
            _ = try await phone.save([Write("c")], in: zone)
            let third = try await desk.notificationID(3)
            #expect(try await events.next().id == third)
            for (id, name) in [("1", "ready"), ("2", "ready"), ("3", "reset")] {
                #expect(try await desk.listen(after: id).first.name == name, "\(id)")
            }
        }
    }

    /// A standby took over that had not got all: what comes next takes the numbers that were told.
    @Test func aStreamThatIsAheadOfItsFeedIsAReset() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            let events = try await desk.listen()
            for (number, name) in [(Int64(1), "a"), (2, "b")] {
                _ = try await phone.save([Write(name)], in: zone)
                #expect(try await events.next().number == number)
            }
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute("DELETE FROM notification")
                try connection.execute("UPDATE notification_feed SET last = 1")
            }
            server.services.streams.heartbeat()
            let event = try await events.next()
            #expect(event.name == "reset")
            #expect(event.number == 1)
            _ = try await phone.save([Write("c")], in: zone)
            #expect(try await events.next().number == 2)
        }
    }

    /// While the stream is open, too.
    @Test func moreThanAnyoneReadsIsAReset() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            _ = try await phone.modifySubscriptions(saving: (0..<6).map { .query("\($0)") })
            let events = try await desk.listen()
            _ = try await phone.save((0..<400).map { Write("r\($0)") }, in: zone)
            let event = try await events.next()
            #expect(event.name == "reset")
            #expect(event.number == 1)
            let kept = try await server.services.database.read { connection in
                try connection.first("SELECT COUNT(*) AS count FROM notification") { try $0.int64("count") }
            }
            #expect(kept == 0)
            _ = try await phone.modifySubscriptions(deleting: (1..<6).map { "\($0)" })
            _ = try await phone.save([Write("one more")], in: zone)
            #expect(try await events.notification().recordName == "one more")
        }
    }

    /// More than one page, in parts that a stream can go on from.
    @Test func manyNotificationsComeInWholeParts() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.query())
            _ = try await phone.save((0..<300).map { Write("r\($0)") }, in: zone)
            var names: Set<String> = []
            var last: String?
            var events = try await desk.listen(after: "0")
            while names.count < 300 {
                let event = try await events.next()
                names.insert(try event.notification.recordName)
                guard let id = event.id else { continue }
                last = id
                // A connection that breaks here and there loses nothing.
                if names.count % 64 == 0 { events = try await desk.listen(after: id) }
            }
            let saved = Set((0..<300).map { "r\($0)" })
            #expect(names == saved)
            let number = last.flatMap { NotificationFeed.ID($0) }?.number
            #expect(number == 10)
        }
    }

    @Test func feedsAreTrimmed() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let zone = try await phone.makeZone()
            _ = try await phone.modifySubscriptions(saving: (0..<5).map { .query("\($0)") })
            for batch in 0..<4 { _ = try await phone.save((0..<400).map { Write("\(batch)-\($0)") }, in: zone) }
            let (kept, place) = try await server.services.database.read { connection in
                let owner = try connection.first("SELECT owner FROM notification_feed") { try $0.int64("owner") } ?? 0
                let kept =
                    try connection.first("SELECT COUNT(*) AS count FROM notification") { try $0.int64("count") } ?? 0
                return (kept, try NotificationFeed.place(of: owner, in: connection))
            }
            #expect(kept > 4_000)
            #expect(kept < 6_000)
            #expect(place.floor > 0)
            #expect(place.last > place.floor)
        }
    }

    /// What many subscriptions and streams make of one change is counted. It waits, and is not lost.
    @Test func whatStreamsTellIsCounted() async throws {
        var limits = AbuseLimits()
        limits.notification = RateLimiter.Rule(count: 4, window: 4_000_000)
        try await RunningServer.with(limits: limits) { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            _ = try await phone.modifySubscriptions(saving: (0..<5).map { .query("\($0)") })
            let events = try await desk.listen()
            let first = try await phone.save([Write("a")], in: zone)
            for _ in 0..<5 { #expect(try await events.notification().recordName == "a") }
            // More than there was: what comes next waits.
            _ = try await phone.save([Write(after: first[0])], in: zone)
            _ = try await phone.save([Write("b")], in: zone)
            server.services.streams.heartbeat()
            let beat = try await events.nextOrHeartbeat()
            #expect(beat.isHeartbeat)
            #expect(beat.number == 1)
            // The account's requests have a count of their own.
            #expect(try await phone.lookup(["a", "b"], in: zone).results.count == 2)
            server.clock.advance(seconds: 2)
            server.services.streams.heartbeat()
            var told: [String] = []
            for _ in 0..<10 { told.append(try await events.notification().recordName) }
            #expect(told == Array(repeating: "a", count: 5) + Array(repeating: "b", count: 5))
        }
    }

    /// What was not written at all is not there again once something before it has expired.
    @Test func whatIsSweptHidesNothingThatWasNeverWritten() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let zone = try await phone.makeZone()
            try await phone.subscribe(.query())
            _ = try await phone.save([Write("old")], in: zone)
            server.clock.advance(seconds: PushLimits.kept / 1_000_000 + 1)
            let database = server.services.database
            let owner = try await database.write(at: .everything) { connection in
                let owner = try connection.first("SELECT owner FROM notification") { try $0.int64("owner") } ?? 0
                try NotificationFeed.overflow(owner, in: connection)
                return owner
            }
            let before = try await database.read { try NotificationFeed.place(of: owner, in: $0) }
            try await server.sweep(now: server.clock.now)
            let after = try await database.read { try NotificationFeed.place(of: owner, in: $0) }
            let isSwept = try await database.read { try !$0.exists("SELECT 1 FROM notification") }
            #expect(isSwept)
            #expect(before.floor == 2)
            #expect(after.floor == 2)
        }
    }

    @Test func aStreamEndsWithItsSession() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            let (onPhone, onDesk) = (try await phone.listen(), try await desk.listen())
            _ = try await desk.client.call(
                "/1/accounts/logout", Sealkit_V1_ChallengeRequest(), as: Sealkit_V1_AccountResponse.self)
            let end = try await onDesk.next()
            #expect(end.name == "end")
            #expect(end.id == nil)
            #expect(try end.failure.errorCode == .sessionExpired)
            #expect(try await onDesk.hasEnded())
            #expect(try await refusal { try await desk.listen() } == .sessionExpired)
            // The other device's goes on.
            let pad = try await phone.onAnotherDevice()
            _ = try await pad.save([Write("a")], in: zone)
            #expect(try await onPhone.notification().subscriptionID == "db")
            // Time ends a session too: noticed at the next sign of life.
            server.clock.advance(seconds: 31 * 86_400)
            server.services.streams.heartbeat()
            #expect(try await onPhone.next().name == "end")
        }
    }

    /// A device has so many sessions at once: the oldest ends when one more begins, and its stream with it.
    @Test func aStreamEndsWithASessionThatAnotherTakesThePlaceOf() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let events = try await anna.listen()
            for _ in 1..<Sessions.mostPerDevice {
                server.clock.advance(seconds: 1)
                _ = try await anna.client.login()
            }
            #expect(try await anna.client.me().account.count == 32)
            server.clock.advance(seconds: 1)
            let last = try await anna.onAnotherDevice()
            let end = try await events.next()
            #expect(end.name == "end")
            #expect(try end.failure.errorCode == .sessionExpired)
            try await expectRefusal(.sessionExpired) { try await anna.client.me() }
            #expect(try await last.client.me().account.count == 32)
        }
    }

    @Test func aQuietStreamShowsThatItLivesAndWhereToGoOnFrom() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            let events = try await phone.listen()
            _ = try await phone.save([Write("a")], in: zone)
            // What was this device's own is behind it, though it was not told. The signal may find the look at it
            // pending.
            var beat = TestEvents.Event()
            repeat {
                server.services.streams.heartbeat()
                beat = try await events.nextOrHeartbeat()
            } while beat.number != 1
            #expect(beat.isHeartbeat)
            #expect(beat.data.isEmpty)
        }
    }

    @Test func whoMayNotListenIsRefused() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            for id in ["x", "-1", "1.5", "99999999999999999999", "1-", "1-0", "1-x", "1-2-3", "+1"] {
                try await expectRefusal(.invalidArguments) { try await anna.listen(after: id) }
            }
            var stranger = anna.client
            stranger.token = ""
            try await expectRefusal(.notAuthenticated) { try await TestEvents(stranger, after: nil) }
            stranger.token = "wrong"
            try await expectRefusal(.sessionExpired) { try await TestEvents(stranger, after: nil) }
            for (path, code) in [
                ("other/development", ErrorCode.notAuthenticated), ("a%20b/development", .badContainer),
                ("\(TestClient.container)/staging", .invalidArguments),
            ] {
                let refused = try await refusal {
                    try await anna.client.call(
                        "/database/1/\(path)/notifications", nil, as: Sealkit_V1_Failure.self)
                }
                #expect(refused == code, "\(path)")
            }
        }
    }

    @Test func streamsAreCountedAndGivenBack() async throws {
        var limits = AbuseLimits()
        limits.streamsPerAccount = 2
        try await RunningServer.with(limits: limits) { server in
            let anna = try await Person.ready(server)
            let first = try await anna.listen()
            let second = try await anna.onAnotherDevice().listen()
            do {
                _ = try await anna.listen()
                Issue.record("a third stream was opened")
            } catch let refusal as Refusal {
                #expect(refusal.code == .requestRateLimited)
                #expect(refusal.failure.retryAfter > 0)
            }
            // Somebody else has a number of its own.
            _ = try await Person.ready(server).listen()
            first.close()
            second.close()
            while server.services.streams.count > 1 { try await Task.sleep(for: .milliseconds(5)) }
            _ = try await anna.listen()
        }
    }

    /// Whoever makes accounts has no more of them for it.
    @Test func oneAddressHasAShareOfTheStreams() throws {
        let (streams, channel) = (EventStreams(limit: 8), NIOAsyncTestingChannel())
        func open(_ account: Int64, from client: UInt8) throws(ServerError) -> EventStreams.Opened {
            try streams.open(
                viewer: account, account: account, in: TelemetryPlace(container: "", environment: ""), channel: channel,
                client: [client], limit: 1)
        }
        func code(_ account: Int64, from client: UInt8) -> ErrorCode? {
            do throws(ServerError) { _ = try open(account, from: client) } catch { return error.code }
            return nil
        }
        let first = try open(1, from: 1)
        let (second, third, other) = (code(2, from: 1), code(3, from: 1), code(4, from: 2))
        #expect(second == nil)
        #expect(third == .requestRateLimited)
        #expect(other == nil)
        streams.close(first.id)
        let afterwards = code(5, from: 1)
        #expect(afterwards == nil)
        for account in Int64(6)...10 { _ = try open(account, from: UInt8(account)) }
        let ofEverybody = code(11, from: 11)
        #expect(ofEverybody == .serviceUnavailable)
    }

    /// Nothing piles up for a reader that does not read, and its place is taken from it.
    @Test func aReaderThatStopsIsCutOff() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            var subscription = Sealkit_V1_Subscription.query("loud")
            subscription.notificationInfo.alertBody = String(repeating: "x", count: 2_000)
            try await phone.subscribe(subscription)
            var request = HTTPClientRequest(
                url: server.origin + "/database/1/\(TestClient.container)/development/notifications")
            request.headers.add(name: "Authorization", value: "Bearer \(desk.client.token)")
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
            let streams = server.services.streams
            var batch = 0
            // As much as the sockets between hold.
            while streams.waitingCount == 0 {
                _ = try await phone.save((0..<400).map { Write("\(batch)-\($0)") }, in: zone)
                batch += 1
                try await Task.sleep(for: .milliseconds(200))
            }
            #expect(streams.count == 1)
            streams.heartbeat(now: .now + EventStreams.patience * 2)
            while streams.count > 0 { try await Task.sleep(for: .milliseconds(5)) }
            withExtendedLifetime(response) {}
        }
    }

    /// Its client only sees that it ends.
    @Test func aStreamThatCannotReadItsFeedIsLogged() async throws {
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger) { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            _ = try await phone.save([Write("a")], in: zone)
            try await server.services.database.write(at: .everything) {
                try $0.execute("UPDATE notification SET payload = $1", [.blob([0xFF])])
            }
            let events = try await desk.listen(after: "0")
            let event = try? await events.next()
            #expect(event == nil)
            try await waitUntil("it is logged") { log.lines.contains { $0.contains("request failed") } }
        }
        let isLogged = log.lines.contains { $0.contains("request failed") && $0.contains("/notifications") }
        #expect(isLogged)
    }

    @Test func openStreamsDoNotHoldTheServer() async throws {
        let open = Mutex<TestEvents?>(nil)
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let events = try await anna.listen()
            open.withLock { $0 = events }
        }
        // It ended as an answer ends, and not because a connection was cut.
        let events = try #require(open.withLock { $0 })
        #expect(try await events.hasEnded())
    }
}
