import SealPrimitives
import SealSystem
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Buckets that several servers have in common. Each engine keeps them.
@Suite(.timeLimit(.minutes(60))) struct SharedLimitTests {
    private static let rule = RateLimiter.Rule(count: 4, window: 40_000_000)
    /// Times are after this one: the server sweeps what is older.
    private static let start = systemClock()

    private func with(_ body: @escaping @Sendable (SharedLimits, any SQLDatabase) async throws -> Void) async throws {
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder) { server in
            let peers = Peers(heardUntil: .max, clock: { 0 })
            peers.note([peers.own, 7, 8], heardUntil: .max)
            let limits = SharedLimits(key: SecretBytes(copying: [UInt8](repeating: 1, count: 32)), among: peers)
            #expect(limits.areNeeded)
            try await body(limits, server.services.database)
        }
    }

    private static func take(
        _ amount: Int = 1, _ kind: RateLimiter.Kind = .recovery, _ subject: RateLimiter.Subject = .client([1]),
        at now: Int64, _ limits: SharedLimits, _ database: any SQLDatabase
    ) async throws -> Bool {
        do {
            try await database.write(at: limits.home(kind, subject)) { connection in
                try limits.count(kind, subject, amount: amount, rule: rule, now: start + now, in: connection)
            }
            return true
        } catch let error as ServerError {
            #expect(error.code == .requestRateLimited)
            #expect(error.retryAfter > 0)
            return false
        }
    }

    @Test func whatIsTakenIsGoneForAll() async throws {
        try await with { (limits, database) async throws in
            #expect(try await Self.take(4, at: 0, limits, database))
            #expect(try await !Self.take(at: 0, limits, database))
            // Others, and other kinds, have buckets of their own.
            #expect(try await Self.take(4, .recovery, .client([2]), at: 0, limits, database))
            #expect(try await Self.take(4, .recovery, .account(1), at: 0, limits, database))
            #expect(try await Self.take(4, .lookup, .client([1]), at: 0, limits, database))
            // Ten seconds bring one.
            #expect(try await !Self.take(at: 9_999_999, limits, database))
            #expect(try await Self.take(at: 10_000_000, limits, database))
            #expect(try await !Self.take(at: 10_000_000, limits, database))
        }
    }

    /// Two servers whose clocks differ take turns: time passes once.
    @Test func clocksThatDifferBringNobodyMore() async throws {
        try await with { (limits, database) async throws in
            let ahead: Int64 = 20_000_000
            #expect(try await Self.take(4, at: 0, limits, database))
            // What the clock that is ahead brings, once.
            #expect(try await Self.take(2, at: ahead, limits, database))
            for _ in 0..<5 {
                #expect(try await !Self.take(at: 0, limits, database))
                #expect(try await !Self.take(at: ahead, limits, database))
            }
            #expect(try await Self.take(at: ahead + 10_000_000, limits, database))
            // One that was set back by hours does not stop it.
            let long: Int64 = 36_000_000_000
            #expect(try await Self.take(4, at: long, limits, database))
            #expect(try await Self.take(4, at: 0, limits, database))
            #expect(try await !Self.take(at: 0, limits, database))
            #expect(try await Self.take(at: 10_000_000, limits, database))
        }
    }

    @Test func whatIsFullAgainIsForgotten() async throws {
        try await with { (limits, database) async throws in
            for client in UInt8(0)..<150 {
                #expect(try await Self.take(1, .recovery, .client([client]), at: 0, limits, database))
            }
            func count() async throws -> Int64? {
                try await database.read { connection in
                    try connection.first("SELECT COUNT(*) AS n FROM shared_limit") { try $0.int64("n") }
                }
            }
            func sweep(_ now: Int64) async throws -> Bool {
                try await database.write(at: .everything) { try SharedLimits.sweep(now: Self.start + now, in: $0) }
            }
            #expect(try await !sweep(10_000_000))
            #expect(try await count() == 150)
            #expect(try await sweep(3_680_000_000))
            #expect(try await count() == 50)
            #expect(try await !sweep(3_680_000_000))
            #expect(try await count() == 0)
        }
    }
}
