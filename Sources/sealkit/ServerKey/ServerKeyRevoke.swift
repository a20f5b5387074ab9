import ArgumentParser
import SealKit

struct ServerKeyRevoke: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key: its requests are refused from now on. What it saved stays.",
        discussion: "  sealkit server-key revoke _0123456789abcdef0123456789abcdef")

    @Argument(help: "The key's user name, as `server-key list` prints it.")
    var user: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        try await client.container.revokeServerKey(Record.ID(recordName: user))
        try output.result("revoked \(user.escaped)", json: ["revoked": .string(user)])
    }
}
