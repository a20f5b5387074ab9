import Foundation
import NIOCore
import SealLab
import SealQuery
import SealStatements
import Synchronization
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct PushTests {
    /// The next notification that a subscription gave rise to.
    private func fired(
        _ notifications: inout AsyncThrowingStream<Container.Notification, any Error>.Iterator
    ) async throws -> Container.Notification.Fired {
        while let notification = try await notifications.next() {
            if case .fired(let fired) = notification.content { return fired }
        }
        throw SealKitError(.internalError, "the stream ended")
    }

    /// A network whose own server answers in the place of the one that was meant: for a while, as in a café.
    private final class Café: PassingTransport {
        let next: any Transport
        private let turns: Mutex<[Bool]>

        /// - Parameter turns: for each connection to come whether it reaches the server, which says that it is ready
        ///   and ends it.
        init(_ next: HTTPTransport, _ turns: [Bool]) {
            self.next = next
            self.turns = Mutex(turns)
        }

        func events(
            _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
        ) async throws(SealKitError) {
            guard turns.withLock({ $0.isEmpty ? true : $0.removeFirst() }) else {
                throw SealKitError(
                    .serverNotTrusted,
                    "the server's certificate is for another name than the address has; nothing was sent")
            }
            do {
                try await consume(
                    ByteBuffer(string: "event: \(lastEventID == nil ? "ready" : "reset")\nid: 1\ndata:\n\n"))
            } catch {
                throw SealKitError(.networkFailure, "\(error)")
            }
        }
    }

    @Test func aStreamThatWasUpOutlastsANetworkThatAnswersInTheServersPlace() async throws {
        let person = try await Person().through(
            Café(try HTTPTransport(server: ServerProcess.shared.get().origin), [true, false]))
        let (told, tell) = AsyncStream<SealKitError.Code?>.makeStream()
        var notifications = person.container.notifications { tell.yield($0?.code) }.makeAsyncIterator()
        #expect(try await notifications.next()?.content == .ready)
        #expect(try await notifications.next()?.content == .reset)
        var all = told.makeAsyncIterator()
        let (away, back) = (await all.next(), await all.next())
        #expect(away == .some(.serverNotTrusted))
        #expect(back == .some(nil))
    }

    /// Nobody has heard the server yet: it is the address that is wrong.
    @Test func aStreamFromAServerThatNobodyTrustsEnds() async throws {
        let person = try await Person().through(
            Café(try HTTPTransport(server: ServerProcess.shared.get().origin), [false]))
        var notifications = person.container.notifications().makeAsyncIterator()
        #expect(await failure { _ = try await notifications.next() } == .serverNotTrusted)
    }

    @Test func subscriptionsOfEachKindComeBackAsTheyWere() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var database = DatabaseSubscription(subscriptionID: "everything")
        database.recordType = "Note"
        var info = NotificationInfo()
        info.alertBody = "Something changed"
        info.shouldSendContentAvailable = true
        database.notificationInfo = info
        let inZone = RecordZoneSubscription(zoneID: zone, subscriptionID: "zone")
        var query = QuerySubscription(
            recordType: "Note", predicate: Query.Predicate([Query.Field<Int>("stars") > 3]), subscriptionID: "stars",
            options: [.firesOnRecordCreation, .firesOnce])
        query.zoneID = zone
        query.notificationInfo = NotificationInfo()
        query.notificationInfo?.desiredKeys = ["stars"]
        let results = try await ann.own.modifySubscriptions(saving: [database, inZone, query])
        #expect(results.saveResults.values.allSatisfy { $0.failureCode == nil })
        #expect(try await ann.own.subscription(for: "everything") as? DatabaseSubscription == database)
        #expect(try await ann.own.subscription(for: "zone") as? RecordZoneSubscription == inZone)
        #expect(try await ann.own.subscription(for: "stars") as? QuerySubscription == query)
        #expect(try await ann.own.allSubscriptions().map(\.subscriptionID) == ["everything", "stars", "zone"])

        try await ann.own.deleteSubscription(withID: "zone")
        #expect(await failure { _ = try await ann.own.subscription(for: "zone") } == .unknownItem)
        #expect(await failure { try await ann.own.deleteSubscription(withID: "zone") } == .unknownItem)
        #expect(await failure { try await ann.shared.save(inZone) } == .badDatabase)
        #expect(await failure { try await ann.shared.save(query) } == .badDatabase)
        try await ann.shared.save(DatabaseSubscription(subscriptionID: "shares"))
        query = QuerySubscription(recordType: "Note", predicate: .constant(true), subscriptionID: "", options: [])
        #expect(await failure { try await ann.own.save(query) } == .invalidArguments)
    }

    @Test func anotherDeviceIsToldAndFetchesWhatChanged() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        try await ann.own.save(DatabaseSubscription(subscriptionID: "all"))
        let query = QuerySubscription(
            recordType: "Note", predicate: .constant(true), subscriptionID: "notes", options: .firesOnRecordCreation)
        var asking = query
        asking.notificationInfo = NotificationInfo()
        asking.notificationInfo?.desiredKeys = ["headline", "body"]
        try await ann.own.save(asking)
        let desk = try ann.onFreshDevice()
        var notifications = desk.container.notifications().makeAsyncIterator()
        #expect(try await notifications.next()?.content == .ready)
        var note = ann.note(in: zone, "sealed", name: "one")
        note["headline"] = "plain"
        try await ann.own.save(note)
        var told: [String: Container.Notification.Fired] = [:]
        while told.count < 2 {
            let one = try await fired(&notifications)
            told[one.subscriptionID] = one
        }
        #expect(told["all"]?.zoneID == zone)
        #expect(told["all"]?.databaseScope == .private)
        #expect(told["all"]?.recordID == nil)
        let record = try #require(told["notes"])
        #expect(record.recordID == note.recordID)
        #expect(record.queryNotificationReason == .recordCreated)
        #expect(record.recordFields == ["headline": .string("plain")])
        #expect(record.isPruned)
        let changes = try await desk.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.map(\.recordID) == [note.recordID])
    }

    @Test func aStreamOutlivesItsServer() async throws {
        var server = try ServerProcess(mail: false)
        let folder = server.folder
        defer { try? FileManager.default.removeItem(at: folder) }
        let port = try #require(URL(string: server.origin)?.port)
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        try await ann.own.save(DatabaseSubscription(subscriptionID: "all"))
        let desk = try ann.onFreshDevice()
        var notifications = desk.container.notifications().makeAsyncIterator()
        #expect(try await notifications.next()?.content == .ready)
        // An open stream does not hold the server when it stops.
        server.terminate()
        #expect(server.exitStatus == 0)
        server = try ServerProcess(folder: folder, port: port, mail: false)
        defer { server.terminate() }
        // Saved before or after the stream is back: told in either case.
        try await ann.own.save(ann.note(in: zone, "after the restart"))
        // That it is back is nobody's business: what it says next is what has happened.
        let next = try await notifications.next()
        guard case .fired(let told)? = next?.content else {
            Issue.record("something else was told: \(String(describing: next?.content))")
            return
        }
        #expect(told.zoneID == zone)
    }

    @Test func aStreamGoesOnAfterAnIDAndEndsWithTheAccount() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        try await ann.own.save(DatabaseSubscription(subscriptionID: "all"))
        let desk = try ann.onFreshDevice()
        let first = desk.container.notifications()
        var lastID: String?
        for try await notification in first {
            lastID = notification.id
            break
        }
        try await ann.own.save(ann.note(in: zone, "while nobody listens"))
        var notifications = desk.container.notifications(after: lastID).makeAsyncIterator()
        #expect(try await notifications.next()?.content == .ready)
        #expect(try await fired(&notifications).subscriptionID == "all")
        try await desk.account.logOut()
        #expect(await failure { _ = try await notifications.next() } == .notAuthenticated)
        var wrong = ann.container.notifications(after: "not an id").makeAsyncIterator()
        #expect(await failure { _ = try await wrong.next() } == .invalidArguments)
    }

    @Test func aCancelledReaderEnds() async throws {
        let ann = try await Person()
        let reader = Task {
            var count = 0
            for try await _ in ann.container.notifications() { count += 1 }
            return count
        }
        reader.cancel()
        #expect(try await reader.value <= 1)
    }

    @Test func eventsAreReadHoweverTheyAreCut() throws {
        let text =
            "retry: 1\n\n:\nid: 4\n\nevent: notification\r\nid: 5\r\ndata: {\"a\":\r\ndata: \"ü\"}\r\n\r\nunknown\n\ndata:x\n\n"
        for size in [1, 2, 3, 7, 1_000] {
            var parser = ServerSentEvents()
            var events: [ServerSentEvents.Event] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                events += try parser.read(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(
                events == [
                    .init(id: "4"), .init(name: "notification", data: "{\"a\":\n\"ü\"}", id: "5"), .init(data: "x"),
                ])
        }
        var parser = ServerSentEvents()
        #expect(throws: SealKitError.self) {
            _ = try parser.read(repeatElement(UInt8(0x78), count: ServerSentEvents.maximumBytes + 1))
        }
    }
}
