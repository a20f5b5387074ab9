import Foundation
import SealLab

extension Command {
    /// Runs `sealkit` at a terminal of its own (Support/terminal.py).
    /// - Parameters:
    ///   - answers: what it asks, and what is answered: a line, or what the script says of other answers.
    ///   - program: in the place of `sealkit`.
    static func atTerminal(
        _ arguments: [String], answers: [[Any]], program: URL = ServerProcess.executable,
        environment: [String: String] = [:]
    ) async throws -> Command {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Support/terminal.py")
        let answers = String(decoding: try JSONSerialization.data(withJSONObject: answers), as: UTF8.self)
        return try await finished(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-B", script.path, answers, program.path] + arguments,
            environment: environment)
    }
}
