import Logging
import SealService
import SealStorage

/// All jobs of the server.
enum ServerJobs {
    static let sweepInterval: Duration = .seconds(3_600)
    static let recountInterval: Duration = .seconds(86_400)

    static func all(
        blobs: any BlobStore, schemas: SchemaStore, publicNotifier: PublicNotifier, webhooks: WebhookSender,
        outbox: Outbox, alerts: AlertWatch,
        tombstoneAge: Int, sweepInterval: Duration, logger: Logger
    ) -> [Job] {
        let (sweep, garbage) = (Sweep(blobs: blobs, tombstoneAge: tombstoneAge), BlobGarbage(blobs: blobs))
        return [
            Job(.sweep, .every(sweepInterval), leavesWork: [.garbage]) { try await sweep.run($0) },
            Job(
                .garbage, .whenThereIs { try ZoneRemains.areThere(in: $0) || BlobGarbage.isThere(in: $0) },
                leavesWork: []
            ) { turn in
                try await turn.steps { try ZoneRemains.step(in: $0) }
                try await garbage.collect(turn)
            },
            Job(.erasure, .whenThereIs { try AccountErasure.isDue(in: $0) }, leavesWork: [.garbage]) { turn in
                try await turn.steps { try AccountErasure.step(in: $0) }
            },
            Job(.indexes, .whenThereIs { try IndexBuilds.areThere(in: $0) }, leavesWork: []) { turn in
                try await IndexBuilder.run(schemas, turn)
            },
            Job(.publicNotifications, .whenThereIs { try PublicChanges.areThere(in: $0) }, leavesWork: []) { turn in
                try await publicNotifier.run(turn)
            },
            Job(.webhooks, .whenThereIs { try webhooks.hasWork(in: $0) }, nextDue: { try await webhooks.run($0) }),
            Job(.alerts, .whenThereIs { try alerts.hasWork(in: $0) }, nextDue: { try await alerts.run($0) }),
            Job(.outbox, .whenThereIs { try outbox.hasLeftOvers(in: $0) }, leavesWork: []) {
                try await outbox.resume($0)
            },
            Job(.recount, .every(recountInterval), leavesWork: []) {
                try await StorageUsage.recountIfDrifted($0, logger: logger)
            },
        ]
    }
}
