import Foundation

extension Prompt {
    static var isAtTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// A line from the terminal, which may be empty; nil at its end.
    static func answer(_ question: String) -> String? {
        Output.write(question, to: STDERR_FILENO)
        return readLine()?.trimmingCharacters(in: .whitespaces)
    }
}
