import NIOCore
import SealService
import SealStorage
import SealWire
import Synchronization

/// The event streams that are open, and what wakes them. A stream holds no queue: woken, it reads its user's feed, so
/// that a slow reader costs no memory.
final class EventStreams: Sendable {
    enum Signal: Sendable {
        case look
        case heartbeat
    }

    struct Opened: Sendable {
        let id: UInt64
        /// At most one signal waits: looking once is enough for all that happened. Ends when the stream is to be
        /// closed.
        let signals: AsyncStream<Signal>
    }

    private struct Entry {
        let viewer: Int64
        let account: Int64
        /// Its address.
        let client: [UInt8]
        let place: TelemetryPlace
        let signals: AsyncStream<Signal>.Continuation
        let channel: any Channel
        /// Since when one write has been waiting for the reader.
        var isWritingSince: ContinuousClock.Instant?
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var byViewer: [Int64: Set<UInt64>] = [:]
        var byAccount: [Int64: Set<UInt64>] = [:]
        var byClient: [[UInt8]: Int] = [:]
        var next: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let metrics: ServerMetrics
    /// Of everybody.
    private let limit: Int

    init(limit: Int = PushLimits.streams, metrics: ServerMetrics = .off) {
        (self.limit, self.metrics) = (limit, metrics)
    }

    /// Between two signs of life: shorter than what proxies between usually wait.
    static let heartbeat: Duration = .seconds(25)

    /// How long one write may wait for a reader.
    static let patience: Duration = .seconds(60)

    var count: Int { state.withLock(\.entries.count) }
    /// How many are open where.
    var counts: [TelemetryPlace: Int] {
        state.withLock { $0.entries.values.reduce(into: [:]) { $0[$1.place, default: 0] += 1 } }
    }
    /// Those whose reader has not taken what was written last.
    var waitingCount: Int { state.withLock { $0.entries.values.count { $0.isWritingSince != nil } } }

    /// - Throws: `requestRateLimited` with too many open of the account, or from the client's address;
    ///   `serviceUnavailable` with too many of everybody, and at shutdown.
    /// - Parameters:
    ///   - place: that it tells of.
    ///   - client: `ClientAddress.bytes`: one has a quarter of all that there are.
    ///   - accountLimit: how many the account may have.
    func open(
        viewer: Int64, account: Int64, in place: TelemetryPlace, channel: any Channel, client: [UInt8],
        limit accountLimit: Int
    ) throws(ServerError) -> Opened {
        let (signals, continuation) = AsyncStream<Signal>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let outcome: Result<UInt64, NoRoom> = state.withLock { state in
            guard !state.isClosed else { return .failure(.isStopping) }
            guard state.byAccount[account, default: []].count < accountLimit else { return .failure(.ofAccount) }
            guard state.byClient[client, default: 0] < LoadGate.share(of: limit) else { return .failure(.fromClient) }
            guard state.entries.count < limit else { return .failure(.ofEverybody) }
            state.next += 1
            state.entries[state.next] = Entry(
                viewer: viewer, account: account, client: client, place: place, signals: continuation,
                channel: channel)
            state.byViewer[viewer, default: []].insert(state.next)
            state.byAccount[account, default: []].insert(state.next)
            state.byClient[client, default: 0] += 1
            return .success(state.next)
        }
        switch outcome {
        case .success(let id):
            metrics.count(.streamsOpened)
            return Opened(id: id, signals: signals)
        case .failure(let noRoom):
            if noRoom != .isStopping { metrics.count(.refusals, "streams") }
            throw noRoom.error
        }
    }

    /// Why one more is not opened.
    private enum NoRoom: Error {
        case isStopping, ofAccount, fromClient, ofEverybody

        var error: ServerError {
            switch self {
            case .isStopping:
                ServerError(.serviceUnavailable, "The server is shutting down.", remedy: "Try again.", retryAfter: 2)
            case .ofAccount:
                ServerError(
                    .requestRateLimited, "Too many event streams are open.",
                    remedy: "Use one for each device and container; close those that are not needed.", retryAfter: 30)
            case .fromClient:
                ServerError(
                    .requestRateLimited, "Too many event streams are open from this network address.",
                    remedy: "Close those that are not needed, or try again later.", retryAfter: 30)
            case .ofEverybody:
                ServerError(
                    .serviceUnavailable, "The server has as many event streams open as it takes.",
                    remedy: "Try again later.", retryAfter: 30)
            }
        }
    }

    /// Ends the stream's signals and forgets it.
    func close(_ id: UInt64) {
        let entry = state.withLock { state -> Entry? in
            guard let entry = state.entries.removeValue(forKey: id) else { return nil }
            state.byViewer[entry.viewer]?.remove(id)
            if state.byViewer[entry.viewer]?.isEmpty == true { state.byViewer[entry.viewer] = nil }
            state.byAccount[entry.account]?.remove(id)
            if state.byAccount[entry.account]?.isEmpty == true { state.byAccount[entry.account] = nil }
            state.byClient[entry.client, default: 0] -= 1
            if state.byClient[entry.client] == 0 { state.byClient[entry.client] = nil }
            return entry
        }
        entry?.signals.finish()
    }

    /// Notes that a write begins, or that it is done.
    func writes(_ id: UInt64, since instant: ContinuousClock.Instant?) {
        state.withLock { $0.entries[id]?.isWritingSince = instant }
    }

    func wake(viewer: Int64) { signal(.look) { $0.byViewer[viewer] ?? [] } }

    /// A session of the account ended: each stream looks whether it was its own.
    func wake(account: Int64) { signal(.look) { $0.byAccount[account] ?? [] } }

    /// Anything may have happened.
    func wakeAll() { signal(.look) { Set($0.entries.keys) } }

    /// So many notifications were written to one, and so many changes told together with later ones.
    func tells(_ sent: Int, coalesced: Int) {
        metrics.count(.notifications, "stream", "sent", by: sent)
        if coalesced > 0 { metrics.count(.notifications, "stream", "coalesced", by: coalesced) }
    }

    private func signal(_ signal: Signal, _ ids: (State) -> Set<UInt64>) {
        let found = state.withLock { state in ids(state).compactMap { state.entries[$0]?.signals } }
        for signals in found { signals.yield(signal) }
    }

    /// To be called every few seconds: lets streams show that they live, and cuts those whose reader has stopped.
    func heartbeat(now: ContinuousClock.Instant = .now) {
        let (living, stuck) = state.withLock { state in
            let stuck = state.entries.values.filter { entry in
                entry.isWritingSince.map { now - $0 > Self.patience } ?? false
            }
            return (state.entries.values.map(\.signals), stuck.map(\.channel))
        }
        for signals in living { signals.yield(.heartbeat) }
        for channel in stuck { channel.close(promise: nil) }
    }

    /// At shutdown: ends all, and takes no more.
    func closeAll() {
        let entries = state.withLock { state in
            state.isClosed = true
            defer { (state.entries, state.byViewer, state.byAccount, state.byClient) = ([:], [:], [:], [:]) }
            return Array(state.entries.values)
        }
        for entry in entries {
            entry.signals.finish()
            // Its writer waits for a reader that may never read again.
            if entry.isWritingSince != nil { entry.channel.close(promise: nil) }
        }
    }
}
