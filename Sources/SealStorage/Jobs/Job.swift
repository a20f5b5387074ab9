/// Work that the server does beside requests, under a name of its own: when it is due, and what one run of it does.
package struct Job: Sendable {
    package enum Name: String, CaseIterable, Sendable {
        case sweep
        case garbage
        case blobComparison = "blob-comparison"
        case erasure
        case indexes
        case feeds
        case publicNotifications = "public-notifications"
        case webhooks
        case outbox
        case recount
        case alerts
        case alertMessages = "alert-messages"

        /// Its runs are few, and an operator may want to know of each.
        var isNotable: Bool {
            switch self {
            case .sweep, .blobComparison, .erasure, .recount: true
            case .garbage, .indexes, .feeds, .publicNotifications, .webhooks, .outbox, .alerts, .alertMessages: false
            }
        }
    }

    package enum Schedule: Sendable {
        /// So long after it was last done, whichever server did it.
        case every(Duration)
        /// When the server starts, when somebody says that there may be something to do, and every few seconds in case
        /// nobody did: where the query finds something.
        case whenThereIs(@Sendable (any SQLConnection) throws -> Bool)
    }

    package let name: Name
    let schedule: Schedule
    /// What is to be looked at once this is done: it may have left something to do.
    package private(set) var leavesWork: [Name] = []
    /// How long after its lease other servers leave it to the one that ran it last and is there still.
    package private(set) var stay: Duration = .zero
    /// One run, which takes steps until nothing is left to do. It may be cut short between any two steps, and begins
    /// again later.
    ///
    /// Returns when the next one is due, in microseconds since 1970; nil where the schedule says it.
    package let work: @Sendable (JobTurn) async throws -> Int64?

    package init(
        _ name: Name, _ schedule: Schedule, leavesWork: [Name],
        _ work: @escaping @Sendable (JobTurn) async throws -> Void
    ) {
        (self.name, self.schedule, self.leavesWork) = (name, schedule, leavesWork)
        self.work = { turn in
            try await work(turn)
            return nil
        }
    }

    /// One that says when it is due again.
    package init(
        _ name: Name, _ schedule: Schedule, nextDue work: @escaping @Sendable (JobTurn) async throws -> Int64?
    ) {
        (self.name, self.schedule, self.work) = (name, schedule, work)
    }

    package func leaving(_ names: [Name]) -> Job {
        var job = self
        job.leavesWork = names
        return job
    }

    package func staying(for stay: Duration) -> Job {
        var job = self
        job.stay = stay
        return job
    }
}
