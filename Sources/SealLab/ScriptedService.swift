import Foundation

/// A service beside this program, with data of its own, as a script of `Tests/Support` runs it: the script runs a
/// command beside the service, and ends it with that.
final class ScriptedService: @unchecked Sendable {
    // Unchecked: started in the initialiser, and stopped once.
    private let name: String
    private let script: URL
    private let process = Process()
    private let input = Pipe()
    /// The values of the variables, in their order.
    let values: [String]

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns once it is ready.
    /// - Parameters:
    ///   - name: the script's.
    ///   - variables: by which it tells the command where the service is.
    ///   - environment: what differs from this program's; nil takes a variable away.
    /// - Throws: `Failure`.
    init(_ name: String, telling variables: [String], environment: [String: String?]) async throws {
        self.name = name
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
        guard !values.contains("") else {
            throw Failure(description: "Tests/Support/\(name) did not start: see what it wrote on standard error")
        }
    }

    /// Has the script do something with the service.
    /// - Throws: `Failure`.
    func tell(_ arguments: [String]) async throws {
        let told = try await Command.finished(script, arguments)
        guard told.status == 0 else {
            throw Failure(description: "Tests/Support/\(name) \(arguments.joined(separator: " ")): \(told.errors)")
        }
    }

    /// Ends it and removes its data.
    func stop() async {
        try? input.fileHandleForWriting.close()
        await process.end()
    }

    deinit { try? input.fileHandleForWriting.close() }
}
