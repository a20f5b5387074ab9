import SealService
import SealStorage
import SealSystem
import Synchronization

/// How the server is at the moment, beside what is asked of it: for alerts, and for whoever looks.
final class ServerCondition: Sendable {
    /// Of what is made after it.
    private struct Parts {
        var certificateEnds: (@Sendable () -> Int)?
        var failingJobs: @Sendable () -> [String] = { [] }
    }

    private let dataFolder: String
    private let transactions: Transactions
    private let clock: @Sendable () -> Int64
    private let parts = Mutex(Parts())

    /// - Parameter clock: microseconds since 1970.
    init(dataFolder: String, transactions: Transactions, clock: @escaping @Sendable () -> Int64) {
        (self.dataFolder, self.transactions, self.clock) = (dataFolder, transactions, clock)
    }

    /// - Parameter ends: of the server's certificate, in seconds since 1970.
    func watch(certificate ends: @escaping @Sendable () -> Int) { parts.withLock { $0.certificateEnds = ends } }

    func watch(_ jobs: Jobs) {
        // One of them asks: it holds this.
        parts.withLock { $0.failingJobs = { [weak jobs] in jobs?.failing.map(\.rawValue) ?? [] } }
    }

    var freeBytes: UInt64? { SealSystem.freeBytes(at: dataFolder) }
    var lastBackup: BackupNote? { BackupNote(in: dataFolder) }
    /// Seconds since 1970; nil where the server has no certificate of its own.
    var certificateEnds: Int64? { parts.withLock(\.certificateEnds).map { Int64($0()) } }
    /// Whose last run on this server failed.
    var failingJobs: [String] { parts.withLock(\.failingJobs)() }

    /// Messages that were not taken, and are sent again: of all servers.
    func stuckMessages() async throws -> Int64 {
        let now = clock()
        return try await transactions.read { try Outbox.countStuck(now: now, in: $0) }
    }

    /// Nil of requests, and where nothing can be said.
    func value(of measure: AlertMeasure) async throws -> Double? {
        let now = clock() / 1_000_000
        switch measure {
        case .requests, .failures, .serverErrors, .failureShare, .latency50, .latency95, .latency99, .bytesIn,
            .bytesOut:
            return nil
        case .freeBytes: return freeBytes.map { Double($0) }
        case .backupAge: return lastBackup.map { Double($0.age(now: now)) / 3_600 }
        case .certificateDays: return certificateEnds.map { Double($0 - now) / 86_400 }
        case .stuckMessages: return Double(try await stuckMessages())
        case .failingJobs: return Double(failingJobs.count)
        }
    }
}
