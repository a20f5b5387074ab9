import SealService
import SealStorage
import ServiceLifecycle

/// What push does beside the requests. It closes event streams first when the server stops, so that they do not hold
/// it.
struct PushService: Service {
    let streams: EventStreams

    func run() async throws {
        defer { streams.closeAll() }
        try await gracefulShutdown()
    }

    /// Passes on what transactions announce, this process's and others'.
    static func listen(
        to database: any SQLDatabase, streams: EventStreams, webhooks: WebhookSender, jobs: Jobs, sessions: Sessions
    ) {
        database.listen { announcements in
            for announcement in announcements {
                switch announcement {
                case .notifications(let viewer): streams.wake(viewer: viewer)
                case .sessions(let account):
                    sessions.forget(account: account)
                    streams.wake(account: account)
                case .webhooks:
                    webhooks.wake()
                    jobs.wake(.webhooks)
                case .zoneTouches: jobs.wake(.feeds)
                case .publicChanges: jobs.wake(.publicNotifications)
                case .anything:
                    sessions.forgetAll()
                    streams.wakeAll()
                    webhooks.wake()
                    jobs.wakeAll()
                }
            }
        }
    }
}
