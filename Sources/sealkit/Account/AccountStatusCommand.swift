import ArgumentParser
import SealKit

struct AccountStatusCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether the server knows this account and lets it in.",
        discussion: """
            Exits with 0 when it does, with 77 when it does not, with 69 when the server cannot be asked.

              sealkit account status
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let status = try await client.account.status()
        let server = client.account.server
        output.result("\(status) at \(server)", bare: "\(status)", json: ["status": .string("\(status)"), "server": .string(server)])
        switch status {
        case .available: break
        case .couldNotDetermine: throw ExitCode(ExitStatus.network.rawValue)
        case .noAccount, .restricted, .temporarilyUnavailable: throw ExitCode(ExitStatus.permission.rawValue)
        }
    }
}
