import Logging
import SealService
import SealStorage

/// All jobs of the server.
enum ServerJobs {
    static let sweepInterval: Duration = .seconds(3_600)
    static let recountInterval: Duration = .seconds(86_400)
    private static let comparisonInterval: Duration = .seconds(7 * 86_400)
    /// In days: what is new stays, however the clocks of store and server differ.
    private static let shortestComparisonGrace = 2

    static func all(
        blobs: any BlobStore, schemas: SchemaStore, publicNotifier: PublicNotifier, webhooks: WebhookSender,
        outbox: Outbox, alerts: AlertWatch,
        tombstoneAge: Int, garbageGraceDays: Int, sweepInterval: Duration, clock: @escaping @Sendable () -> Int64,
        logger: Logger
    ) -> [Job] {
        let sweep = Sweep(blobs: blobs, tombstoneAge: tombstoneAge)
        let garbage = BlobGarbage(blobs: blobs, grace: microseconds(days: garbageGraceDays))
        let jobs = [
            Job(.sweep, .every(sweepInterval), leavesWork: [.garbage]) { try await sweep.run($0) },
            Job(
                .garbage, .whenThereIs { try ZoneRemains.areThere(in: $0) || garbage.isDue(now: clock(), in: $0) },
                leavesWork: []
            ) { turn in
                try await ZoneRemains.run(turn)
                try await garbage.collect(turn)
            },
            Job(.erasure, .whenThereIs { try AccountErasure.isDue(in: $0) }, leavesWork: [.garbage]) {
                try await AccountErasure.run($0)
            },
            Job(.indexes, .whenThereIs { try IndexBuilds.areThere(in: $0) }, leavesWork: []) { turn in
                try await IndexBuilder.run(schemas, turn)
            },
            Job(.feeds, .whenThereIs { try ZoneTouch.areThere(in: $0) }, leavesWork: []) {
                try await ZoneTouch.run($0)
            },
            Job(.publicNotifications, .whenThereIs { try PublicChanges.areThere(in: $0) }, leavesWork: []) { turn in
                try await publicNotifier.run(turn)
            },
            Job(.webhooks, .whenThereIs { try webhooks.hasWork(in: $0) }, nextDue: { try await webhooks.run($0) }),
            Job(.alerts, .whenThereIs { try alerts.hasWork(in: $0) }, nextDue: { try await alerts.run($0) })
                .leaving([.alertMessages]).staying(for: AlertWatch.stay),
            Job(
                .alertMessages, .whenThereIs { try alerts.hasMessages(in: $0) },
                nextDue: { try await alerts.sendMessages($0) }),
            Job(.outbox, .whenThereIs { try outbox.hasLeftOvers(in: $0) }, leavesWork: []) {
                try await outbox.resume($0)
            },
            Job(.recount, .every(recountInterval), leavesWork: []) {
                try await StorageUsage.recountIfDrifted($0, logger: logger)
            },
        ]
        guard let listed = blobs as? any ListedBlobs else { return jobs }
        let comparison = BlobComparison(
            blobs: listed, grace: microseconds(days: max(garbageGraceDays, shortestComparisonGrace)))
        return jobs + [
            Job(.blobComparison, .every(comparisonInterval), leavesWork: []) { turn in
                say(try await comparison.run(turn), to: logger)
            }
        ]
    }

    private static func microseconds(days: Int) -> Int64 { Int64(days) * 86_400_000_000 }

    private static func say(_ outcome: BlobComparison.Outcome, to logger: Logger) {
        logger.info(
            "the store of assets was compared with the database",
            metadata: ["assets": "\(outcome.compared)", "deleted": "\(outcome.deleted)"])
        guard outcome.lost > 0 else { return }
        logger.error(
            "the store of assets has lost some that the database names",
            metadata: ["count": "\(outcome.lost)", "names": "\(outcome.names.joined(separator: " "))"])
    }
}
