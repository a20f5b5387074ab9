import Logging
import SealStorage

/// Looks how far the database's standbys are behind, where it is one that has any.
struct ReplicationWatch: Sendable {
    /// Prometheus asks as often, as a rule.
    static let interval: Duration = .seconds(10)

    let database: any SQLDatabase
    let metrics: ServerMetrics
    let logger: Logger

    func look() async {
        do {
            guard let standbys = try await database.read({ try PostgresStandbys(seenBy: $0) }) else { return }
            metrics.record(.standbys, value: Double(standbys.count))
            guard let delay = standbys.delay else { return }
            metrics.record(.replicationBytes, value: Double(delay.bytes))
            metrics.record(.replicationSeconds, value: delay.seconds)
        } catch {
            // Requests tell of a database that is away, and it is looked at again.
            logger.debug("the database's standbys cannot be looked at", metadata: ["error": "\(error)"])
        }
    }
}
