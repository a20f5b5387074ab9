import ArgumentParser
import Foundation
import SealKit

/// How a verification code comes back from the mailbox.
struct CodeOptions: ParsableArguments {
    @Option(help: ArgumentHelp(
        "A command that prints the code, for scripts. Without one, the code is asked for, or read from standard input.",
        valueName: "command"))
    var codeCommand: String?

    @Option(help: ArgumentHelp("Of the message with the code: de, pt-BR. Default: this machine's.", valueName: "tag"))
    var language: String?

    /// Has a code sent to an address, and gives it back.
    func link(_ address: String, discoverable: Bool, _ client: Client, _ output: Output) async throws {
        let verification = try await client.container.beginVerification(of: address, language: language)
        output.note("A code was sent to \(address.escaped); it is good until \(Timestamp.text(verification.expires)).")
        _ = try await verification.complete(code: try code(), discoverable: discoverable)
    }

    /// The code that was sent.
    func code() throws -> String {
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
