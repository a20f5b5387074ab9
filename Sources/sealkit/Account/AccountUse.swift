import ArgumentParser
import SealKit

struct AccountUse: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "Take another account of this machine into use.",
        discussion: """
            Commands without --account and --key-file work as this account from now on, where neither $SEALKIT_KEY_FILE nor \
            $SEALKIT_ACCOUNT is set: these go before it.

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
        if let variable = ["SEALKIT_KEY_FILE", "SEALKIT_ACCOUNT"].first(where: { GlobalOptions.variable($0) != nil }) {
            output.note("$\(variable) is set, and goes before it: commands work as that account while it is")
        }
        try output.result("using \(name)", bare: name, json: ["using": .string(name)])
    }
}
