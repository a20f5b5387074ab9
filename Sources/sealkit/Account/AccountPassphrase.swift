import ArgumentParser
import Foundation
import SealKit

struct AccountPassphrase: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Change, set or remove the passphrase that seals the key file. Needs no network.",
        discussion: """
            The file is replaced whole: whatever happens, it opens by the old passphrase or by the new one. Copies of the file that \
            were made before still open by the old one.

              sealkit account passphrase
              sealkit account passphrase --passphrase-file old.txt --new-passphrase-fd 3 3<new.txt
            """)

    @Option(
        help: ArgumentHelp(
            "File with the new passphrase. Without one: $SEALKIT_NEW_PASSPHRASE, else the terminal.", valueName: "file"),
        completion: .file())
    var newPassphraseFile: String?

    @Option(help: ArgumentHelp("Open file descriptor to read the new passphrase from.", valueName: "number"))
    var newPassphraseFd: Int32?

    @Flag(help: "Leave the file unsealed: whoever reads it is the user.")
    var remove = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if remove, newPassphraseFile != nil || newPassphraseFd != nil {
            throw ValidationError("Give either a new passphrase or --remove.")
        }
    }

    func run() async throws {
        let store = global.keyStore
        guard try await store.load() != nil else { throw global.noKeyFile }
        let source = PassphraseSource(
            file: newPassphraseFile, descriptor: newPassphraseFd, variable: "SEALKIT_NEW_PASSPHRASE")
        try await store.changePassphrase(to: remove ? nil : try source.new())
        let path = global.keyFileURL.path
        try output.result(
            remove ? "\(path) is not sealed any more" : "\(path) opens by the new passphrase", bare: path,
            json: ["keyFile": .string(path), "isSealed": .bool(!remove)])
    }
}
