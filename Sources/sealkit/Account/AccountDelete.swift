import ArgumentParser
import SealKit

struct AccountDelete: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete the account on its server for ever, with all that it owns, and its keys here.",
        discussion: """
            Its shares end and it leaves those of others. What it wrote into others' zones, and its records in public databases, \
            stay. Nothing brings it back, the recovery key neither: to keep a copy, first: sealkit data export FOLDER

            It asks for the word "delete", unless --yes is given. Cut short, it is simply run again.

              sealkit account delete
            """)

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var global: GlobalOptions

    /// There is no account left.
    static var warnsOfDevices: Bool { false }

    func run(_ client: Client) async throws {
        if !yes {
            try Prompt.confirm(
                "This deletes the account at \(client.account.server) and everything in it, for ever. Type delete to go on: ",
                typed: "delete", orOption: "--yes")
        }
        try await client.account.delete(trust: client.trust)
        TrustFiles.remove(beside: global.keyFileURL)
        try GlobalOptions.accounts.left(global.keyFileURL)
        output.result("deleted", json: ["deleted": .bool(true), "server": .string(client.account.server)])
    }
}
