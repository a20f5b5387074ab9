import ArgumentParser
import Foundation
import SealKit
import SealServer

/// An error on its way out: one line on standard error (or one JSON object), and the exit code that says its kind.
struct Failure {
    private let error: any Error
    private let global: GlobalOptions?

    /// - Parameter global: of the command that has failed; nil for one that has none.
    init(_ error: any Error, of global: GlobalOptions? = nil) { (self.error, self.global) = (error, global) }

    /// Something that this command line itself refuses.
    struct Local: Error {
        let status: ExitStatus
        let reason: String
        var remedy = ""
    }

    func exit(asJSON: Bool) -> Never {
        switch error {
        case let error as SealKitError:
            Output.standardError(Self.text(of: error, after: global, asJSON: asJSON))
            Foundation.exit(ExitStatus(error.code).rawValue)
        case let error as Local:
            Output.standardError(Self.text("\(error.status)", error.reason, error.remedy, asJSON))
            Foundation.exit(error.status.rawValue)
        case let error as ConfigurationError:
            Output.standardError(Self.text("configuration", error.description, "", asJSON))
            Foundation.exit(ExitStatus.badInput.rawValue)
        case is CancellationError: Failure(SealKitError(.operationCancelled, "cancelled")).exit(asJSON: asJSON)
        default:
            // Help, version and what the command line's grammar refuses; its texts quote arguments, never values of
            // ours.
            let code = SealKitCommand.exitCode(for: error)
            guard !code.isSuccess else { Failure.show(SealKitCommand.fullMessage(for: error), asJSON) }
            guard asJSON, !(error is ExitCode) else { SealKitCommand.exit(withError: error) }
            Output.standardError(Self.text("usage", SealKitCommand.message(for: error), "", asJSON))
            Foundation.exit(code.rawValue)
        }
    }

    /// What was asked for by help or version is a result as well.
    private static func show(_ text: String, _ asJSON: Bool) -> Never {
        do throws(SealKitError) { if !text.isEmpty { try Output.standardOutput(text) } } catch {
            Failure(error).exit(asJSON: asJSON)
        }
        Foundation.exit(ExitStatus.ok.rawValue)
    }

    static func text(of error: SealKitError, after global: GlobalOptions? = nil, asJSON: Bool) -> String {
        text(
            error.code.rawValue, error.reason, error.advice(after: global), retryAfter: error.retryAfter,
            server: error.serverRecord,
            asJSON)
    }

    private static func text(
        _ code: String, _ reason: String, _ remedy: String, retryAfter: Double? = nil, server: Record? = nil,
        _ asJSON: Bool
    ) -> String {
        let (reason, remedy) = (CommandWords.of(reason), CommandWords.of(remedy))
        guard !asJSON else {
            var fields: [String: JSONValue] = ["code": .string(code), "reason": .string(reason)]
            if !remedy.isEmpty { fields["remedy"] = .string(remedy) }
            if let retryAfter { fields["retryAfter"] = .double(retryAfter) }
            if let server { fields["serverRecord"] = RecordText.json(server) }
            return JSONValue.object(["error": .object(fields)]).line
        }
        var line = "error: \(reason.escaped.withNames)"
        if !remedy.isEmpty { line += " – \(remedy.escapedToCopy)" }
        line += " [\(code.escaped)]"
        if let retryAfter { line += String(format: " (try again in %.0f s)", retryAfter.rounded(.up)) }
        if let server { line += "\nthe server has:\n" + RecordText.text(server) }
        return line
    }
}
