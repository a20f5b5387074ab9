package import Logging
import Synchronization

/// Whether messages go out, by kind, as the last attempts showed. What changes is logged.
package final class MessengerStates: Sendable {
    package enum State: String, Sendable {
        /// The server is not set up for it.
        case none
        case untried
        case ok
        /// The way is there, and the other side refused the latest message: which may be its recipient's fault.
        case refused
        case failing
    }

    /// So many messages in a row are refused for more than their recipients' sake.
    static let mostRefusals = 3

    private struct Known {
        enum Way {
            case untried, open, closed
        }

        /// Whether messages are handed over at all.
        var way = Way.untried
        /// Messages that were refused since one was taken.
        var refusals = 0
        /// A message has been refused since the way was last tried.
        var isDoubted = false
        /// What the log said last.
        var logged = State.untried

        var state: State {
            if way == .closed || refusals >= MessengerStates.mostRefusals { return .failing }
            if refusals > 0 { return .refused }
            return way == .open ? .ok : .untried
        }
    }

    private let states: Mutex<[Address.Kind: Known]>
    private let relays: [Address.Kind: String]
    private let logger: Logger

    package init(_ messengers: [Address.Kind: any Messenger], logger: Logger) {
        states = Mutex(messengers.mapValues { _ in Known() })
        relays = messengers.compactMapValues(\.relay)
        self.logger = logger
    }

    package subscript(kind: Address.Kind) -> State { states.withLock { $0[kind]?.state ?? .none } }

    /// Whether it is not known, or not sure, that there is a way for messages of a kind.
    func isUnsure(_ kind: Address.Kind) -> Bool {
        states.withLock { $0[kind].map { $0.way != .open || $0.isDoubted } ?? false }
    }

    /// A message was taken.
    func sent(_ kind: Address.Kind) {
        note(kind) { ($0.way, $0.refusals, $0.isDoubted) = (.open, 0, false) }
    }

    /// The way was tried, as far as that goes without a message: what was refused stays known until one is taken.
    func isOpen(_ kind: Address.Kind) {
        note(kind) { ($0.way, $0.isDoubted) = (.open, false) }
    }

    /// - Parameter why: without any address.
    func failed(_ kind: Address.Kind, why: String) {
        note(kind, why: why) { ($0.way, $0.isDoubted) = (.closed, false) }
    }

    /// A message did not go out, which may have been its recipient's fault, but for so many in a row.
    /// - Parameters:
    ///   - isFirst: not one that was refused before; it may have failed on the way before.
    ///   - why: without any address.
    /// - Returns: whether it is the first doubt since the way was tried: then that is due again, where it can be.
    func refused(_ kind: Address.Kind, isFirst: Bool, why: String) -> Bool {
        note(kind, why: why) { known in
            if isFirst { known.refusals += 1 }
            defer { known.isDoubted = true }
            return !known.isDoubted
        } ?? false
    }

    @discardableResult
    private func note<T: Sendable>(_ kind: Address.Kind, why: String = "", _ change: (inout Known) -> T) -> T? {
        let (result, news) = states.withLock { states -> (T?, State?) in
            guard var known = states[kind] else { return (nil, nil) }
            defer { states[kind] = known }
            let result = change(&known)
            // Each refusal has a line of its own.
            guard known.state != known.logged, known.state != .refused else { return (result, nil) }
            known.logged = known.state
            return (result, known.state)
        }
        guard let news else { return result }
        var metadata: Logger.Metadata = ["by": "\(kind)"]
        if let relay = relays[kind] { metadata["relay"] = "\(relay)" }
        switch news {
        case .failing:
            metadata["error"] = "\(why)"
            logger.error("codes cannot be sent; they wait for as long as they are good", metadata: metadata)
        case .ok: logger.notice("codes can be sent", metadata: metadata)
        case .none, .untried, .refused: break
        }
        return result
    }
}
