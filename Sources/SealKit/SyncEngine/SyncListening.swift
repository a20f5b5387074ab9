import Synchronization

/// What wakes an engine that syncs by itself: the server's notifications, and changes of the account.
final class SyncListening: Sendable {
    private struct Tasks {
        var accounts: Task<Void, Never>?
        var notifications: Task<Void, Never>?
        /// The account under which the subscription is known to be there.
        var subscribed: String?
        var isOver = false
    }

    private let tasks = Mutex(Tasks())

    func begin(_ engine: SyncEngine) {
        // From now on, not from when the task runs.
        let changes = engine.configuration.container.accountChanges
        let task = Task.detached { [weak engine] in
            for await change in changes {
                guard let engine else { return }
                if case .newDevice = change { continue }
                engine.listening.restart()
                engine.schedule.hurry(.both)
            }
        }
        tasks.withLock { $0.accounts = task }
    }

    func end() {
        let all = tasks.withLock { tasks in
            tasks.isOver = true
            return [tasks.accounts, tasks.notifications]
        }
        for task in all { task?.cancel() }
    }

    /// Another account has other notifications.
    private func restart() {
        let task = tasks.withLock { tasks in
            defer { (tasks.notifications, tasks.subscribed) = (nil, nil) }
            return tasks.notifications
        }
        task?.cancel()
    }

    /// Makes the subscription where it is not there, and listens.
    func listen(_ engine: SyncEngine) async throws(SealKitError) {
        let account = engine.ownState.content.account
        guard tasks.withLock({ $0.subscribed != account || $0.notifications == nil }) else { return }
        let database = engine.database
        let id = engine.configuration.subscriptionID ?? "sync-engine-\(engine.configuration.databaseScope == .private ? "private" : "shared")"
        do throws(SealKitError) { _ = try await database.subscription(for: id) } catch {
            guard error.code == .unknownItem else { throw error }
            try await database.save(DatabaseSubscription(subscriptionID: id))
        }
        let stream = engine.configuration.container.notifications { [weak engine] away in
            if away == nil { engine?.schedule.hurry(.both) }
        }
        tasks.withLock { tasks in
            tasks.subscribed = account
            guard !tasks.isOver, tasks.notifications == nil else { return }
            tasks.notifications = Task.detached { [weak engine] in
                // How it ended, the next call of the database says as well.
                do { for try await notification in stream { engine?.heard(notification) } } catch {}
                engine?.listening.ended()
            }
        }
    }

    private func ended() { tasks.withLock { $0.notifications = nil } }
}

extension SyncEngine {
    fileprivate func heard(_ notification: Container.Notification) {
        switch notification.content {
        case .fired(let fired) where fired.databaseScope != configuration.databaseScope: return
        // What changed before the stream was open is told by none.
        case .ready, .reset, .fired: schedule.want(.fetch, after: .zero)
        }
    }

    /// What the schedule does.
    func sync(_ wanted: SyncSchedule.Wanted) async throws(SealKitError) {
        var failure: SealKitError?
        if wanted.contains(.fetch) {
            do throws(SealKitError) {
                try await run { (engine) async throws(SealKitError) in try await engine.fetch(FetchChangesOptions(), .scheduled) }
            } catch {
                // What does not verify, say, keeps nothing from being sent.
                guard !error.isRetriedBySyncEngine else { throw error }
                failure = error
            }
        }
        if wanted.contains(.send) {
            try await run { (engine) async throws(SealKitError) in try await engine.send(SendChangesOptions(), .scheduled) }
        }
        try await listening.listen(self)
        if let failure { throw failure }
    }
}
