import Foundation
import SealSystem

/// A pipe that a signal's handler writes to: what a signal asks for is done outside of its handler, where anything may
/// be done.
struct SignalPipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    /// - Returns: nil where this process may open no more files.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A handler never waits.
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
    }

    func close() {
        Foundation.close(readEnd)
        Foundation.close(writeEnd)
    }

    func ring() { SignalPipe.ring(writeEnd) }

    /// Waits for the next ring.
    /// - Returns: false when there will be none.
    func wait() -> Bool {
        var byte: UInt8 = 0
        while true {
            switch read(readEnd, &byte, 1) {
            case 1: return true
            case ..<0 where errno == EINTR: continue
            default: return false
            }
        }
    }

    // MARK: Handlers, which reach nothing but these

    nonisolated(unsafe) private static var ending: Int32 = -1
    nonisolated(unsafe) private static var stopping: Int32 = -1

    /// From now on, signals that end a process ring here.
    func ringAtTheEnd(by signals: [Int32]) {
        SignalPipe.ending = writeEnd
        for number in signals { SignalPipe.handle(number) { _ in SignalPipe.ring(SignalPipe.ending) } }
    }

    /// From now on, the terminal's wish to stop the process rings here.
    func ringAtStop() {
        SignalPipe.stopping = writeEnd
        SignalPipe.handle(SIGTSTP) { _ in SignalPipe.ring(SignalPipe.stopping) }
    }

    /// A signal that whoever started the process wants ignored, as `nohup` does, stays so.
    private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        if !isIgnored(signal: number) { _ = signal(number, handler) }
    }

    private static func ring(_ descriptor: Int32) {
        let reason = errno
        var byte: UInt8 = 0
        _ = write(descriptor, &byte, 1)
        errno = reason
    }
}
