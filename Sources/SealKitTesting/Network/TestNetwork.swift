package import Foundation
public import SealKit
import Synchronization

/// A device's way to a server, in the hands of whoever is to be defended against: it passes everything on, and lies as
/// long as a test wants it to.
///
/// <!-- swift: import Testing; let bob: TestDevice -->
/// ```swift
/// let denial = bob.network.inject(.deniedRecord(note.recordID))
/// await #expect(throws: SealKitError.self) { try await bob.container.sharedDatabase.record(for: note.recordID) }
/// #expect(denial.times > 0)
/// bob.network.beHonest()
/// ```
/// A fault names records and zones as its own device has them: what Alice has in a zone of her own is, for Bob, in a
/// zone with her name for its owner. A test server's devices have one network each. It can also stand in front of any
/// other transport.
public final class TestNetwork: Transport {
    private struct State {
        var faults: [Injected] = []
        var next = 0
        /// By the fault's number, also of those that were taken away.
        var times: [Int: Int] = [:]
        /// With the number of the fault that answers on them; nil for the server.
        var connections: [(connection: Connection, answering: Int?)] = []
        var calls: [String] = []
        var exchanges: [Exchange] = []
        var uploads: [(path: String, bytes: Data)] = []
        var duringUpload: (@Sendable () async throws -> Void)?

        /// Takes out the connections that could not be opened now, or that somebody else would answer.
        mutating func takeEnded() -> [Connection] {
            let hasNoNetwork = faults.contains { $0.fault.endsConnections }
            let answering = faults.answering?.id
            let ended = connections.filter { hasNoNetwork || $0.answering != answering }
            connections.removeAll { hasNoNetwork || $0.answering != answering }
            return ended.map(\.connection)
        }
    }

    /// A fault with the number that it was given.
    struct Injected: Sendable {
        let fault: ServerFault
        let id: Int
    }

    let next: any Transport
    private let state = Mutex(State())
    public var origin: String { next.origin }

    /// - Parameter next: what reaches the server: where requests go that no fault answers.
    public init(_ next: any Transport) { self.next = next }

    // MARK: What goes wrong

    /// From now on, beside what was injected before; faults come in the order in which they were. Event streams and
    /// downloads that are open end with `networkFailure` where the network goes (``ServerFault/offline``), and where
    /// somebody else answers from now on (``ServerFault/rollback(to:)``, also when it is taken away). Every other fault
    /// is of what is asked from now on.
    /// - Returns: what takes just this one away again, and says how often it was met.
    @discardableResult
    public func inject(_ fault: ServerFault) -> Injection {
        let (id, ended) = state.withLock { state in
            state.next += 1
            state.faults.append(Injected(fault: fault, id: state.next))
            let ended = state.takeEnded()
            state.times[state.next] = ended.count
            return (state.next, ended)
        }
        end(ended)
        return Injection(network: self, id: id)
    }

    /// Takes all faults away.
    public func beHonest() {
        end(
            state.withLock { state in
                state.faults = []
                return state.takeEnded()
            })
    }

    fileprivate func remove(_ id: Int) {
        end(
            state.withLock { state in
                state.faults.removeAll { $0.id == id }
                return state.takeEnded()
            })
    }

    /// Once the state is free: whoever waited may ask for something at once.
    private func end(_ connections: [Connection]) {
        for connection in connections { connection.end() }
    }

    fileprivate func times(of id: Int) -> Int { state.withLock { $0.times[id, default: 0] } }

    /// A fault that was put into a network.
    public struct Injection: Sendable {
        fileprivate let network: TestNetwork
        fileprivate let id: Int

        /// How often this fault has changed an answer, kept a request from the server, or ended a connection, also
        /// where it was taken away since. 0: nothing that the device asked for was concerned, and whatever a test has
        /// shown it has shown of an honest server.
        public var times: Int { network.times(of: id) }

        /// Takes this fault away, and leaves others.
        public func remove() { network.remove(id) }
    }

    /// What a request meets: the faults of this moment, and whoever answers.
    /// - Parameter connection: is open until ``close(_:)``, or until a fault ends it.
    func begin(_ path: String, _ connection: Connection? = nil) -> (faults: [Injected], server: any Transport) {
        let faults = state.withLock { state in
            state.calls.append(path)
            if let connection { state.connections.append((connection, state.faults.answering?.id)) }
            return state.faults
        }
        return (faults, faults.answering?.fault.elsewhere ?? next)
    }

    func close(_ connection: Connection) {
        state.withLock { state in state.connections.removeAll { $0.connection === connection } }
    }

    /// Counts that a fault was met.
    func count(_ injected: Injected) { state.withLock { $0.times[injected.id, default: 0] += 1 } }

    // MARK: What went by

    /// The paths of all requests, oldest first, also of those that were lost.
    public var requests: [String] { state.withLock(\.calls) }

    /// One request with its answer, as the device saw it.
    package struct Exchange: Sendable {
        package let path: String
        package let token: String?
        package let request: Data
        package let status: Int
        package let response: Data
    }

    package var exchanges: [Exchange] { state.withLock(\.exchanges) }
    package func forget() { state.withLock { $0.exchanges = [] } }
    package func sent(to suffix: String) -> [Data] { exchanges.filter { $0.path.hasSuffix(suffix) }.map(\.request) }
    package var uploads: [(path: String, bytes: Data)] { state.withLock(\.uploads) }

    /// Runs when a part of an upload is on its way and others are to come.
    package func duringUpload(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.duringUpload = body }
    }

    func note(_ exchange: Exchange) { state.withLock { $0.exchanges.append(exchange) } }
    func note(upload path: String, _ bytes: Data) { state.withLock { $0.uploads.append((path, bytes)) } }
    func runDuringUpload() async throws { try await state.withLock(\.duringUpload)?() }
}

extension [TestNetwork.Injected] {
    /// The one that was injected last says who answers.
    var answering: TestNetwork.Injected? { last { $0.fault.elsewhere != nil } }
}
