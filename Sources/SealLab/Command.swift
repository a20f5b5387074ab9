import Dispatch
public import Foundation
import Synchronization

/// Runs another program to its end, for tests and tools.
public struct Command: Sendable {
    public let status: Int32
    public let output: String
    public let errors: String

    /// Blocks its thread: not for a program that asks a server in this process (`finished`).
    public static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Command {
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

    /// The same without holding a thread of Swift's pool, of which there are as many as cores.
    public static func finished(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> Command {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try run(executable, arguments, environment: environment) })
            }
        }
    }
}

extension Process {
    private static let starting = Mutex(())

    /// `run`, one at a time: Foundation's has crashed in programs that start many at once.
    public func start() throws { try Process.starting.withLock { _ in try run() } }
}
