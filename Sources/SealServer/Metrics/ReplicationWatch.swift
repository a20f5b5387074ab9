import Logging
import SealStorage

/// Looks how far the database's standbys are behind, where it is one that has any. What cannot be told is NaN: a number
/// would be that of a former look.
struct ReplicationWatch: Sendable {
    /// Prometheus asks as often, as a rule.
    static let interval: Duration = .seconds(10)

    let database: any SQLDatabase
    let metrics: ServerMetrics
    let logger: Logger

    func look() async {
        do {
            guard let standbys = try await database.read({ try PostgresStandbys(seenBy: $0) }) else { return }
            record(standbys)
        } catch {
            // Requests tell of a database that is away, and it is looked at again.
            record(nil)
            logger.debug("the database's standbys cannot be looked at", metadata: ["error": "\(error)"])
        }
    }

    private func record(_ standbys: PostgresStandbys?) {
        let delay = standbys?.delay
        metrics.record(.standbys, value: standbys.map { Double($0.count) } ?? .nan)
        metrics.record(.replicationBytes, value: delay.map { Double($0.bytes) } ?? .nan)
        metrics.record(.replicationSeconds, value: delay?.seconds ?? .nan)
    }
}
