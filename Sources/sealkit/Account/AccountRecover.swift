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
            machine can see those. The recovery passphrase is given likewise, or as recovery-passphrase takes it.

              sealkit account recover --server https://notes.example.org
              sealkit account recover --server https://notes.example.org --recovery-name ann@example.org
            """)

    @Option(help: "The server's address: https://host[:port].")
    var server: String

    @Flag(help: "Ask for a passphrase to seal the key file with.")
    var passphrase = false

    @Option(help: ArgumentHelp("Recover by the passphrase that was set under this name, not by the key.", valueName: "name"))
    var recoveryName: String?

    @OptionGroup var options: RecoveryPassphraseOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if recoveryName == nil, options.isGiven { throw ValidationError("A recovery passphrase counts with its name: give --recovery-name.") }
    }

    func run() async throws {
        let target = NewKeyFile(global)
        try target.check()
        let transport = try global.transport(server: server)
        let typed =
            if recoveryName == nil {
                try Prompt.pipedSecret("Recovery key: ")
            } else {
                try options.source.given() ?? Prompt.pipedSecret("Recovery passphrase: ")
            }
        // What is mistyped is told before anything else is asked.
        let way = try recoveryName.map { name throws(SealKitError) in
            try Account.RecoveryPassphrase(name: name, passphrase: typed)
        }
        let key = way == nil ? try Self.key(typed: typed) : nil
        let passphrase = try global.newPassphrase(ask: passphrase)
        try await target.make { trust in
            let account =
                if let way {
                    try await Account.recover(way, transport: transport, trust: trust)
                } else {
                    try await Account.recover(try key ?? Self.key(typed: typed), transport: transport, trust: trust)
                }
            try await target.keep(account, trust: trust, passphrase: passphrase, saying: "recovered", output)
        }
    }

    static func key(typed: String) throws(SealKitError) -> RecoveryKey {
        let typed = plain(typed)
        do { return try RecoveryKey(text: typed) } catch {
            throw SealKitError(.invalidArguments, "the recovery key is not complete or mistyped", remedy: hint(typed))
        }
    }

    /// With the hyphen for what word processors and messengers put in its place, or in a space's: none of them is a key's character.
    private static func plain(_ typed: String) -> String {
        String(String.UnicodeScalarView(typed.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .dashPunctuation, .spaceSeparator: "-"
            default: scalar == "\u{2212}" ? "-" : scalar
            }
        }))
    }

    private static func hint(_ typed: String) -> String {
        guard let groups = RecoveryKey.mistypedGroups(in: typed), !groups.isEmpty else {
            return "it has 13 groups of five letters and digits"
        }
        return "look at group \(groups.map(String.init).joined(separator: ", "))"
    }
}
