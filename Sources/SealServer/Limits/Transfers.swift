import HTTPTypes
import NIOCore
import SealWire
import Synchronization

/// Bodies and large answers that are on their way, in order to cut those that have all but stopped.
final class Transfers: Sendable {
    private struct State {
        var open: [UInt64: (transfer: Transfer, channel: any Channel)] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())
    fileprivate let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    var count: Int { state.withLock(\.open.count) }

    /// - Parameter channel: what is closed when it is too slow: the connection, or with HTTP/2 the stream in it.
    func begin(_ pace: TransferPace, on channel: any Channel) -> Transfer {
        state.withLock { state in
            state.next += 1
            let transfer = Transfer(id: state.next, pace: pace, transfers: self)
            state.open[state.next] = (transfer, channel)
            return transfer
        }
    }

    fileprivate func forget(_ id: UInt64) { state.withLock { _ = $0.open.removeValue(forKey: id) } }

    /// To be called every few seconds: those of which nothing comes do not notice by themselves.
    func cutSlow() {
        let slow = state.withLock { state in state.open.values.filter { $0.transfer.cutIfSlow() }.map { $0.channel } }
        for channel in slow { channel.close(promise: nil) }
    }
}

/// One of them. It has to be ended.
final class Transfer: Sendable {
    private let id: UInt64
    private let pace: TransferPace
    private let transfers: Transfers
    private let start: ContinuousClock.Instant
    private let bytes = Atomic(0)
    private let isCut = Atomic(false)

    fileprivate init(id: UInt64, pace: TransferPace, transfers: Transfers) {
        (self.id, self.pace, self.transfers) = (id, pace, transfers)
        start = transfers.now()
    }

    /// Notes what has come.
    ///
    /// Throws `limitExceeded` where it was too slow.
    func took(_ count: Int) throws(ServerError) {
        bytes.add(count, ordering: .relaxed)
        guard !cutIfSlow() else { throw Self.tooSlow }
    }

    /// To be asked at the end: that of a connection that was cut looks like any other.
    ///
    /// Throws `limitExceeded`.
    func requireUncut() throws(ServerError) {
        guard !isCut.load(ordering: .relaxed) else { throw Self.tooSlow }
    }

    func end() { transfers.forget(id) }

    fileprivate func cutIfSlow() -> Bool {
        guard pace.isTooSlow(bytes.load(ordering: .relaxed), after: transfers.now() - start) else { return false }
        isCut.store(true, ordering: .relaxed)
        return true
    }

    private static let tooSlow = ServerError(
        .limitExceeded, "The request's body came too slowly; nothing was done.",
        remedy: "Send it again over a better connection, or send fewer items at once.", status: .requestTimeout)
}
