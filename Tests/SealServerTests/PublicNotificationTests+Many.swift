import Foundation
import SealCoding
import SealEnvelope
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Many subscribers, many changes, and a server that is stopped in between.
extension PublicNotificationTests {
    /// A save does the same work however many subscribed: they are told after it, a part at a time.
    @Test func aSaveCostsTheSameForManySubscribers() async throws {
        try await withPeople { anna, bert, server in
            func cost(_ name: String, type: String = "Note") async throws -> Int {
                try await server.services.database.write(at: .everything) { connection in
                    let counted = QuietConnection(base: connection)
                    let zone = try PublicZone.find(Self.path, in: connection)
                    let caller = try anna.caller(connection)
                    try Notifier(zone: zone, caller: caller, now: server.clock.now, connection: counted)
                        .recordsChanged([Self.change(name, type: type, by: anna.user)])
                    return counted.count
                }
            }
            _ = try await anna.savePublic([PublicWrite("first")])
            let none = try await cost("a")
            #expect(none == 0)
            try await anna.subscribe(.query("only"), in: "public")
            let one = try await cost("b")
            #expect(one == 3)
            for person in [anna, bert] {
                let many = (0..<90).map { Sealkit_V1_Subscription.query("q\($0)") }
                _ = try await person.modifySubscriptions(saving: many, in: "public")
            }
            let hundred = try await cost("c")
            #expect(hundred == 3)
            // A change of what nobody asked for is not noted at all.
            let unasked = try await cost("d", type: "Other")
            #expect(unasked == 1)
        }
    }

    @Test func everyOneOfManySubscriptionsIsTold() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var subscribers: [(person: Person, events: TestEvents)] = []
            for _ in 0..<3 {
                let person = try await Person.ready(server)
                let many = (0..<100).map { Sealkit_V1_Subscription.query("q\($0)") }
                let results = try await person.modifySubscriptions(saving: many, in: "public")
                let refused = results.count { !$0.failure.code.isEmpty }
                #expect(refused == 0)
                subscribers.append((person, try await person.listen()))
            }
            let more = try await subscribers[0].person.modifySubscriptions(saving: [.query("q100")], in: "public")
            #expect(more[0].failure.errorCode == .limitExceeded)
            #expect(300 > PublicNotifier.subscriptionsAtOnce)
            _ = try await anna.savePublic([PublicWrite("a")])
            for (_, events) in subscribers {
                var told: Set<String> = []
                for _ in 0..<100 { told.insert(try await events.notification().subscriptionID) }
                #expect(told.count == 100)
            }
            // Everybody once: nothing is left to tell.
            _ = try await anna.savePublic([PublicWrite("b")])
            for (_, events) in subscribers {
                let next = try await events.notification()
                #expect(next.recordName == "b")
            }
        }
    }

    /// Who looks for many values in records' long lists is told in as many transactions, and whose subscription alone
    /// is too much is told to fetch: nobody's saves wait for all of it.
    @Test("Subscribers of a public database look for very many values: telling them keeps nobody's saves waiting.")
    func attack93_publicComparisons() async throws {
        try await withPeople { anna, bert, server in
            _ = try await anna.savePublic([PublicWrite("first")])
            let wanted = (0..<250).map { Value.int64(-1 - Int64($0)) }
            let costly = Query.Predicate([Query.Condition(.containsAny("tags", wanted))])
            let results = try await bert.modifySubscriptions(
                saving: (0..<4).map { .query("q\($0)", where: costly) }, in: "public")
            #expect(results.map(\.failure.code) == ["", "", "", ""])
            let (services, now) = (server.services, server.clock.now)
            /// Where each transaction goes on, and how much of its room it has used; who is told to fetch.
            func tell(_ name: String, elements: Int) async throws -> (steps: [String], overflown: Int64) {
                let list = WireField.stored(.plain(.list((0..<elements).map { .int64(Int64($0)) })), blob: nil).wire(
                    name: "tags")
                return try await services.database.write(at: .everything) { connection in
                    let quiet = QuietConnection(base: connection)
                    let change = try Self.change(name, by: anna.user, .with { $0.fields = [list] })
                    try PublicChanges.note(
                        [change], in: try PublicZone.find(Self.path, in: quiet), by: try anna.caller(quiet), now: now,
                        connection: quiet)
                    var steps: [String] = []
                    while let row = try PublicChangeRow.next([:], after: nil, in: quiet) {
                        let telling = PublicTelling(change: row, schemas: services.schemas, connection: quiet)
                        let found = try telling.find(atMost: PublicNotifier.subscriptionsAtOnce, bills: [])
                        try found.write(in: quiet)
                        steps.append("\(row.told.id) \(found.used)")
                    }
                    let overflown =
                        try quiet.first("SELECT COUNT(*) AS count FROM notification_feed WHERE floor > 0") {
                            try $0.int64("count")
                        }
                        ?? 0
                    return (steps, overflown)
                }
            }
            let few = try await tell("few", elements: 10)
            #expect(few.steps == [" 4"])
            #expect(few.overflown == 0)
            let each = [" 256", "q0 256", "q1 256", "q2 1"]
            let many = try await tell("many", elements: 100)
            #expect(many.steps == each)
            #expect(many.overflown == 0)
            let most = try await tell("most", elements: 9_000)
            #expect(most.steps == each)
            #expect(most.overflown == 1)
        }
        AttackOutcome.held("a transaction ends with the first that is much, who asks for too much is told to fetch")
    }

    @Test func whoWasNotToldYetIsToldAfterARestart() async throws {
        let folder = TemporaryFolder()
        let subscriber = Mutex<Person?>(nil)
        try await RunningServer.with(folder: folder) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            _ = try await anna.savePublic([PublicWrite("first")])
            try await bert.subscribe(.query(), in: "public")
            // As if the server had been killed between the save and the telling.
            try await server.services.database.write(at: .everything) { connection in
                let zone = try PublicZone.find(Self.path, in: connection)
                let caller = try anna.caller(connection)
                try PublicChanges.note(
                    [Self.change("late", by: anna.user)], in: zone, by: caller, now: server.clock.now,
                    connection: QuietConnection(base: connection))
            }
            subscriber.withLock { $0 = bert }
        }
        try await RunningServer.with(folder: folder) { server in
            let found = subscriber.withLock { $0 }
            let bert = try #require(found).at(server)
            let events = try await bert.listen(after: "0")
            let told = try await events.notification()
            #expect(told.recordName == "late")
            #expect(told.reason == 1)
        }
    }

    /// Each public database has room of its own for what waits to be told.
    @Test func whatWaitsInOneDatabaseTakesNoRoomInAnother() async throws {
        try await withPeople { anna, bert, server in
            try await bert.subscribe(.query(), in: "public")
            let inProduction = Sealkit_V1_ModifySubscriptionsRequest.with {
                $0.operationID = Data(randomBytes(16))
                $0.saves = [.query()]
            }
            _ = try await bert.client.call(
                Person.publicPath("subscriptions/modify", environment: "production"), inProduction,
                as: Sealkit_V1_ModifySubscriptionsResponse.self)
            let production = DatabasePath(container: TestClient.container, environment: .production, database: .public)
            let reasons = try await server.services.database.write(at: .everything) { connection in
                let caller = try anna.caller(connection)
                for (path, name) in [(Self.path, "a"), (production, "b"), (production, "c")] {
                    try PublicChanges.note(
                        [Self.change(name, by: anna.user)], in: PublicZone.find(path, in: connection), by: caller,
                        now: server.clock.now,
                        most: 1, connection: connection)
                }
                return try connection.rows("SELECT record, reason FROM public_change ORDER BY record") {
                    "\(try $0.text("record")) \(try $0.int64("reason"))"
                }
            }
            // What is too much there is told as an overflow, without a record.
            #expect(reasons == [" 0", "a 1", "b 1"])
        }
    }

    /// Words are read by positions before the transaction that tells: a position that came back, once all changes had
    /// gone, would have those of another's change.
    @Test func positionsAreGivenOutOnce() async throws {
        try await withPeople { anna, bert, server in
            try await bert.subscribe(.query(), in: "public")
            let positions = try await server.services.database.write(at: .everything) { connection in
                let (zone, caller) = (try PublicZone.find(Self.path, in: connection), try anna.caller(connection))
                return try (0..<3).flatMap { index in
                    try PublicChanges.note(
                        [Self.change("n\(index)", by: anna.user)], in: zone, by: caller, now: server.clock.now,
                        connection: QuietConnection(base: connection))
                    return try connection.rows("DELETE FROM public_change RETURNING position") {
                        try $0.int64("position")
                    }
                }
            }
            #expect(positions.count == 3 && positions == positions.sorted() && Set(positions).count == 3)
        }
    }

    @Test func whoWouldHaveToHearOfTooMuchIsToldToFetch() async throws {
        try await withPeople { anna, bert, server in
            _ = try await anna.savePublic([PublicWrite("first")])
            try await bert.subscribe(.query(), in: "public")
            let events = try await bert.listen()
            try await server.services.database.write(at: .everything) { connection in
                let zone = try PublicZone.find(Self.path, in: connection)
                let caller = try anna.caller(connection)
                for name in ["a", "b", "c"] {
                    try PublicChanges.note(
                        [Self.change(name, by: anna.user)], in: zone, by: caller, now: server.clock.now, most: 1,
                        connection: connection)
                }
            }
            // The first is told as ever, the others as one; what the stream has not read by then goes with it.
            var names: [String] = []
            repeat { names.append(try await events.next().name) } while names.last != "reset"
            #expect(names == ["notification", "reset"] || names == ["reset"])
            _ = try await anna.savePublic([PublicWrite("after")])
            #expect(try await events.notification().recordName == "after")
        }
    }
}

/// A transaction whose statements are counted, and as it is when the process dies before it tells anybody.
private final class QuietConnection: SQLConnection {
    private let base: any SQLConnection
    private(set) var count = 0

    init(base: any SQLConnection) { self.base = base }

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        count += 1
        return try base.run(sql, values, eachRow: eachRow)
    }
    func runScript(_ sql: String) throws { try base.runScript(sql) }
    func announce(_ announcement: Announcement) {}
    var dialect: SQLDialect { base.dialect }
}
