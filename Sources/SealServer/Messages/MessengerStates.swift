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

    private let states: Mutex<[Address.Kind: State]>
    private let logger: Logger

    init(_ kinds: some Sequence<Address.Kind>, logger: Logger) {
        states = Mutex(Dictionary(uniqueKeysWithValues: kinds.map { ($0, .untried) }))
        self.logger = logger
    }

    subscript(kind: Address.Kind) -> State { states.withLock { $0[kind] ?? .none } }

    /// - Parameter why: of a failure, without any address.
    func note(_ state: State, of kind: Address.Kind, why: String = "") {
        let former = states.withLock { $0.updateValue(state, forKey: kind) }
        guard former != state else { return }
        switch state {
        case .failing:
            logger.error(
                "codes cannot be sent; they wait for as long as they are good", metadata: ["by": "\(kind)", "error": "\(why)"])
        case .ok: logger.notice("codes can be sent", metadata: ["by": "\(kind)"])
        case .none, .untried: break
        }
    }
}
