import Foundation
import SealKit
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Requests that would keep everybody's writes waiting, as their senders and the operator meet them.
@Suite(.timeLimit(.minutes(60))) struct WriteBudgetTests {
    @Test("A request that holds the writer for longer than its budget is taken back whole, logged, and not sent again.")
    func attack83_aRequestThatHoldsTheWriter() async throws {
        let (log, clock) = (LogCapture(), SteppingClock())
        try await RunningServer.with(logger: log.logger, steadyClock: clock.read) { server in
            let account = try await Account.create(transport: HTTPTransport(server: server.origin), deviceName: "test")
                .account
            let database = try Container(TestClient.container, account: account).privateDatabase
            let zone = try await database.save(RecordZone(zoneName: "notes")).zoneID
            server.services.writeTimes.forget()
            let record = Record(recordType: "Note", recordID: Record.ID(recordName: "note", zoneID: zone))
            clock.step(1_100_000)
            var code: SealKitError.Code?
            do { _ = try await database.save(record) } catch { code = (error as? SealKitError)?.code }
            clock.step(0)
            #expect(code == .limitExceeded)
            let times = server.services.writeTimes.all.filter { $0.key.hasSuffix("records/modify") }
            let route = try #require(times.first)
            // Once: the SDK did not send it again.
            #expect(route.key.hasPrefix("POST /database/"))
            #expect(route.value.cutShort == 1)
            #expect(route.value.longest > 2_000_000)
            let lines = log.lines.filter {
                $0.contains("cut short") && $0.contains("records/modify") && $0.hasPrefix("warning")
            }
            #expect(lines.count == 1)
            // Nothing of it is there, and the next one is as any other.
            #expect(try await database.save(record).recordChangeTag != nil)
        }
        AttackOutcome.refused("limitExceeded")
    }

    @Test func whatTheServerDoesBesideRequestsHasAllTime() async throws {
        let clock = SteppingClock()
        try await RunningServer.with(steadyClock: clock.read) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([Write("note")], in: zone)
            #expect(try await anna.deleteZone(zone).failure.code.isEmpty)
            clock.step(10_000_000)
            try await server.sweep(now: server.clock.now + 86_400_000_000)
            try await server.services.jobs.run(.indexes)
            clock.step(0)
            _ = try await anna.makeZone("other")
        }
    }

    @Test func withoutABudgetNothingIsCutShort() async throws {
        let clock = SteppingClock()
        var limits = ServerLimits()
        limits.writeBudget = 0
        try await RunningServer.with(serverLimits: limits, steadyClock: clock.read) { server in
            clock.step(600_000)
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            #expect(try await anna.codes([Write("note")], in: zone) == [nil])
        }
    }

    /// Every route that writes does so in somebody's name.
    @Test func requestsWriteInTheirAccountsName() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeZone()
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            try await anna.subscribe(.database())
            _ = try await anna.save([Write("note")], in: zone)
            _ = try await anna.deleteZone(zone)
            let routes = server.services.writeTimes.all.keys
            for end in [
                "accounts/create", "accounts/identity", "zones/modify", "rosters/append", "subscriptions/modify",
                "records/modify",
            ] {
                let isThere = routes.contains { $0.hasPrefix("POST /") && $0.hasSuffix(end) }
                #expect(isThere, "\(end): \(routes.sorted())")
            }
        }
    }
}
