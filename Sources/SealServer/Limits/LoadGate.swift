import SealWire
import Synchronization

/// Bounds what the server works on at once, so that its memory stays bounded whoever comes: requests, the bytes of their
/// bodies and of what these become in memory, and the bytes of large answers that clients have not taken yet.
///
/// What is not there is not counted: a body by its bytes as they arrive, whatever was announced. And nobody gets all of the room: a client
/// address has a quarter, all who have no session have a quarter together, and one address among them a quarter of that.
final class LoadGate: Sendable {
    /// Smaller answers are not worth counting.
    static let countedAnswer = 64 << 10

    /// What one client address has of a limit, and what all have together who have no session; 0 of none.
    static func share(of limit: Int) -> Int { limit > 0 ? max(1, limit / 4) : 0 }

    private let requests: Counter
    private let bytes: Counter
    private let answers: Counter

    /// - Parameters: 0 is no limit.
    init(requests: Int, bytes: Int) {
        self.requests = Counter(limit: requests)
        self.bytes = Counter(limit: bytes)
        answers = Counter(limit: bytes)
    }

    var requestsUnderWay: Int { requests.count }
    /// Of requests that are let in now.
    var bytesUnderWay: Int { bytes.count }
    /// That wait for those who asked for them.
    var answersUnderWay: Int { answers.count }

    /// Lets a request in, of which nothing has been read.
    ///
    /// Throws `serviceUnavailable` when there is no room.
    /// - Parameter client: `ClientAddress.bytes`.
    func enter(_ client: [UInt8]) throws(ServerError) -> Pass {
        let purses = [Purse.everybody, .client(client)]
        guard requests.add(1, to: purses, own: 0) else { throw Self.full }
        return Pass(self, client, purses)
    }

    private static let full = ServerError(
        .serviceUnavailable, "The server has as much under way as it takes at once; nothing was done.",
        remedy: "Try again in a second.", retryAfter: 1)

    /// A request's room; it is given back at its end, or when nobody holds the pass any more.
    final class Pass: Sendable {
        private struct Own {
            var purses: [Purse]
            var bytes = 0
            var hasEnded = false
        }

        private let gate: LoadGate
        private let client: [UInt8]
        private let own: Mutex<Own>

        fileprivate init(_ gate: LoadGate, _ client: [UInt8], _ purses: [Purse]) {
            (self.gate, self.client) = (gate, client)
            own = Mutex(Own(purses: purses))
        }

        /// Counts bytes of the request that have come, or what they become.
        ///
        /// Throws `serviceUnavailable` when there is no room for them beside what others have; those that came before stay counted.
        func take(_ count: Int) throws(ServerError) {
            let hasRoom = own.withLock { own in
                guard !own.hasEnded, gate.bytes.add(count, to: own.purses, own: own.bytes) else { return own.hasEnded }
                own.bytes += count
                return true
            }
            guard hasRoom else { throw LoadGate.full }
        }

        /// The request is nobody's, as far as is known: it shares the room of those who have no session.
        ///
        /// Throws `serviceUnavailable` when these have no more of it.
        func countAsStranger() throws(ServerError) {
            let hasRoom = own.withLock { own in
                let strange = [Purse.strangers, .stranger(client)]
                guard !own.hasEnded, !own.purses.contains(.strangers) else { return true }
                guard gate.requests.add(1, to: strange, own: 0) else { return false }
                guard gate.bytes.add(own.bytes, to: strange, own: 0) else {
                    gate.requests.remove(1, from: strange)
                    return false
                }
                own.purses += strange
                return true
            }
            guard hasRoom else { throw LoadGate.full }
        }

        /// It has turned out to be somebody's.
        func countAsKnown() {
            own.withLock { own in
                let strange = [Purse.strangers, .stranger(client)]
                guard !own.hasEnded, own.purses.contains(.strangers) else { return }
                gate.requests.remove(1, from: strange)
                gate.bytes.remove(own.bytes, from: strange)
                own.purses.removeAll { strange.contains($0) }
            }
        }

        /// Keeps room for an answer that is ready to be sent, also after the request's end.
        ///
        /// Throws `serviceUnavailable` when too much waits for slow clients already.
        func hold(answer count: Int) throws(ServerError) -> Hold {
            let purses = own.withLock(\.purses)
            guard gate.answers.add(count, to: purses, own: 0) else { throw LoadGate.full }
            return Hold { [answers = gate.answers] in answers.remove(count, from: purses) }
        }

        func end() {
            own.withLock { own in
                guard !own.hasEnded else { return }
                own.hasEnded = true
                gate.requests.remove(1, from: own.purses)
                gate.bytes.remove(own.bytes, from: own.purses)
            }
        }

        deinit { end() }
    }

    /// Room that is given back when nobody holds this any more.
    final class Hold: Sendable {
        private let giveBack: @Sendable () -> Void
        fileprivate init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }
        deinit { giveBack() }
    }

    /// Whose share of the room something is counted against: a request's against several.
    fileprivate enum Purse: Hashable, Sendable {
        case everybody
        case client([UInt8])
        case strangers
        case stranger([UInt8])
    }

    private final class Counter: Sendable {
        private let used = Mutex<[Purse: Int]>([:])
        private let limit: Int

        init(limit: Int) { self.limit = limit > 0 ? limit : Int.max }

        var count: Int { used.withLock { $0[.everybody] ?? 0 } }

        /// What alone is larger than a share goes alone.
        /// - Parameter own: how much of what is in the purses is the request's.
        func add(_ amount: Int, to purses: [Purse], own: Int) -> Bool {
            used.withLock { used in
                for purse in purses {
                    let before = used[purse] ?? 0
                    guard before <= own || amount <= share(of: purse) - before else { return false }
                }
                for purse in purses { used[purse, default: 0] += amount }
                return true
            }
        }

        func remove(_ amount: Int, from purses: [Purse]) {
            used.withLock { used in
                for purse in purses {
                    let left = (used[purse] ?? 0) - amount
                    used[purse] = left > 0 ? left : nil
                }
            }
        }

        private func share(of purse: Purse) -> Int {
            switch purse {
            case .everybody: limit
            case .client, .strangers: LoadGate.share(of: limit)
            case .stranger: LoadGate.share(of: LoadGate.share(of: limit))
            }
        }
    }
}
