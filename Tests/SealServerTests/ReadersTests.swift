import Dispatch
import Foundation
import Synchronization
import Testing

@testable import SealStorage

/// Connections that read, where there is not one for everybody.
@Suite(.timeLimit(.minutes(60))) struct ReadersTests {
    private struct NoConnection: Error {}

    /// Answers nothing: what is read here asks nothing.
    private struct Silence: SQLConnection, ReaderConnection {
        var dialect: SQLDialect { .sqlite }
        func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int { 0 }
        func runScript(_ sql: String) throws {}
        func announce(_ announcement: Announcement) {}
        func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T { try body(self) }
        func close() throws {}
    }

    /// The first reader's connection is had at once, the second one's never, after a wait.
    private final class Gate: Sendable {
        let (isReading, mayRead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (isConnecting, mayFail) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        private let connections = Mutex(0)

        func connect() throws -> any ReaderConnection {
            let count = connections.withLock { count in
                count += 1
                return count
            }
            guard count > 1 else { return Silence() }
            isConnecting.signal()
            mayFail.wait()
            throw NoConnection()
        }
    }

    /// Refuses all that connect at once, as PostgreSQL does where there is room for one more.
    private final class Narrow: Sendable {
        private let connecting = Atomic(0)

        func connect() throws -> any ReaderConnection {
            let isAlone = connecting.add(1, ordering: .acquiringAndReleasing).newValue == 1
            defer { connecting.subtract(1, ordering: .acquiringAndReleasing) }
            Thread.sleep(forTimeInterval: 0.005)
            guard isAlone, connecting.load(ordering: .acquiring) == 1 else { throw NoConnection() }
            return Silence()
        }
    }

    /// Of those that read, in the order in which they did.
    private final class Order: Sendable {
        let names = Mutex<[String]>([])
    }

    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    /// - Returns: what became of a read for which there was no connection, beside one that was under way.
    private static func strand(closes: Bool) async throws -> Result<Int, any Error> {
        let gate = Gate()
        let readers = Readers(most: 2) { try gate.connect() }
        async let first = readers.read { _ in
            gate.isReading.signal()
            gate.mayRead.wait()
            return 1
        }
        await wait(for: gate.isReading)
        async let second = readers.read { _ in 2 }
        await wait(for: gate.isConnecting)
        if closes { try readers.close() }
        gate.mayFail.signal()
        // It is settled, or waits for the one under way.
        while readers.counts.busy > 1 { try await Task.sleep(for: .milliseconds(1)) }
        gate.mayRead.signal()
        #expect(try await first == 1)
        do { return .success(try await second) } catch { return .failure(error) }
    }

    @Test func aReadWithoutAConnectionWaitsForOneThatReads() async throws {
        #expect(try await Self.strand(closes: false).get() == 2)
    }

    /// The one that read has become idle while the connection was waited for.
    @Test func aReadWithoutAConnectionGoesToAnIdleReader() async throws {
        let gate = Gate()
        let readers = Readers(most: 2) { try gate.connect() }
        async let first = readers.read { _ in
            gate.isReading.signal()
            gate.mayRead.wait()
            return 1
        }
        await Self.wait(for: gate.isReading)
        async let second = readers.read { _ in 2 }
        await Self.wait(for: gate.isConnecting)
        gate.mayRead.signal()
        #expect(try await first == 1)
        gate.mayFail.signal()
        #expect(try await second == 2)
        #expect(try await readers.read { _ in 3 } == 3)
        #expect((readers.counts.busy, readers.counts.waiting) == (0, 0))
    }

    /// One account's many reads that found no connection stand in line as its own, before nobody else's.
    @Test func readsWithoutAConnectionTakeTurns() async throws {
        let gate = Gate()
        let readers = Readers(most: 2) { try gate.connect() }
        let order = Order()
        async let first = readers.read { _ in
            gate.isReading.signal()
            gate.mayRead.wait()
        }
        await Self.wait(for: gate.isReading)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (account, name) in [(Int64(1), "a1"), (1, "a2"), (1, "a3"), (2, "b1")] {
                let waiting = readers.counts.waiting
                group.addTask {
                    let turn = WriteTurn(payer: .account(account), route: .init(method: "GET", path: "/"))
                    try await WriteTurn.$current.withValue(turn) {
                        try await readers.read { _ in order.names.withLock { $0.append(name) } }
                    }
                }
                await Self.wait(for: gate.isConnecting)
                gate.mayFail.signal()
                while readers.counts.waiting == waiting { try await Task.sleep(for: .milliseconds(1)) }
            }
            gate.mayRead.signal()
            try await group.waitForAll()
        }
        _ = try await first
        #expect(order.names.withLock { $0 } == ["a1", "b1", "a2", "a3"])
    }

    /// Nobody takes what waits by then.
    @Test func aReadWithoutAConnectionIsRefusedWhereReadingHasEnded() async throws {
        let outcome = try await Self.strand(closes: true)
        #expect(throws: NoConnection.self) { try outcome.get() }
    }

    /// Four readers are had, one after the other: each read waits for three others to be under way.
    @Test func oneConnectsAtATime() async throws {
        let narrow = Narrow()
        let readers = Readers(most: 4) { try narrow.connect() }
        let together = DispatchGroup()
        for _ in 0..<4 { together.enter() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await readers.read { _ in
                        together.leave()
                        together.wait()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect((readers.counts.busy, readers.counts.waiting) == (0, 0))
    }

    /// Whoever waited for the connection that was refused does not wait for another one to be.
    @Test func allFailWhereThereIsNoDatabase() async throws {
        let gate = Gate()
        _ = try gate.connect()
        let readers = Readers(most: 2) { try gate.connect() }
        let reads = (0..<4).map { number in Task { try await readers.read { _ in number } } }
        await Self.wait(for: gate.isConnecting)
        while readers.counts.waiting < 3 { try await Task.sleep(for: .milliseconds(1)) }
        gate.mayFail.signal()
        for read in reads {
            let outcome = await read.result
            #expect(throws: NoConnection.self) { try outcome.get() }
        }
        #expect((readers.counts.busy, readers.counts.waiting) == (0, 0))
    }
}
