import Foundation
import SealKit

/// The terminal that this process belongs to, while somebody types a secret that nobody is to see. However the question
/// ends, the terminal is as it was before: at a signal too, and while the process is stopped (^Z).
struct SilentTerminal: ~Copyable {
    private let descriptor: Int32
    private var terminal: StandardStream { StandardStream(descriptor: descriptor) }

    /// - Returns: nil for a process without one.
    init?() {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// - Throws: `operationCancelled` when the command is interrupted.
    func ask(_ question: String) throws(SealKitError) -> String {
        guard let stop = SignalPipe() else {
            throw SealKitError(
                .internalError, "no more files can be opened", remedy: "raise the limit of open files (ulimit -n)")
        }
        defer {
            _ = signal(SIGTSTP, SIG_DFL)
            stop.close()
        }
        while true {
            stop.ringAtStop()
            if let answer = try once(question, stop) { return answer }
            _ = stop.wait()
            _ = signal(SIGTSTP, SIG_DFL)
            SilentTerminal.stop()
        }
    }

    /// Stops the process, and returns when it goes on: the signal is for this thread, where others of its kind are
    /// blocked.
    private static func stop() {
        var (wanted, before) = (sigset_t(), sigset_t())
        sigemptyset(&wanted)
        sigaddset(&wanted, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &wanted, &before)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// - Returns: nil when the process is to be stopped: the question is asked again afterwards.
    private func once(_ question: String, _ stop: SignalPipe) throws(SealKitError) -> String? {
        var before = termios()
        let hasSettings = tcgetattr(descriptor, &before) == 0
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        if hasSettings { tcsetattr(descriptor, TCSAFLUSH, &silent) }
        defer {
            if hasSettings { tcsetattr(descriptor, TCSAFLUSH, &before) }
            terminal.show("\n")
        }
        terminal.show(question)
        var bytes: [UInt8] = []
        while true {
            guard try Interruption.wait(for: descriptor, orFor: stop.readEnd) else { return nil }
            var byte: UInt8 = 0
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != 0x0A else { return try Interruption.text(bytes) }
            bytes.append(byte)
        }
    }
}
