import Foundation
import SealKit
import Synchronization

/// The signals that end a command. The first one cancels it, so that it puts away what it has begun and ends with 130;
/// the next one ends the process as it is.
enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let told = Mutex<SignalPipe?>(nil)

    /// Runs a command, and cancels it at a signal.
    static func cancelling(_ body: sending @escaping () async throws -> Void) async throws {
        guard let rung = SignalPipe(), let told = SignalPipe() else { return try await body() }
        self.told.withLock { $0 = told }
        // Before there is anything to clean up.
        rung.ringAtTheEnd(by: signals)
        let work = Task { try await body() }
        watch(rung, told) { work.cancel() }
        try await work.value
    }

    private static func watch(_ rung: SignalPipe, _ told: SignalPipe, _ cancel: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            guard rung.wait() else { return }
            // Never read: it tells everything that waits for somebody's answer, now and from now on.
            told.ring()
            cancel()
            guard rung.wait() else { return }
            _exit(ExitStatus.cancelled.rawValue)
        }
    }

    /// What is left to do when a command ends, cancelled or not. A cancelled one waits two seconds for it at most.
    static func settle(_ body: @escaping @Sendable () async -> Void) async {
        let work = Task { await body() }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            Task {
                try? await Task.sleep(for: .seconds(2))
                work.cancel()
            }
        }
    }

    // MARK: Reading what may never come

    /// Waits until there is something to read.
    /// - Parameter stop: returns for this descriptor as well.
    /// - Returns: whether it is there, and not `stop` alone.
    /// - Throws: `operationCancelled` when the command is interrupted.
    static func wait(for descriptor: Int32, orFor stop: Int32 = -1) throws(SealKitError) -> Bool {
        let told = told.withLock { $0?.readEnd ?? -1 }
        var waiting = [descriptor, told, stop].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&waiting, nfds_t(waiting.count), -1) < 0 {
            guard errno == EINTR else { return true }
        }
        guard waiting[1].revents == 0 else { throw SealKitError(.operationCancelled, "cancelled") }
        return waiting[2].revents == 0
    }

    /// - Returns: nothing at the end.
    /// - Throws: `operationCancelled`; `invalidArguments` where it cannot be read.
    static func read(_ descriptor: Int32, atMost count: Int) throws(SealKitError) -> [UInt8] {
        while true {
            _ = try wait(for: descriptor)
            var bytes = [UInt8](repeating: 0, count: count)
            let got = Foundation.read(descriptor, &bytes, count)
            if got < 0, errno == EINTR || errno == EAGAIN { continue }
            guard got >= 0 else {
                throw SealKitError(
                    .invalidArguments, "descriptor \(descriptor) cannot be read (\(String(cString: strerror(errno))))",
                    remedy: "give one that is open for reading")
            }
            return Array(bytes[..<got])
        }
    }

    /// Everything up to the end.
    /// - Parameters:
    ///   - name: what the error calls it.
    ///   - most: bytes. A device or a wrong file does not fill the memory.
    /// - Throws: `limitExceeded` where there is more.
    static func readAll(_ descriptor: Int32, _ name: String, atMost most: Int) throws(SealKitError) -> Data {
        var data = Data()
        while true {
            let part = try read(descriptor, atMost: 1 << 16)
            guard !part.isEmpty else { return data }
            data.append(contentsOf: part)
            guard data.count <= most else {
                throw SealKitError(
                    .limitExceeded, "\(name) gives more than \(most >> 20) MiB, and is read no further",
                    remedy: "check that it is what you meant")
            }
        }
    }

    /// A line without its end, and nothing of what comes after it.
    /// - Returns: nil at the end.
    static func readLine(_ descriptor: Int32) throws(SealKitError) -> String? {
        var bytes: [UInt8] = []
        while true {
            guard let byte = try read(descriptor, atMost: 1).first else {
                if bytes.isEmpty { return nil }
                break
            }
            if byte == 0x0A { break }
            bytes.append(byte)
        }
        if bytes.last == 0x0D { bytes.removeLast() }
        return try text(bytes)
    }

    /// - Throws: `invalidArguments` for what is no text: mended, it would be another secret or name than was typed.
    static func text(_ bytes: [UInt8]) throws(SealKitError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SealKitError(
                .invalidArguments, "what was typed, or read, is not UTF-8 text", remedy: "set the terminal to UTF-8")
        }
        return text
    }
}
