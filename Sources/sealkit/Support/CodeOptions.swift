import ArgumentParser
import Foundation
import SealKit

/// How a verification code comes back from the mailbox.
struct CodeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A command that prints the code, for scripts. Without one, the code is asked for, or read from standard input.",
            valueName: "command"))
    var codeCommand: String?

    @Option(help: ArgumentHelp("Of the message with the code: de, pt-BR. Default: this machine's.", valueName: "tag"))
    var language: String?

    /// Has a code sent to an address, and gives it back; another one whenever somebody at the terminal asks for it.
    func link(_ address: String, discoverable: Bool, _ client: Client, _ output: Output) async throws(SealKitError) {
        while true {
            let verification = try await client.container.beginVerification(of: address, language: language)
            // Beside the code itself: where it cannot be asked, nothing is known against it.
            let server = try? await client.account.serverInformation()
            var triesLeft = Verification.tries
            while let typed = try code(
                sentTo: address, by: server, expires: verification.expires, triesLeft: triesLeft,
                emptyLineFor: "a new code", output
            ) {
                do throws(SealKitError) {
                    _ = try await verification.complete(code: typed, discoverable: discoverable)
                    return
                } catch {
                    triesLeft -= 1
                    guard error.code == .verificationFailed, triesLeft > 0 else { throw error }
                }
            }
        }
    }

    /// The code that was sent: typed by somebody who may try again, else given once.
    /// - Parameters:
    ///   - server: what it says of itself; nil where that is not known.
    ///   - purpose: what an empty line at the terminal is for.
    /// - Returns: nil for that, and where the code has expired.
    /// - Throws: `verificationFailed` where nobody can be asked again.
    func code(
        sentTo address: String, by server: ServerInformation?, expires: Date, triesLeft: Int,
        emptyLineFor purpose: String, _ output: Output
    ) throws(SealKitError) -> String? {
        let isFirst = triesLeft == Verification.tries
        let isAsked = codeCommand == nil && Prompt.isAtTerminal
        if isFirst {
            output.note(Self.announcement(address, by: server, expires: expires))
        } else if expires <= Date() {
            guard isAsked else {
                throw SealKitError(.verificationFailed, "the code has expired", remedy: "start again for a new one")
            }
            guard
                ["", "y", "yes"].contains(
                    try Prompt.answer("The code has expired. Send a new one? [Y/n] ")?.lowercased())
            else {
                throw SealKitError(.operationCancelled, "the code has expired, and no new one was wanted")
            }
            return nil
        } else {
            guard isAsked else {
                throw SealKitError(.verificationFailed, "the code is wrong", remedy: "start again for a new one")
            }
            output.note("That was not it; \(triesLeft.counted("try", "tries")) left.")
        }
        guard isAsked else { return try givenCode() }
        while true {
            let answer = try Prompt.answer("Code (an empty line for \(purpose)): ") ?? ""
            guard !answer.isEmpty else { return nil }
            if Verification.mayBeCode(answer) { return answer }
            output.note("A code has digits alone; that was not tried.")
        }
    }

    /// What is known of the code's way: nothing of it is about the address.
    private static func announcement(_ address: String, by server: ServerInformation?, expires: Date) -> String {
        let isPhone = address.hasPrefix("+")
        let isFailing = isPhone ? server?.areTextsFailing : server?.isMailFailing
        let (to, until) = (address.escaped, Timestamp.shown(expires))
        guard isFailing != true else {
            let kind = isPhone ? "text messages" : "mail"
            return
                "The server cannot send \(kind) at present: the code to \(to) waits, and goes out should that work again "
                + "before \(until). Tell the server's operator, whose log says what is wrong."
        }
        return
            "A code is on its way to \(to), good until \(until). If none comes, look where unwanted mail goes, or ask "
            + "the server's operator."
    }

    private func givenCode() throws(SealKitError) -> String {
        guard let codeCommand else { return try Prompt.line("Code: ", missing: "no code was given") }
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", codeCommand]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        StandardStream.surviveReaders()
        do { try process.run() } catch {
            throw SealKitError(.invalidArguments, "no code was given: the code command cannot be run")
        }
        // Interrupted, it is not waited for.
        defer { if process.isRunning { process.terminate() } }
        let printed = try Interruption.readAll(
            pipe.fileHandleForReading.fileDescriptor, "the code command", atMost: GivenFile.mostBytes)
        process.waitUntilExit()
        let code = String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard process.terminationStatus == 0, !code.isEmpty else {
            // ^C is for all that run at the terminal, and it may have been the faster one.
            guard process.terminationReason != .uncaughtSignal || process.terminationStatus != SIGINT else {
                throw SealKitError(.operationCancelled, "cancelled")
            }
            throw SealKitError(.invalidArguments, "no code was given: the code command failed or printed nothing")
        }
        return code
    }
}
