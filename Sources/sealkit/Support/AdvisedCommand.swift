/// A command that is printed to be run: each word as a shell reads it, an option's value in the option's own word, and
/// last what is no option, whatever it begins with.
enum AdvisedCommand {
    /// An option; nil for one that is not given.
    typealias Given = (name: String, value: String?)

    /// - Parameters:
    ///   - words: of the command.
    ///   - options: those that are not given are left out.
    ///   - more: options as they are written, each after a blank.
    ///   - argument: what the command is about.
    static func line(
        _ words: String, _ options: [Given], _ more: String = "", argument: String? = nil
    ) -> String {
        let given = options.map { name, value in value.map { " --\(name)=\($0.inShell)" } ?? "" }.joined()
        return "sealkit \(words)\(given)\(more)" + (argument.map { " \($0.argumentInShell)" } ?? "")
    }
}
