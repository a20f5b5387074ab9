import Foundation
import NIOCore
import SealStatements
import SealWire
import SwiftProtobuf

/// Keeps an event stream open: reconnects with the last event's id, waits longer after each failure in a row.
final class NotificationReader: Sendable {
    private let core: ContainerCore
    private let output: AsyncThrowingStream<Container.Notification, any Error>.Continuation
    private let requests: AsyncStream<Void>
    private let connectionChanged: @Sendable (SealKitError?) -> Void

    /// Seconds.
    private static let shortestWait = 0.5
    private static let longestWait = 60.0

    init(
        core: ContainerCore, output: AsyncThrowingStream<Container.Notification, any Error>.Continuation,
        requests: AsyncStream<Void>,
        connectionChanged: @escaping @Sendable (_ away: SealKitError?) -> Void
    ) {
        self.core = core
        self.output = output
        self.requests = requests
        self.connectionChanged = connectionChanged
    }

    /// Where the stream stands.
    private struct Progress {
        var lastID: String?
        var failures = 0
        /// `ready` was told: reconnecting is nobody's business.
        var isReady = false
        /// Something was heard on the present connection.
        var isHeard = false
        /// That the server is away was told.
        var isAway = false
    }

    func run(after lastID: String?) async {
        var progress = Progress(lastID: lastID)
        let logOuts = await core.account.session.logOutCount
        while !Task.isCancelled {
            var wait: Double?
            do throws(SealKitError) {
                try await connect(&progress)
            } catch {
                if error.code == .sessionExpired {
                    guard await core.account.session.logOutCount == logOuts else {
                        output.finish(
                            throwing: SealKitError(
                                .notAuthenticated, "the account was logged out",
                                remedy: "log in, and open the stream again"))
                        return
                    }
                    do { _ = try await core.account.session.token() } catch
                        where !Self.isWorthRetrying(error, progress)
                    {
                        output.finish(throwing: error)
                        return
                    } catch {
                        wait = error.retryAfter
                        tell(error, &progress)
                    }
                } else if Self.isWorthRetrying(error, progress) {
                    wait = error.retryAfter
                    tell(error, &progress)
                } else {
                    output.finish(throwing: error)
                    return
                }
            }
            let backoff = min(Self.shortestWait * Double(1 << min(progress.failures, 10)), Self.longestWait)
            progress.failures += 1
            do {
                try await Task.sleep(for: .seconds(max(wait ?? 0, backoff) * Double.random(in: 0.5...1)))
            } catch { break }
        }
        output.finish()
    }

    /// Once for each time away. A connection that breaks after something was heard on it is as a rule back in a moment.
    private func tell(_ failure: SealKitError, _ progress: inout Progress) {
        guard !progress.isHeard, !progress.isAway, !Task.isCancelled else { return }
        progress.isAway = true
        connectionChanged(failure)
    }

    private static func isWorthRetrying(_ error: SealKitError, _ progress: Progress) -> Bool {
        // The server of the address was heard once: somebody else answers in its place now, as in a café before one has
        // signed in.
        if error.code == .serverNotTrusted { return progress.isReady }
        return [
            .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable, .requestRateLimited,
            .internalError,
            .storageFull, .accountTemporarilyUnavailable,
        ].contains(error.code)
    }

    /// Reads one connection to its end.
    private func connect(_ progress: inout Progress) async throws(SealKitError) {
        let path = core.path(Endpoints.subscriptions.notifications.route)
        var parser = ServerSentEvents()
        var current = progress
        current.isHeard = false
        defer { progress = current }
        try await core.events(path, lastEventID: progress.lastID) { part in
            for event in try parser.read(part.readableBytesView) {
                if let notification = try self.notification(event, &current) {
                    var iterator = self.requests.makeAsyncIterator()
                    guard await iterator.next() != nil else { throw CancellationError() }
                    self.output.yield(notification)
                }
                if let id = event.id { current.lastID = id }
            }
        }
    }

    private func notification(
        _ event: ServerSentEvents.Event, _ progress: inout Progress
    ) throws(SealKitError) -> Container.Notification? {
        progress.failures = 0
        progress.isHeard = true
        if progress.isAway {
            progress.isAway = false
            connectionChanged(nil)
        }
        switch event.name {
        case "ready":
            defer { progress.isReady = true }
            return progress.isReady ? nil : Container.Notification(id: event.id, content: .ready)
        case "reset":
            progress.isReady = true
            return Container.Notification(id: event.id, content: .reset)
        case "notification":
            let data = Data(event.data.utf8)
            guard (try? DecodedSize.measure(json: data)) != nil,
                let wire = try? Sealkit_V1_Notification(measuredJSON: data)
            else {
                throw SealKitError(
                    .serverRejectedRequest, "the server sent a notification that cannot be read",
                    remedy: "check that the address is that of a SealKit server")
            }
            // What a newer server says and this version does not know moves the place all the same.
            return Container.Notification.Fired(wire, own: core.userID().recordName).map {
                Container.Notification(id: event.id, content: .fired($0))
            }
        case "end":
            guard let failure = try? Sealkit_V1_Failure(jsonString: event.data), !failure.code.isEmpty else {
                return nil
            }
            throw SealKitError(failure)
        default: return nil
        }
    }
}
