import ArgumentParser
import Foundation
import SealKit

/// How a verification code comes back from the mailbox.
struct CodeOptions: ParsableArguments {
    @Option(help: ArgumentHelp(
        "A command that prints the code, for scripts. Without one, the code is asked for, or read from standard input.",
        valueName: "command"))
    var codeCommand: String?

    /// Has a code sent to an address, and gives it back.
    func verify(_ address: String, for url: String?, _ client: Client, _ output: Output) async throws -> VerificationToken {
        let verification = try await client.container.beginVerification(of: address, for: url)
        output.note("A code was sent to \(address.escaped); it is good until \(Timestamp.text(verification.expires)).")
        return try await verification.complete(code: try code())
    }

    private func code() throws -> String {
        guard let codeCommand else {
            return try Prompt.line("Code: ", missing: "no code was given")
        }
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", codeCommand]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        do { try process.run() } catch {
            throw Failure.Local(status: .badInput, reason: "the code command cannot be run")
        }
        let printed = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        let code = String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard process.terminationStatus == 0, !code.isEmpty else {
            throw Failure.Local(status: .badInput, reason: "the code command failed or printed nothing")
        }
        return code
    }
}
