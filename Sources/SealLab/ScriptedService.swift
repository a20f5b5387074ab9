import Foundation

/// A service beside this program, with data of its own, as a script of `Tests/Support` runs it: the script runs a
/// command beside the service, and ends it with that.
final class ScriptedService: @unchecked Sendable {
    // Unchecked: started in the initialiser, and stopped once.
    private let script: URL
    private let process = Process()
    private let input = Pipe()
    /// The values of the variables, in their order; empty ones where it did not start.
    let values: [String]

    /// Returns once it is ready.
    /// - Parameters:
    ///   - name: the script's.
    ///   - variables: by which it tells the command where the service is.
    ///   - environment: what differs from this program's; nil takes a variable away.
    init(_ name: String, telling variables: [String], environment: [String: String?]) async throws {
        script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Tests/Support/\(name)")
        process.executableURL = script
        // It ends with its standard input, and that with this program, whatever becomes of it.
        let words = variables.map { "\"$\($0)\"" }.joined(separator: " ")
        process.arguments = ["bash", "-c", #"printf '%s\n' \#(words) && exec cat >/dev/null"#]
        process.environment = environment.reduce(into: ProcessInfo.processInfo.environment) { $0[$1.key] = $1.value }
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        var values: [String] = []
        for _ in variables { values.append(await output.line()) }
        self.values = values
    }

    /// Has the script do something with the service.
    /// - Returns: whether it did.
    func tell(_ arguments: [String]) async throws -> Bool { try await Command.finished(script, arguments).status == 0 }

    /// Ends it and removes its data.
    func stop() async {
        try? input.fileHandleForWriting.close()
        await process.end()
    }

    deinit { try? input.fileHandleForWriting.close() }
}
