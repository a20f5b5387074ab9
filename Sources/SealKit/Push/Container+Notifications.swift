import Foundation

extension Container {
    /// What the user's subscriptions tell this device, as it happens: changes by every device but this one.
    ///
    /// The stream reconnects by itself and goes on where it was. It ends with an error when the account logs out
    /// (`notAuthenticated`) or the server refuses it for good; cancel its task, or let go of it, to end it before.
    ///
    /// ```swift
    /// for try await notification in container.notifications(after: savedID) {
    ///     // A hint and no more: fetch what changed by token, and at `reset` of every database.
    ///     if let id = notification.id { savedID = id }  // once that is in the app's own store
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - lastID: the id of the last notification that was received, from an earlier stream of this account, container
    ///     and environment; nil to begin now.
    ///   - connectionChanged: called with the reason when the server cannot be reached, and with nil when it is heard
    ///     again. The stream goes on by itself meanwhile.
    public func notifications(
        after lastID: String? = nil, connectionChanged: @escaping @Sendable (_ away: SealKitError?) -> Void = { _ in }
    ) -> AsyncThrowingStream<Notification, any Error> {
        let (events, output) = AsyncThrowingStream<Notification, any Error>.makeStream()
        let (requests, request) = AsyncStream<Void>.makeStream()
        let reader = NotificationReader(
            core: core, output: output, requests: requests, connectionChanged: connectionChanged)
        let task = CancelledWhenReleased(Task { await reader.run(after: lastID) })
        return AsyncThrowingStream {
            // One is read for each that is asked for: a reader who waits holds the server back, and nothing piles up.
            request.yield()
            return try await withTaskCancellationHandler {
                var iterator = events.makeAsyncIterator()
                return try await iterator.next()
            } onCancel: {
                task.cancel()
            }
        }
    }
}

/// A task that ends when nobody waits for it any more.
private final class CancelledWhenReleased: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    func cancel() { task.cancel() }
    deinit { task.cancel() }
}
