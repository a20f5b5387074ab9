import Foundation
import SealKit

/// Where a passphrase is given without being asked for: a file, an open descriptor, or the environment, in this order.
struct PassphraseSource {
    var file: String?
    var descriptor: Int32?
    let variable: String

    /// How it is given without being asked for.
    var remedy: String {
        let option = variable.replacing("SEALKIT_", with: "--").lowercased().replacing("_", with: "-")
        return "give it with \(option)-file, \(option)-fd or $\(variable)"
    }

    /// - Returns: the first line; nil when it is given nowhere.
    func given() throws(SealKitError) -> String? {
        if let file {
            guard let data = try GivenFile.contents(of: file) else {
                throw SealKitError(.invalidArguments, "there is no passphrase file to read at \(file)")
            }
            return try Self.firstLine(data)
        }
        if let descriptor {
            return try Self.firstLine(
                try Interruption.readAll(descriptor, "descriptor \(descriptor)", atMost: GivenFile.mostBytes))
        }
        return GlobalOptions.variable(variable)
    }

    /// A new one, given or typed twice. Whoever mistypes it is asked again.
    func new(_ question: String = "New passphrase: ") throws(SealKitError) -> String {
        if let given = try given() { return given }
        for _ in 0..<Self.mostTries {
            let first = try Prompt.secret(question, remedy: remedy)
            guard !first.isEmpty else { throw SealKitError(.invalidArguments, "the passphrase is empty") }
            // Both were typed here, by the same person: nothing to time.
            if Array(try Prompt.secret("Once more: ", remedy: remedy).utf8) == Array(first.utf8) { return first }
            Output.standardError("The two differ.")
        }
        throw SealKitError(.invalidArguments, "the two passphrases differ", remedy: "try again")
    }

    private static let mostTries = 3

    private static func firstLine(_ data: Data) throws(SealKitError) -> String {
        let line = data.prefix { $0 != 0x0A && $0 != 0x0D }
        guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
            throw SealKitError(.invalidArguments, "the passphrase's first line is empty, or not UTF-8")
        }
        return text
    }
}
