import ArgumentParser
import SealKit

struct AccountCreate: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make an account on a server, write its key file, and print its recovery key once.",
        discussion: """
            Write the recovery key down: it is a way back when the key file is lost; the others are another device and, once \
            it was set, a recovery passphrase. With --passphrase the key file is sealed by what you type (Argon2id); without it, \
            the file itself is the key.

              sealkit account create --server https://notes.example.org --passphrase
            """)

    @Option(help: "The server's address: https://host[:port]. Plain http for this machine only.")
    var server: String

    @Flag(help: "Ask for a passphrase to seal the key file with.")
    var passphrase = false

    @Option(
        help: ArgumentHelp(
            "A code from the server's operator, where the server makes accounts by invitation only.", valueName: "code")
    )
    var registrationCode: String?

    @OptionGroup var device: DeviceNameOption
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let made = try await NewAccount.make(
            global, server: server, passphrase: passphrase, registrationCode: registrationCode, device: device,
            output)
        await made.end()
    }
}
