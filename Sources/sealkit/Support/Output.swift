import Foundation

/// What a command says: text for people, the bare result with `--quiet`, one JSON object a line with `--json`.
struct Output: Sendable {
    let isJSON: Bool
    let isQuiet: Bool

    /// A result.
    /// - Parameter bare: what `--quiet` prints instead of `text`; nothing when nil.
    func result(_ text: @autoclosure () -> String, bare: String? = nil, json: @autoclosure () -> [String: JSONValue]) {
        if isJSON {
            Output.standardOutput(JSONValue.object(json()).line)
        } else if isQuiet {
            if let bare { Output.standardOutput(bare) }
        } else {
            Output.standardOutput(text())
        }
    }

    /// A remark beside the result, on standard error.
    func note(_ text: String) {
        guard !isJSON, !isQuiet else { return }
        Output.standardError(text)
    }

    /// Of what exports that were killed had left.
    func noteRemoved(_ parts: Int, besides folder: String) {
        guard parts > 0 else { return }
        note("removed \(parts) folder\(parts == 1 ? "" : "s") that earlier exports to \(folder) had left when they were killed")
    }

    static func standardOutput(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }
    static func standardError(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

    /// Unbuffered, so that lines are there when a script waits for them.
    static func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8), to: descriptor) }

    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
