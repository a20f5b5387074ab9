import SealKit

/// The words of the command line, before anything is made of them.
enum Arguments {
    /// - Throws: `Failure.Local` for a word that is no text: it would become another one, and name another record or
    ///   file.
    static func check() throws {
        for place in 0..<Int(CommandLine.argc) {
            guard let word = CommandLine.unsafeArgv[place], String(validatingCString: word) == nil else { continue }
            throw Failure.Local(
                status: .usage, reason: "argument \(place) is not UTF-8 text",
                remedy: "write it in UTF-8; rename a file whose name is in another encoding")
        }
    }
}
