import ArgumentParser
import SealKit

struct AccountRotateKeys: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-keys",
        abstract: "Give the account new keys, after a device or key file may have come into wrong hands.",
        discussion: """
            Your user name and your data stay. All other devices are logged out and have to be set up again, the recovery key is \
            replaced by the one that is printed, and every zone and share gets a new key. There is no recovery passphrase from \
            then on, unless --recovery-name sets one, and no passkey of a browser. Server-to-server keys and webhooks end too, \
            since whoever had the old keys may have made them. Stop it whenever you like: call it again where the server was not told yet; \
            otherwise the next command goes on, and calling this again makes newer keys.

              sealkit account rotate-keys
              sealkit account rotate-keys --recovery-name ann@example.org
            """)

    @Option(
        help: ArgumentHelp(
            "Set the recovery passphrase for the new keys, under this name. Without it there is none from then on.",
            valueName: "name"))
    var recoveryName: String?

    @OptionGroup var options: RecoveryPassphraseOptions
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let passphrase = try recoveryName.map { name throws(SealKitError) in try options.passphrase(name: name) }
        let before = try? await client.account.recoveryStatus()
        let bar = ProgressBar("zones and shares", unit: .records, output)
        try await NewRecoveryKey.make(output) { show throws(SealKitError) in
            defer { bar.finish() }
            try await client.account.rotateKeys(
                trust: client.trust, passphrase: passphrase, show: show,
                progress: { bar.update(Int64($0.done), of: Int64($0.total)) })
        }
        NewRecoveryKey.noteEnded(before, hasPassphrase: passphrase != nil, output)
        output.note("all other devices of the account have to be set up again")
    }
}
