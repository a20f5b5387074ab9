import ServiceLifecycle

/// What push does beside the requests. It closes event streams first when the server stops, so that they do not hold it.
struct PushService: Service {
    let streams: EventStreams
    let webhooks: WebhookSender
    let publicNotifier: PublicNotifier

    func run() async throws {
        await withGracefulShutdownHandler {
            await cancelWhenGracefulShutdown {
                await withDiscardingTaskGroup { group in
                    group.addTask { await webhooks.run() }
                    group.addTask { await publicNotifier.run() }
                }
            }
        } onGracefulShutdown: {
            streams.closeAll()
        }
    }

    /// Passes on what transactions announce.
    static func listen(_ services: Services) {
        let (streams, webhooks, publicNotifier, sessions) =
            (services.streams, services.webhooks, services.publicNotifier, services.sessions)
        services.database.listen { announcements in
            for announcement in announcements {
                switch announcement {
                case .notifications(let viewer): streams.wake(viewer: viewer)
                case .sessions(let account):
                    sessions.forget(account: account)
                    streams.wake(account: account)
                case .webhooks: webhooks.wake()
                case .publicChanges: publicNotifier.wake()
                }
            }
        }
    }
}
