import ArgumentParser
import SealEnvelope
import SealKit

struct AccountRecoveryKey: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-key",
        abstract: "Make a new recovery key, which takes the place of the one before; or check one.",
        discussion: """
            The new key is shown before the server hears of it, and counts once the command has ended without an error. Whoever \
            is not sure which of two keys counts finds out with --check.

            With --check, the key is asked for at the terminal, or read from standard input, and nothing is changed: it fails \
            unless that key would bring this account back.

              sealkit account recovery-key
              sealkit account recovery-key --check
            """)

    @Flag(help: "Check a recovery key instead.")
    var check = false

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        guard check else {
            return try await NewRecoveryKey.make(output) { show throws(SealKitError) in
                try await client.account.renewRecoveryKey(show: show)
            }
        }
        let key = try TypedRecoveryKey.read()
        guard try await client.account.isGood(key) else {
            throw SealKitError(
                .unknownItem,
                "this recovery key does not bring the account back: it was replaced, or is another account's",
                remedy: "make a new one: sealkit account recovery-key")
        }
        try output.result("this recovery key brings the account back", bare: "good", json: ["isGood": .bool(true)])
    }
}
