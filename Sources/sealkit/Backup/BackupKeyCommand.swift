import ArgumentParser
import SealServer

struct BackupKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make a pair of keys that backups are sealed to.",
        discussion: """
            The secret half goes into a new file that its owner alone can read: keep it away from the server, and twice. Only a \
            restore needs it; without it nobody opens what was sealed. Printed is the public half, for --recipient.

              sealkit backup key --out ~/sealkit-backup.key
            """)

    @Option(
        help: ArgumentHelp("The file for the secret half, which must not be there yet.", valueName: "file"),
        completion: .file())
    var out: String

    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let key = try await OperatorFailure.telling {
            let key = try BackupKey.generate()
            try key.write(to: out)
            return key
        }
        try shown.output.result(
            "public key: \(key.recipient.text)\nsecret key: \(out.escaped)", bare: key.recipient.text,
            json: ["recipient": .string(key.recipient.text), "keyFile": .string(out)])
    }
}
