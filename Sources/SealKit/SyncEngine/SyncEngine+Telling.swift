import Synchronization

extension SyncEngine {
    typealias Change = @Sendable (inout State.Content) -> Void

    /// Tells the delegate, and then of the state if that is another one than it knows.
    ///
    /// Nobody is told of the state between the changes and the event that they belong to: a device that stopped there
    /// would have kept the one without the other.
    /// - Parameters:
    ///   - before: what the state is changed by before the event, so that what the delegate adds comes after it.
    ///   - after: what the state is changed by once the delegate has kept what the event is about.
    /// - Throws: `operationCancelled` when the engine was superseded or its delegate is gone. What was cancelled is
    ///   told all the same.
    func tell(_ event: Event, before: Change? = nil, after: Change? = nil) async throws(SealKitError) {
        await place.events.take()
        defer { place.events.give() }
        let delegate = try listener()
        if let before { ownState.apply(before) }
        await deliver(event, to: delegate)
        guard newest === self else { throw SealKitError.cancelled }
        if let after { ownState.apply(after) }
        await tellState(to: delegate)
    }

    /// Who is told.
    private func listener() throws(SealKitError) -> any SyncEngineDelegate {
        guard newest === self else { throw SealKitError.cancelled }
        guard let delegate = configuration.delegate else {
            throw SealKitError(
                .operationCancelled, "the sync engine's delegate is gone: nobody can be told what came",
                remedy: "keep the delegate for as long as its engine, which holds it weakly")
        }
        return delegate
    }

    /// Changes the state and tells of it, without another event.
    func note(_ change: @escaping Change) async throws(SealKitError) {
        await place.events.take()
        defer { place.events.give() }
        let delegate = try listener()
        ownState.apply(change)
        await tellState(to: delegate)
    }

    /// Asks the delegate, while it is told nothing.
    func ask<T: Sendable>(_ body: @escaping @Sendable (any SyncEngineDelegate) async -> T) async throws(SealKitError)
        -> T
    {
        try checkGoingOn()
        await place.events.take()
        defer { place.events.give() }
        let delegate = try listener()
        return await SyncHandling.during(place) { await Task { await body(delegate) }.value }
    }

    /// The app has changed the state.
    /// - Parameter hasNewChanges: there is something to send.
    func stateChanged(hasNewChanges: Bool) {
        let isFirst = telling.withLock { telling in
            defer { telling.isComing = true }
            return !telling.isComing
        }
        // In a task of its own: this one may be the delegate's.
        if isFirst { Task.detached { [weak self] in await self?.tellStateAlone() } }
        if hasNewChanges { schedule.want(.send, after: SyncSchedule.gathering) }
    }

    private func tellStateAlone() async {
        await place.events.take()
        defer { place.events.give() }
        telling.withLock { $0.isComing = false }
        guard newest === self, let delegate = configuration.delegate else { return }
        await tellState(to: delegate)
    }

    private func tellState(to delegate: any SyncEngineDelegate) async {
        let (serialization, version) = ownState.serialization
        let isNews = telling.withLock { telling in
            defer { telling.version = version }
            return telling.version != version
        }
        if isNews { await deliver(.stateUpdate(Event.StateUpdate(stateSerialization: serialization)), to: delegate) }
    }

    /// The delegate's work is not cancelled along with the engine's: what it keeps it keeps whole.
    private func deliver(_ event: Event, to delegate: any SyncEngineDelegate) async {
        await SyncHandling.during(place) { await Task { await delegate.handleEvent(event, syncEngine: self) }.value }
    }
}
