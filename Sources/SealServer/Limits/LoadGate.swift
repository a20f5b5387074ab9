import SealWire
import Synchronization

/// Bounds what the server works on at once, so that its memory stays bounded whoever comes: requests, the bytes of their
/// bodies, and the bytes of large answers that clients have not taken yet.
final class LoadGate: Sendable {
    /// Smaller answers are not worth counting.
    static let countedAnswer = 64 << 10

    private let requests: Counter
    private let bytes: Counter
    private let answers: Counter

    /// - Parameters: 0 is no limit.
    init(requests: Int, bytes: Int) {
        self.requests = Counter(limit: requests)
        self.bytes = Counter(limit: bytes)
        answers = Counter(limit: bytes)
    }

    /// Of requests that are let in now.
    var bytesUnderWay: Int { bytes.count }

    /// Lets a request in.
    ///
    /// Throws `serviceUnavailable` when there is no room.
    func enter(bytes count: Int) throws(ServerError) -> Pass {
        guard requests.add(1) else { throw Self.full }
        guard bytes.add(count) else {
            requests.remove(1)
            throw Self.full
        }
        return Pass { [self] in
            requests.remove(1)
            bytes.remove(count)
        }
    }

    /// Keeps room for an answer that is ready to be sent.
    ///
    /// Throws `serviceUnavailable` when too much waits for slow clients already.
    func hold(answer count: Int) throws(ServerError) -> Pass {
        guard answers.add(count) else { throw Self.full }
        return Pass { [self] in answers.remove(count) }
    }

    private static let full = ServerError(
        .serviceUnavailable, "The server has as much under way as it takes at once; nothing was done.",
        remedy: "Try again in a second.", retryAfter: 1)

    /// Room that was given; it is given back when nobody holds the pass any more, however the request ended.
    final class Pass: Sendable {
        private let giveBack: @Sendable () -> Void
        fileprivate init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }
        deinit { giveBack() }
    }

    private final class Counter: Sendable {
        private let value = Atomic(0)
        private let limit: Int

        init(limit: Int) { self.limit = limit > 0 ? limit : Int.max }

        var count: Int { value.load(ordering: .relaxed) }

        /// What alone is larger than the limit goes alone.
        func add(_ amount: Int) -> Bool {
            let (before, after) = value.add(amount, ordering: .relaxed)
            guard after > limit, before > 0 else { return true }
            remove(amount)
            return false
        }

        func remove(_ amount: Int) { value.subtract(amount, ordering: .relaxed) }
    }
}
