import Foundation
import SealKit

/// Questions to whoever sits at the terminal; where there is none, answers come line by line from standard input.
enum Prompt {
    /// Reads a secret without echo, from the terminal even when standard input is something else.
    static func secret(_ question: String) throws(SealKitError) -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw SealKitError(
                .notAuthenticated, "a secret is needed, and there is no terminal to ask at",
                remedy: "see the options for giving it by file or descriptor")
        }
        defer { close(terminal) }
        var before = termios()
        let hasSettings = tcgetattr(terminal, &before) == 0
        var silent = before
        // Signals are off as well, so that an interrupted question never leaves the terminal silent; ^C still cancels.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        if hasSettings { tcsetattr(terminal, TCSAFLUSH, &silent) }
        defer { if hasSettings { tcsetattr(terminal, TCSAFLUSH, &before) } }
        Output.write(question, to: terminal)
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(terminal, &byte, 1) == 1, byte != 0x0A {
            if byte == 3 { throw SealKitError(.operationCancelled, "cancelled") }
            bytes.append(byte)
        }
        Output.write("\n", to: terminal)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a secret from standard input when that is a pipe or file, else at the terminal.
    static func pipedSecret(_ question: String) throws(SealKitError) -> String {
        isatty(STDIN_FILENO) == 1 ? try secret(question) : try line(missing: "standard input holds nothing to read")
    }

    /// Reads a line; the question shows at a terminal only.
    static func line(_ question: String, missing: String) throws(SealKitError) -> String {
        if isatty(STDIN_FILENO) == 1 { Output.write(question, to: STDERR_FILENO) }
        return try line(missing: missing)
    }

    /// Has something typed that nobody types by mistake.
    /// - Parameter option: what a script gives in its place.
    static func confirm(_ question: String, typed expected: String, orOption option: String) throws(SealKitError) {
        let answer = try line(question, missing: "nothing was confirmed: give \(option) where nobody can be asked")
        guard answer == expected else {
            throw SealKitError(.operationCancelled, "that is not what was asked for; nothing was changed", remedy: "try again, or give \(option)")
        }
    }

    private static func line(missing: String) throws(SealKitError) -> String {
        guard let line = readLine()?.trimmingCharacters(in: .whitespaces), !line.isEmpty else {
            throw SealKitError(.invalidArguments, missing)
        }
        return line
    }
}
