import Foundation
import SealKit

/// What a command says: text for people, the bare result with `--quiet`, one JSON object a line with `--json`.
///
/// Everything that this command prints goes through here: a result that cannot be written is an error, as any other
/// that keeps a command from its end.
struct Output: Sendable {
    let isJSON: Bool
    let isQuiet: Bool

    /// A result.
    /// - Parameter bare: what `--quiet` prints instead of `text`; nothing when nil.
    /// - Throws: `outputNotWritten`.
    func result(
        _ text: @autoclosure () -> String, bare: String? = nil, json: @autoclosure () -> [String: JSONValue]
    ) throws(SealKitError) {
        if isJSON {
            try Output.standardOutput(JSONValue.object(json()).line)
        } else if isQuiet {
            if let bare { try Output.standardOutput(bare) }
        } else {
            try Output.standardOutput(text())
        }
    }

    /// A result that is shown this once, before what it was made for: on the disk when this returns, where it goes to a
    /// file.
    /// - Throws: `outputNotWritten`.
    func only(_ text: String, bare: String, json: [String: JSONValue]) throws(SealKitError) {
        try result(text, bare: bare, json: json)
        try StandardStream.output.flush()
    }

    /// A remark beside the result, on standard error.
    func note(_ text: String) {
        guard !isJSON, !isQuiet else { return }
        Output.standardError(text)
    }

    /// Of what exports that were killed had left.
    func noteRemoved(_ parts: Int, besides folder: String) {
        guard parts > 0 else { return }
        note("removed \(parts.counted("folder")) that earlier exports to \(folder) had left when they were killed")
    }

    /// - Throws: `outputNotWritten`.
    static func standardOutput(_ line: String) throws(SealKitError) { try StandardStream.output.write(line + "\n") }

    /// Nobody can be told that this could not be written: the exit code says what there was to say.
    static func standardError(_ line: String) { StandardStream.error.show(line + "\n") }
}
