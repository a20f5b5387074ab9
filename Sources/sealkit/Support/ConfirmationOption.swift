import ArgumentParser
import SealKit

/// For what nothing brings back: it is asked for once more, unless a script has said that it means it.
struct ConfirmationOption: ParsableArguments {
    @Flag(help: "Do not ask. Where nobody can be asked, nothing is done without it.")
    var yes = false

    /// Has a word typed that nobody types by mistake: at the terminal, or as a line on standard input.
    /// - Parameter consequence: what is about to happen, and to what.
    /// - Throws: `invalidArguments` where nobody answers; `operationCancelled` for another answer, and at a signal.
    func confirm(_ consequence: String, typing word: String) throws(SealKitError) {
        guard !yes else { return }
        try Prompt.confirm("\(consequence). Type \(word.escaped) to go on: ", typed: word, orOption: "--yes")
    }
}
