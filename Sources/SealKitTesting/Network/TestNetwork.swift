package import Foundation
public import SealKit
import Synchronization

/// A device's way to a server, in the hands of whoever is to be defended against: it passes everything on, and lies as
/// long as a test wants it to.
///
/// <!-- swift: import Testing; let bob: TestDevice -->
/// ```swift
/// bob.network.inject(.deniedRecord(note.recordID))
/// await #expect(throws: SealKitError.self) { try await bob.container.sharedDatabase.record(for: note.recordID) }
/// bob.network.beHonest()
/// ```
/// A test server's devices have one each. It can also stand in front of any other transport.
public final class TestNetwork: Transport {
    private struct State {
        var faults: [(fault: ServerFault, id: Int)] = []
        var next = 0
        var calls: [String] = []
        var exchanges: [Exchange] = []
        var uploads: [(path: String, bytes: Data)] = []
        var duringUpload: (@Sendable () async throws -> Void)?
    }

    let next: any Transport
    private let state = Mutex(State())
    public var origin: String { next.origin }

    /// - Parameter next: what reaches the server: where requests go that no fault answers.
    public init(_ next: any Transport) { self.next = next }

    // MARK: What goes wrong

    /// From now on, beside what was injected before; faults come in the order in which they were.
    /// - Returns: what takes just this one away again.
    @discardableResult
    public func inject(_ fault: ServerFault) -> Injection {
        let id = state.withLock { state in
            state.next += 1
            state.faults.append((fault, state.next))
            return state.next
        }
        return Injection(network: self, id: id)
    }

    /// Takes all faults away.
    public func beHonest() { state.withLock { $0.faults = [] } }

    fileprivate func remove(_ id: Int) { state.withLock { $0.faults.removeAll { $0.id == id } } }

    /// A fault that was put into a network.
    public struct Injection: Sendable {
        fileprivate let network: TestNetwork
        fileprivate let id: Int

        /// Takes this fault away, and leaves others.
        public func remove() { network.remove(id) }
    }

    var faults: [ServerFault] { state.withLock { $0.faults.map(\.fault) } }

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

    func note(call path: String) { state.withLock { $0.calls.append(path) } }
    func note(_ exchange: Exchange) { state.withLock { $0.exchanges.append(exchange) } }
    func note(upload path: String, _ bytes: Data) { state.withLock { $0.uploads.append((path, bytes)) } }
    func runDuringUpload() async throws { try await state.withLock(\.duringUpload)?() }
}
