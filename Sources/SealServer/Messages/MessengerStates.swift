import Logging
import Synchronization

/// Whether messages go out, by kind, as the last attempt showed. What changes is logged.
final class MessengerStates: Sendable {
    enum State: String, Sendable {
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
    }

    private let states: Mutex<[Address.Kind: Known]>
    private let logger: Logger

    init(_ kinds: some Sequence<Address.Kind>, logger: Logger) {
        states = Mutex(Dictionary(uniqueKeysWithValues: kinds.map { ($0, Known()) }))
        self.logger = logger
    }

    subscript(kind: Address.Kind) -> State { states.withLock { $0[kind]?.state ?? .none } }

    /// - Parameter why: of a failure, without any address.
    func note(_ state: State, of kind: Address.Kind, why: String = "") {
        let former = states.withLock { states in
            defer { states[kind] = Known(state: state, logged: state) }
            return states[kind]?.logged
        }
        guard former != state else { return }
        switch state {
        case .failing:
            logger.error(
                "codes cannot be sent; they wait for as long as they are good", metadata: ["by": "\(kind)", "error": "\(why)"])
        case .ok: logger.notice("codes can be sent", metadata: ["by": "\(kind)"])
        case .none, .untried: break
        }
    }

    /// After a message that did not go out, which may have been its recipient's fault: what was good is to be tried again. What is
    /// known to fail stays so.
    func doubt(_ kind: Address.Kind) {
        states.withLock { if $0[kind]?.state == .ok { $0[kind]?.state = .untried } }
    }
}
