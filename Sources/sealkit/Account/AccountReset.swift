import ArgumentParser
import SealKit

struct AccountReset: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Give up everything encrypted that the account has on the server, and its keys.",
        discussion: """
            Zones end, with all their records, and their apps are told to make them again from what they have on their devices. \
            The account leaves every share. Keys and recovery key are new, as with rotate-keys; there is no recovery \
            passphrase and no passkey of a browser from then on, and server-to-server keys and webhooks end. Cut off, it is called again if the next command says so (77). It asks for the word reset, \
            unless --yes is given.

              sealkit account reset
            """)

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        try confirmation.confirm(
            "This deletes all encrypted data of the account \(global.accountLabel.escaped) on \(client.account.server)",
            typing: "reset")
        let before = try? await client.account.recoveryStatus()
        let bar = ProgressBar("zones and shares", unit: .records, output)
        try await NewRecoveryKey.make(output) { show throws(SealKitError) in
            defer { bar.finish() }
            try await client.account.resetEncryptedData(
                trust: client.trust, show: show, progress: { bar.update(Int64($0.done), of: Int64($0.total)) })
        }
        NewRecoveryKey.noteEnded(before, hasPassphrase: false, output)
    }
}
