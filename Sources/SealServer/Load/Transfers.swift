import HTTPTypes
import NIOCore
import SealService
import SealWire
import Synchronization

/// Bodies and large answers that are on their way, in order to cut those that have all but stopped.
final class Transfers: Sendable {
    /// Each with a lock of its own, so that requests on several cores seldom wait for one another.
    private final class Shard: Sendable {
        let open = Mutex<[UInt64: (transfer: Transfer, channel: any Channel)]>([:])
    }

    /// Between two looks for those that are too slow.
    static let interval: Duration = .seconds(5)

    private let shards = (0..<16).map { _ in Shard() }
    private let last = Atomic<UInt64>(0)
    fileprivate let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    var count: Int { shards.reduce(0) { $0 + $1.open.withLock { $0.count } } }

    /// - Parameter channel: what is closed when it is too slow: the connection, or with HTTP/2 the stream in it.
    func begin(_ pace: TransferPace, on channel: any Channel) -> Transfer {
        let id = last.add(1, ordering: .relaxed).newValue
        let transfer = Transfer(id: id, pace: pace, transfers: self)
        shard(of: id).open.withLock { $0[id] = (transfer, channel) }
        return transfer
    }

    fileprivate func forget(_ id: UInt64) { shard(of: id).open.withLock { _ = $0.removeValue(forKey: id) } }

    private func shard(of id: UInt64) -> Shard { shards[Int(id % UInt64(shards.count))] }

    /// To be called every few seconds: those of which nothing comes do not notice by themselves.
    func cutSlow() {
        for shard in shards {
            let slow = shard.open.withLock { open in open.values.filter { $0.transfer.cutIfSlow() }.map { $0.channel } }
            for channel in slow { channel.close(promise: nil) }
        }
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
