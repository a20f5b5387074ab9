import ArgumentParser
import Foundation
import SealKit

struct AccountRemove: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an account's keys from this machine. The account itself stays on its server.",
        discussion: """
            Without another device, the recovery key or a recovery passphrase nothing brings the account back then. It asks for \
            the account's name once more, unless --yes is given. To delete the account and its data: sealkit account delete.

              sealkit account remove work
            """)

    @Argument(help: "The account's name, as sealkit account list has it.")
    var name: String

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try AccountFolder.check(name)
        let folder = GlobalOptions.accounts
        guard folder.has(name) else { throw AccountRemove.unknown(name) }
        try confirmation.confirm(
            "This removes the keys of the account \(name) from this machine. Only another device of the account, its recovery "
                + "key or its recovery passphrase brings it back",
            typing: name)
        let file = folder.keyFile(name)
        let lock = try KeyFileLock(beside: file)
        defer { withExtendedLifetime(lock) {} }
        try await FileKeyStore(file: file).delete()
        TrustFiles.remove(beside: file)
        try folder.left(file)
        try output.result("removed \(name) from this machine", bare: name, json: ["removed": .string(name)])
    }

    static func unknown(_ name: String) -> Failure.Local {
        Failure.Local(
            status: .notFound, reason: "there is no account \(name) on this machine",
            remedy: "see: sealkit account list")
    }
}
