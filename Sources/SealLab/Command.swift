import Dispatch
public import Foundation
import Synchronization

/// Runs another program to its end, for tests and tools.
public struct Command: Sendable {
    public let status: Int32
    public let output: String
    public let errors: String

    /// Each has pipes open in this process, and beside more than about a thousand open files Foundation's `Process`
    /// crashes.
    private static let places = Turnstile(atOnce: 8)

    /// Few at once; the others wait for their turn, so that no program may wait for another one that is run by this.
    public static func finished(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> Command {
        await places.enter()
        defer { places.leave() }
        return try await Thread.waiting { try run(executable, arguments, environment: environment) }
    }

    /// Holds its thread until then.
    static func run(_ executable: URL, _ arguments: [String], environment: [String: String]) throws -> Command {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.start()
        // Both at once: a program whose one pipe is full does not end the other.
        let told = Mutex("")
        let isRead = DispatchGroup()
        DispatchQueue.global().async(group: isRead) {
            let text = String(decoding: errors.readAll(), as: UTF8.self)
            told.withLock { $0 = text }
        }
        let text = String(decoding: output.readAll(), as: UTF8.self)
        isRead.wait()
        process.waitUntilExit()
        return Command(status: process.terminationStatus, output: text, errors: told.withLock { $0 })
    }
}

extension Thread {
    /// Does what blocks its thread without holding one of Swift's pool, of which there are as many as cores: other
    /// tests need those.
    public static func waiting<T: Sendable, E: Error>(_ body: @escaping @Sendable () throws(E) -> T) async throws(E)
        -> T
    {
        let result: Result<T, E> = await withCheckedContinuation { continuation in
            detachNewThread { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}

extension Process {
    private static let starting = Mutex(())

    /// `run`, one at a time: Foundation's has crashed in programs that start many at once.
    public func start() throws { try Process.starting.withLock { _ in try run() } }

    /// Returns once it has ended, without holding a thread of Swift's pool.
    public func end() async { await Thread.waiting { self.waitUntilExit() } }
}
