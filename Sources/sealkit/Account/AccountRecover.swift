import ArgumentParser
import Foundation
import SealEnvelope
import SealKit

struct AccountRecover: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Get an account back with its recovery key or passphrase, and write a new key file.",
        discussion: """
            The key is asked for at the terminal, or read from standard input. It is never an argument, since other users of the \
            machine can see those. A group that is mistyped is asked for again at the terminal. The recovery passphrase is given likewise, or as recovery-passphrase takes it.

              sealkit account recover --server https://notes.example.org
              sealkit account recover --server https://notes.example.org --recovery-name ann@example.org
            """)

    @Option(help: "The server's address: https://host[:port].")
    var server: String

    @Flag(help: "Ask for a passphrase to seal the key file with.")
    var passphrase = false

    @Option(
        help: ArgumentHelp("Recover by the passphrase that was set under this name, not by the key.", valueName: "name")
    )
    var recoveryName: String?

    @OptionGroup var options: RecoveryPassphraseOptions
    @OptionGroup var device: DeviceNameOption
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if recoveryName == nil, options.isGiven {
            throw ValidationError("A recovery passphrase counts with its name: give --recovery-name.")
        }
    }

    func run() async throws {
        let target = NewKeyFile(global)
        try target.check()
        let transport = try global.transport(server: server)
        // What is mistyped is told before anything else is asked.
        let way = try self.way()
        let passphrase = try global.newPassphrase(ask: passphrase)
        try await target.make { trust in
            let account =
                switch way {
                case .key(let key):
                    try await Account.recover(
                        key, transport: transport, deviceName: device.name, trust: trust)
                case .passphrase(let passphrase):
                    try await Account.recover(
                        passphrase, transport: transport, deviceName: device.name, trust: trust)
                }
            try await target.keep(
                account, trust: trust, passphrase: passphrase, saying: "recovered", device: device, output)
        }
    }

    private enum Way {
        case key(RecoveryKey)
        case passphrase(Account.RecoveryPassphrase)
    }

    private func way() throws(SealKitError) -> Way {
        guard let recoveryName else { return .key(try TypedRecoveryKey.read()) }
        let given = try options.source.given()
        let typed = if let given { given } else { try Prompt.pipedSecret("Recovery passphrase: ") }
        return .passphrase(try Account.RecoveryPassphrase(name: recoveryName, passphrase: typed))
    }
}
