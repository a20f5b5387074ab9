import Foundation
import SealKit

/// Questions to whoever sits at the terminal; where there is none, answers come line by line from standard input. Each
/// throws `operationCancelled` when the command is interrupted.
enum Prompt {
    static var isAtTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads a secret without echo, from the terminal even when standard input is something else.
    /// - Parameter remedy: how it is given where there is no terminal.
    static func secret(_ question: String, remedy: String) throws(SealKitError) -> String {
        guard let terminal = SilentTerminal() else {
            let what = question.trimmingCharacters(in: CharacterSet(charactersIn: ": "))
            throw SealKitError(
                .notAuthenticated, "there is no terminal to ask at for what is needed: \(what)", remedy: remedy)
        }
        return try terminal.ask(question)
    }

    /// Reads a secret from standard input when that is a pipe or file, else at the terminal.
    static func pipedSecret(_ question: String) throws(SealKitError) -> String {
        guard !isAtTerminal else { return try secret(question, remedy: onStandardInput) }
        return try line(missing: "standard input holds nothing to read", remedy: onStandardInput)
    }

    private static let onStandardInput =
        "give it as a line on standard input, or call this at a terminal, where it is asked for"

    /// Reads a line; the question shows at a terminal only.
    static func line(_ question: String, missing: String, remedy: String = "") throws(SealKitError) -> String {
        if isAtTerminal { StandardStream.error.show(question) }
        return try line(missing: missing, remedy: remedy)
    }

    /// A line from the terminal, which may be empty; nil at its end.
    static func answer(_ question: String) throws(SealKitError) -> String? {
        StandardStream.error.show(question)
        return try Interruption.readLine(STDIN_FILENO)?.trimmingCharacters(in: .whitespaces)
    }

    /// Has something typed that nobody types by mistake.
    /// - Parameter option: what a script gives in its place.
    static func confirm(_ question: String, typed expected: String, orOption option: String) throws(SealKitError) {
        let answer =
            isAtTerminal
            ? try self.answer(question) ?? ""
            : try line(missing: "nothing was confirmed", remedy: "give \(option) where nobody can be asked")
        guard answer == expected else {
            throw SealKitError(
                .operationCancelled, "that is not what was asked for; nothing was changed",
                remedy: "try again, or give \(option)")
        }
    }

    private static func line(missing: String, remedy: String) throws(SealKitError) -> String {
        guard let line = try Interruption.readLine(STDIN_FILENO)?.trimmingCharacters(in: .whitespaces), !line.isEmpty
        else {
            throw SealKitError(.invalidArguments, missing, remedy: remedy)
        }
        return line
    }
}
