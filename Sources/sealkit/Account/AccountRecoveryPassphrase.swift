import ArgumentParser
import SealKit

struct AccountRecoveryPassphrase: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-passphrase",
        abstract: "Set, change or remove a passphrase that brings the account back, as the recovery key does.",
        discussion: """
            It counts together with a name that you will remember, such as your e-mail address. Neither is sent to the server, \
            which can try passphrases only at the cost of an Argon2id each. Whoever guesses both has the account.

              sealkit account recovery-passphrase --name ann@example.org
              sealkit account recovery-passphrase --remove
            """)

    @Option(help: "What you will be asked for with the passphrase.")
    var name: String?

    @OptionGroup var options: RecoveryPassphraseOptions

    @Flag(help: "Remove it: no passphrase brings the account back from then on.")
    var remove = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (name != nil) != remove else { throw ValidationError("Give either --name or --remove.") }
    }

    func run(_ client: Client) async throws {
        guard let name else {
            try await client.account.removeRecoveryPassphrase()
            try output.result(
                "no passphrase brings the account back", bare: "removed", json: ["hasPassphrase": .bool(false)])
            return
        }
        try await client.account.setRecoveryPassphrase(try options.passphrase(name: name))
        try output.result(
            "the passphrase brings the account back, with the name \(name.escaped)", bare: name,
            json: ["hasPassphrase": .bool(true)])
    }
}

/// Where a recovery passphrase comes from.
struct RecoveryPassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "File with the recovery passphrase. Without one: $SEALKIT_RECOVERY_PASSPHRASE, else the terminal.",
            valueName: "file"), completion: .file())
    var recoveryPassphraseFile: String?

    @Option(help: ArgumentHelp("Open file descriptor to read the recovery passphrase from.", valueName: "number"))
    var recoveryPassphraseFd: Int32?

    /// By an option of this command line.
    var isGiven: Bool { recoveryPassphraseFile != nil || recoveryPassphraseFd != nil }

    var source: PassphraseSource {
        PassphraseSource(
            file: recoveryPassphraseFile, descriptor: recoveryPassphraseFd, variable: "SEALKIT_RECOVERY_PASSPHRASE")
    }

    func passphrase(name: String) throws(SealKitError) -> Account.RecoveryPassphrase {
        try Account.RecoveryPassphrase(name: name, passphrase: try source.new("New recovery passphrase: "))
    }
}
