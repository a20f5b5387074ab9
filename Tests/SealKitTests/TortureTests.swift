import SealLab
import Testing

@testable import SealTorture

/// `make torture`, a little of it each time.
@Suite(.timeLimit(.minutes(60))) struct TortureTests {
    @Test func whatIsAcknowledgedSurvivesKillsUnderLoad() async throws {
        let totals = try await CrashTorture(seed: .random(in: 1...999_999_999), rounds: 5).run()
        #expect(totals.rounds == 5)
        #expect(totals.count.acknowledged > 0 && totals.count.repeated > 0 && totals.notified > 0 && totals.records > 0)
    }

    @Test func clientsThatVanishLeaveNothing() async throws {
        let totals = try await VanishingClients(seed: .random(in: 1...999_999_999), count: 60).run()
        #expect(totals.cutShort + totals.unheard + totals.unread == 60)
    }

    @Test func clientsThatAreSlowHoldNobodyUp() async throws {
        let totals = try await SlowClients(seed: .random(in: 1...999_999_999), count: 60).run()
        #expect(totals.cut > 0 && totals.saves > 0)
    }

    /// `SEED=… SealTorture model` makes the same choices again. Ten seeds, and more where chance left out a kind of step.
    @Test func serverAndModelAgree() async throws {
        let server = try SealLab.ServerProcess.temporary()
        defer { server.remove() }
        var counts = ModelCounts()
        for played in 0..<30 where played < 10 || !counts.missing.isEmpty {
            let seed = UInt64.random(in: 1...999_999_999)
            print("the model plays 500 steps of SEED=\(seed)")
            counts.add(try await ModelTest(seed: seed, steps: 500, origin: server.origin).run())
        }
        #expect(counts.missing.isEmpty, "\(counts)")
    }
}
