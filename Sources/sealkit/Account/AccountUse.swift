import ArgumentParser
import SealKit

struct AccountUse: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "Take another account of this machine into use.",
        discussion: """
            Commands without --account and --key-file work as this account from now on.

              sealkit account create --account work --server https://notes.example.org
              sealkit account use work
            """)

    @Argument(help: "The account's name, as sealkit account list has it.")
    var name: String

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try AccountFolder.check(name)
        let folder = GlobalOptions.accounts
        guard folder.has(name) else { throw AccountRemove.unknown(name) }
        try folder.use(name)
        try output.result("using \(name)", bare: name, json: ["using": .string(name)])
    }
}
