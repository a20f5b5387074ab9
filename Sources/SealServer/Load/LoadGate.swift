import SealService
import SealStorage
import SealWire
import Synchronization

/// Bounds what the server works on at once, so that its memory stays bounded whoever comes: requests, the bytes of
/// their bodies and of what these become in memory, and the bytes of large answers that clients have not taken yet.
///
/// What is not there is not counted: a body by its bytes as they arrive, whatever was announced. And nobody gets all of
/// the room: a client address has a quarter, all who have no session have a quarter together, and one address among
/// them a quarter of that.
final class LoadGate: Sendable {
    /// Smaller answers are not worth counting.
    static let countedAnswer = 64 << 10

    /// What one client address has of a limit, and what all have together who have no session; 0 of none.
    static func share(of limit: Int) -> Int { limit > 0 ? max(1, limit / 4) : 0 }

    private let limits: Amounts
    private let state = Mutex(State())
    private let metrics: ServerMetrics

    /// - Parameters: 0 is no limit.
    init(requests: Int, bytes: Int, metrics: ServerMetrics = .off) {
        self.metrics = metrics
        limits = Amounts(
            requests: requests > 0 ? requests : Int.max, bytes: bytes > 0 ? bytes : Int.max,
            answers: bytes > 0 ? bytes : Int.max, told: bytes > 0 ? bytes : Int.max)
    }

    var requestsUnderWay: Int { state.withLock(\.everybody.requests) }
    /// Of requests that are let in now.
    var bytesUnderWay: Int { state.withLock(\.everybody.bytes) }
    /// That wait for those who asked for them.
    var answersUnderWay: Int { state.withLock(\.everybody.answers) }
    /// Client addresses of which something is counted.
    var rememberedClients: Int { state.withLock(\.places.count) }

    /// Lets a request in, of which nothing has been read.
    ///
    /// Throws `serviceUnavailable` when there is no room.
    /// - Parameter client: `ClientAddress.bytes`.
    func enter(_ client: [UInt8]) throws(ServerError) -> Pass {
        let place = state.withLock { state -> Int? in
            let place = state.hold(client)
            guard state.add(1, .requests, at: place, isStrange: false, own: 0, limits) else {
                state.release(place)
                return nil
            }
            return place
        }
        guard let place else { throw full() }
        return Pass(self, place)
    }

    private func full() -> ServerError {
        metrics.count(.refusals, "load")
        return ServerError(
            .serviceUnavailable, "The server has as much under way as it takes at once; nothing was done.",
            remedy: "Try again in a second.", retryAfter: 1)
    }

    /// A request's room; it is given back at its end, or when nobody holds the pass any more.
    final class Pass: Sendable {
        private struct Own {
            var bytes = 0
            var isStrange = false
            /// For an answer that is being made.
            var answer: Hold?
            var hasEnded = false
        }

        private let gate: LoadGate
        private let place: Int
        private let own = Mutex(Own())

        /// - Parameter place: of the client, held for the pass.
        fileprivate init(_ gate: LoadGate, _ place: Int) { (self.gate, self.place) = (gate, place) }

        /// Counts bytes of the request that have come, or what they become.
        ///
        /// Throws `serviceUnavailable` when there is no room for them beside what others have; those that came before
        /// stay counted.
        func take(_ count: Int) throws(ServerError) {
            let hasRoom = own.withLock { own in
                guard !own.hasEnded else { return true }
                let isAdded = gate.state.withLock {
                    $0.add(count, .bytes, at: place, isStrange: own.isStrange, own: own.bytes, gate.limits)
                }
                if isAdded { own.bytes += count }
                return isAdded
            }
            guard hasRoom else { throw gate.full() }
        }

        /// The request is nobody's, as far as is known: it shares the room of those who have no session.
        ///
        /// Throws `serviceUnavailable` when these have no more of it.
        func countAsStranger() throws(ServerError) {
            let hasRoom = own.withLock { own in
                guard !own.hasEnded, !own.isStrange else { return true }
                own.isStrange = gate.state.withLock { $0.addStranger(bytes: own.bytes, at: place, gate.limits) }
                return own.isStrange
            }
            guard hasRoom else { throw gate.full() }
        }

        /// It has turned out to be somebody's.
        func countAsKnown() {
            own.withLock { own in
                guard !own.hasEnded, own.isStrange else { return }
                gate.state.withLock { $0.removeStranger(bytes: own.bytes, at: place) }
                own.isStrange = false
            }
        }

        /// Throws `serviceUnavailable` where answers to changes that the client has not taken are more than its share,
        /// or all such answers more than there is room for. They are counted and not refused: whoever has not taken
        /// them is to take them before the next change. What reads wait for keeps no change back.
        func requireRoomForAnswer() throws(ServerError) {
            let hasRoom = gate.state.withLock { $0.mayBeTold(at: place, gate.limits) }
            guard hasRoom else { throw gate.full() }
        }

        /// Asks for room for an answer that is being made, until it is ready or the request ends.
        /// - Returns: false where there is none.
        func makeRoom(answer count: Int) -> Bool {
            guard count > LoadGate.countedAnswer else { return true }
            guard let room = try? hold(answer: count, isDone: false) else { return false }
            own.withLock { $0.answer = room }
            return true
        }

        /// Keeps room for an answer that is ready to be sent, or for what of it is in memory at once, also after the
        /// request's end. What there was for it before is given back.
        ///
        /// Throws `serviceUnavailable` when too much waits for slow clients already.
        /// - Parameter isDone: the answer tells of a change that has been made: it is counted, and never refused.
        func hold(answer count: Int, isDone: Bool) throws(ServerError) -> Hold {
            let isStrange = own.withLock { own in
                own.answer = nil
                return own.isStrange
            }
            let isAdded = gate.state.withLock { state in
                if isDone {
                    state.addUnasked(count, .answers, at: place, isStrange: isStrange)
                    state.addUnasked(count, .told, at: place, isStrange: isStrange)
                } else if !state.add(count, .answers, at: place, isStrange: isStrange, own: 0, gate.limits) {
                    return false
                }
                state.hold(place)
                return true
            }
            guard isAdded else { throw gate.full() }
            return Hold { [gate, place] in
                gate.state.withLock { state in
                    state.remove(count, .answers, at: place, isStrange: isStrange)
                    if isDone { state.remove(count, .told, at: place, isStrange: isStrange) }
                    state.release(place)
                }
            }
        }

        func end() {
            own.withLock { own in
                guard !own.hasEnded else { return }
                own.hasEnded = true
                own.answer = nil
                gate.state.withLock { state in
                    state.remove(1, .requests, at: place, isStrange: own.isStrange)
                    state.remove(own.bytes, .bytes, at: place, isStrange: own.isStrange)
                }
            }
        }

        deinit {
            end()
            gate.state.withLock { $0.release(place) }
        }
    }

    /// Room that is given back when nobody holds this any more.
    final class Hold: Sendable {
        private let giveBack: @Sendable () -> Void
        fileprivate init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }
        deinit { giveBack() }
    }

    // MARK: Counts

    fileprivate enum Kind {
        case requests, bytes, answers
        /// Of the answers, those to changes.
        case told
    }

    fileprivate struct Amounts: Sendable {
        var requests = 0
        var bytes = 0
        var answers = 0
        var told = 0

        subscript(kind: Kind) -> Int {
            get {
                switch kind {
                case .requests: requests
                case .bytes: bytes
                case .answers: answers
                case .told: told
                }
            }
            set {
                switch kind {
                case .requests: requests = newValue
                case .bytes: bytes = newValue
                case .answers: answers = newValue
                case .told: told = newValue
                }
            }
        }
    }

    /// One client address: all that comes from it, and of that what is nobody's.
    private struct Client {
        let address: [UInt8]
        /// Passes and answers that count here. Without any of them the place is somebody else's.
        var holders = 0
        var all = Amounts()
        var strange = Amounts()
    }

    /// Addresses are looked up once a request: from then on it is known by a place.
    fileprivate struct State {
        var everybody = Amounts()
        private var strangers = Amounts()
        private var clients: [Client] = []
        private var free: [Int] = []
        fileprivate private(set) var places: [[UInt8]: Int] = [:]

        mutating func hold(_ address: [UInt8]) -> Int {
            if let place = places[address] {
                hold(place)
                return place
            }
            let client = Client(address: address, holders: 1)
            let place = free.popLast() ?? clients.count
            if place < clients.count { clients[place] = client } else { clients.append(client) }
            places[address] = place
            return place
        }

        mutating func hold(_ place: Int) { clients[place].holders += 1 }

        mutating func release(_ place: Int) {
            clients[place].holders -= 1
            guard clients[place].holders == 0 else { return }
            places[clients[place].address] = nil
            free.append(place)
        }

        /// What alone is larger than a share goes alone.
        /// - Parameter own: how much of what is counted is the request's.
        mutating func add(_ amount: Int, _ kind: Kind, at place: Int, isStrange: Bool, own: Int, _ limits: Amounts)
            -> Bool
        {
            let limit = limits[kind]
            guard Self.fits(amount, beside: everybody[kind], own: own, in: limit),
                Self.fits(amount, beside: clients[place].all[kind], own: own, in: LoadGate.share(of: limit)),
                !isStrange || fitsStranger(amount, kind, at: place, own: own, limits)
            else { return false }
            addUnasked(amount, kind, at: place, isStrange: isStrange)
            return true
        }

        /// Whether a client may be told of a further change: whoever has taken what there was may.
        func mayBeTold(at place: Int, _ limits: Amounts) -> Bool {
            let own = clients[place].all.told
            return own == 0 || (everybody.told <= limits.told && own <= LoadGate.share(of: limits.told))
        }

        /// What is there anyway, whether there is room for it or not.
        mutating func addUnasked(_ amount: Int, _ kind: Kind, at place: Int, isStrange: Bool) {
            everybody[kind] += amount
            clients[place].all[kind] += amount
            if isStrange { addStrange(amount, kind, at: place) }
        }

        mutating func remove(_ amount: Int, _ kind: Kind, at place: Int, isStrange: Bool) {
            addUnasked(-amount, kind, at: place, isStrange: isStrange)
        }

        /// A request that is counted already, with so many bytes.
        mutating func addStranger(bytes: Int, at place: Int, _ limits: Amounts) -> Bool {
            guard fitsStranger(1, .requests, at: place, own: 0, limits),
                fitsStranger(bytes, .bytes, at: place, own: 0, limits)
            else {
                return false
            }
            addStrange(1, .requests, at: place)
            addStrange(bytes, .bytes, at: place)
            return true
        }

        mutating func removeStranger(bytes: Int, at place: Int) {
            addStrange(-1, .requests, at: place)
            addStrange(-bytes, .bytes, at: place)
        }

        private mutating func addStrange(_ amount: Int, _ kind: Kind, at place: Int) {
            strangers[kind] += amount
            clients[place].strange[kind] += amount
        }

        private func fitsStranger(_ amount: Int, _ kind: Kind, at place: Int, own: Int, _ limits: Amounts) -> Bool {
            let share = LoadGate.share(of: limits[kind])
            return Self.fits(amount, beside: strangers[kind], own: own, in: share)
                && Self.fits(amount, beside: clients[place].strange[kind], own: own, in: LoadGate.share(of: share))
        }

        private static func fits(_ amount: Int, beside before: Int, own: Int, in limit: Int) -> Bool {
            before <= own || amount <= limit - before
        }
    }
}
