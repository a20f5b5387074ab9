package import Logging
import Synchronization

/// Whether messages go out, by kind, as the last attempt showed. What changes is logged.
package final class MessengerStates: Sendable {
    package enum State: String, Sendable {
        /// The server is not set up for it.
        case none
        case untried
        case ok
        case failing
    }

    private struct Known {
        var state = State.untried
        /// What the log said last.
        var logged = State.untried
        /// A message has failed since, which may have been its own fault.
        var isDoubted = false
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

    /// Whether it is not known, or not sure, that messages of a kind go out.
    func isUnsure(_ kind: Address.Kind) -> Bool {
        states.withLock { $0[kind].map { $0.state != .ok || $0.isDoubted } ?? false }
    }

    /// - Parameter why: of a failure, without any address.
    package func note(_ state: State, of kind: Address.Kind, why: String = "") {
        let former = states.withLock { states in
            defer { states[kind] = Known(state: state, logged: state) }
            return states[kind]?.logged
        }
        guard former != state else { return }
        var metadata: Logger.Metadata = ["by": "\(kind)"]
        if let relay = relays[kind] { metadata["relay"] = "\(relay)" }
        switch state {
        case .failing:
            metadata["error"] = "\(why)"
            logger.error("codes cannot be sent; they wait for as long as they are good", metadata: metadata)
        case .ok: logger.notice("codes can be sent", metadata: metadata)
        case .none, .untried: break
        }
    }

    /// After a message that did not go out, which may have been its recipient's fault: what was good is to be tried
    /// again, and is good until that has shown otherwise.
    func doubt(_ kind: Address.Kind) { states.withLock { $0[kind]?.isDoubted = true } }
}
