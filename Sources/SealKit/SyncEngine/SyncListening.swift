import Synchronization

/// What wakes an engine that syncs by itself: the server's notifications, and changes of the account.
final class SyncListening: Sendable {
    private struct Tasks {
        var accounts: Task<Void, Never>?
        /// The account's; while there is one, the subscription is known to be there.
        var notifications: Task<Void, Never>?
        /// Of the stream that is there, or comes next: one that ended late says nothing of another.
        var stream = 0
        /// Streams in a row that nothing was heard on.
        var failures = 0
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
                engine.schedule.beginAnew(.both)
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
            defer {
                tasks.notifications = nil
                tasks.stream += 1
                tasks.failures = 0
            }
            return tasks.notifications
        }
        task?.cancel()
    }

    /// Listens, or tries to again after some time: whatever keeps an engine from it, it does not stay deaf.
    func listen(_ engine: SyncEngine) async {
        guard let number = tasks.withLock({ $0.notifications == nil ? $0.stream : nil }) else { return }
        do throws(SealKitError) { try await open(number, engine) } catch { ended(number, engine) }
    }

    /// Makes the subscription where it is not there, and listens.
    private func open(_ number: Int, _ engine: SyncEngine) async throws(SealKitError) {
        let database = engine.database
        let id =
            engine.configuration.subscriptionID
            ?? "sync-engine-\(engine.configuration.databaseScope == .private ? "private" : "shared")"
        do throws(SealKitError) { _ = try await database.subscription(for: id) } catch {
            guard error.code == .unknownItem else { throw error }
            try await database.save(DatabaseSubscription(subscriptionID: id))
        }
        let stream = engine.configuration.container.notifications { [weak engine] away in
            if away == nil { engine?.schedule.hurry(.both) }
        }
        tasks.withLock { tasks in
            // Of an account that is not signed in any more it is nobody's.
            guard !tasks.isOver, tasks.notifications == nil, tasks.stream == number else { return }
            tasks.notifications = Task.detached { [weak engine] in
                // How it ended, the next call of the database says as well.
                do {
                    for try await notification in stream {
                        guard let engine else { return }
                        engine.listening.heard(on: number)
                        engine.heard(notification)
                    }
                } catch {}
                if let engine { engine.listening.ended(number, engine) }
            }
        }
    }

    private func heard(on number: Int) {
        tasks.withLock { tasks in if tasks.stream == number { tasks.failures = 0 } }
    }

    /// The next fetch, which comes the later the more often nothing was heard, listens again.
    private func ended(_ number: Int, _ engine: SyncEngine) {
        let failures = tasks.withLock { tasks -> Int? in
            guard !tasks.isOver, tasks.stream == number else { return nil }
            defer { tasks.failures += 1 }
            tasks.notifications = nil
            tasks.stream += 1
            return tasks.failures
        }
        if let failures { engine.schedule.want(.fetch, after: engine.schedule.wait(after: failures)) }
    }
}

extension SyncEngine {
    fileprivate func heard(_ notification: Container.Notification) {
        switch notification.content {
        case .fired(let fired) where fired.databaseScope != configuration.databaseScope: return
        // What changed before the stream was open is told by none.
        case .ready, .reset, .fired: schedule.want(.fetch, after: SyncSchedule.hearing)
        }
    }

    /// What the schedule does.
    ///
    /// What has failed of the zones and of the changes keeps nothing else from being done; what has ended the fetch or
    /// the send, the network say, ends all of it.
    func sync(_ wanted: SyncSchedule.Wanted) async throws(SealKitError) {
        var failures: [SealKitError] = []
        if wanted.contains(.fetch) {
            failures += try await part { (engine) async throws(SealKitError) in
                try await engine.fetch(FetchChangesOptions(), .scheduled)
            }
        }
        if wanted.contains(.send) {
            failures += try await part { (engine) async throws(SealKitError) in
                let sent = try await engine.send(SendChangesOptions(), .scheduled)
                engine.schedule.sent(inVain: sent.isInVain)
                if sent.leavesOthersBehind { engine.schedule.want(.send, after: SyncSchedule.gathering) }
                return sent.failures
            }
        }
        await listening.listen(self)
        if !failures.isEmpty { throw SealKitError.partialFailure(failures, of: "zones and changes") }
    }

    private func part(
        _ body: @escaping @Sendable (SyncEngine) async throws(SealKitError) -> [SealKitError]
    ) async throws(SealKitError) -> [SealKitError] {
        do throws(SealKitError) { return try await runAlone(body) } catch {
            guard !error.passesWithTime, ![.notAuthenticated, .operationCancelled].contains(error.code) else {
                throw error
            }
            return [error]
        }
    }
}
