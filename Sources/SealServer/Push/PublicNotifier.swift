import Logging

/// Tells those who subscribed to a public database, after the save that they hear of: in small transactions, so that
/// however many they are, whoever writes does not wait for them. How far it got is in the database, so a restart goes on there.
///
/// Each is told what it may read when it is told: the type's grants, its own roles and whose the record is are asked then.
final class PublicNotifier: Sendable {
    private let database: any SQLDatabase
    private let schemas: SchemaStore
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// Subscriptions in one transaction, each of which is compared with one change.
    static let subscriptionsAtOnce = 256

    init(database: any SQLDatabase, schemas: SchemaStore, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        (self.database, self.schemas, self.clock, self.logger) = (database, schemas, clock, logger)
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Something may wait.
    func wake() { signal.yield() }

    /// Tells until cancelled.
    func run() async {
        signal.yield()
        for await _ in signals {
            do {
                while !Task.isCancelled, try await step() {}
            } catch StorageError.closed {
                return
            } catch {
                logger.warning("subscribers of a public database were not told; it is tried again", metadata: ["error": "\(error)"])
                do { try await Task.sleep(for: .seconds(5)) } catch { return }
                signal.yield()
            }
        }
    }

    /// One transaction's worth; false when nothing waits any more.
    private func step() async throws -> Bool {
        let now = clock()
        return try await database.write { [schemas] connection in
            var room = Self.subscriptionsAtOnce
            while room > 0 {
                guard let change = try PublicChangeRow.next(in: connection) else { return false }
                // What concerns nobody is work, too.
                let telling = PublicTelling(change: change, now: now, schemas: schemas, connection: connection)
                room -= max(1, try telling.tell(atMost: room))
            }
            return true
        }
    }
}
