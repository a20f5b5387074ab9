import ArgumentParser
import Foundation
import SealEnvelope
import SealKit

struct AccountCreate: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make an account on a server, write its key file, and print its recovery key once.",
        discussion: """
            Write the recovery key down: it is the only way back when the key file is lost. With a passphrase, the key file is \
            sealed by it (Argon2id); without one, the file itself is the key.

              sealkit account create --server https://notes.example.org --passphrase
            """)

    @Option(help: "The server's address: https://host[:port]. Plain http for this machine only.")
    var server: String

    @Flag(help: "Ask for a passphrase to seal the key file with.")
    var passphrase = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let target = NewKeyFile(global)
        try target.check()
        let passphrase = try global.newPassphrase(ask: passphrase)
        let trust = try TrustStore(file: global.trustFileURL)
        let (account, recoveryKey) = try await Account.create(transport: try global.transport(server: server), trust: trust)
        let container = try global.makeContainer(account, trust: trust)
        let name = try container.userRecordID().recordName
        let key = recoveryKey.text()
        output.result(
            """
            Your recovery key – write it down, it is shown this once:

                \(key)

            """, bare: key,
            json: ["recoveryKey": .string(key), "userRecordName": .string(name), "keyFile": .string(global.keyFileURL.path)])
        // After the key was shown: should the file fail, the account can still be recovered.
        try target.write(account, passphrase: passphrase)
        output.note(
            "key file: \(global.keyFileURL.path)\(passphrase == nil ? " (not sealed by a passphrase)" : " (sealed)")\nuser name: \(name)")
        // The first question introduces the account to the container, so that others can invite it from now on.
        _ = try await container.privateDatabase.allRecordZones()
        try? await account.logOut()
    }
}
