import ArgumentParser
import Foundation
import SealKit

struct AuditCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Check rosters, keys and contacts, and show what did not verify.",
        discussion: """
              sealkit audit
              sealkit audit --json

            Every roster is fetched whole and replayed, and every zone's records are read and verified, without their values: what this \
            device knows and the server leaves out is asked for. Exits with \(ExitStatus.ok.rawValue) when all holds, with \
            \(ExitStatus.integrity.rawValue) when something does not, now or since violations were last forgotten, with \
            \(ExitStatus.attention.rawValue) when all holds and a device of the account waits to be acknowledged, and with another \
            code when nothing was found but not all could be checked.
            """)

    @Flag(help: "Forget the violations that this prints, once you have looked at them.")
    var forget = false

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let audit = try await client.container.audit()
        try output.result(AuditText.text(audit), bare: "\(audit.outcome)", json: AuditText.json(audit))
        if forget { try await client.container.forget(audit.violations) }
        switch audit.outcome {
        case .clean: return
        case .violated: throw ExitCode(ExitStatus.integrity.rawValue)
        case .unacknowledged: throw ExitCode(ExitStatus.attention.rawValue)
        case .incomplete:
            throw ExitCode(audit.failures.first.map { ExitStatus($0.error.code).rawValue } ?? ExitStatus.other.rawValue)
        }
    }
}
