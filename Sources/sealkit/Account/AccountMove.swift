import ArgumentParser
import SealKit

struct AccountMove: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Give this account the new address of its server, which has another name now.",
        discussion: """
            The account stays the same, with all that it has there: only the key file's address changes, once the server at the \
            new one has let the account in. Each device is told by itself. A recovery passphrase counts for the address under which \
            it was set: set it again (sealkit account recovery-passphrase).

              sealkit account move https://notes.example.org
            """)

    @Argument(
        help: ArgumentHelp("The server's new address: https://host, and :port unless it is 443.", valueName: "url"))
    var server: String

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let store = global.keyStore
        guard let former = try await store.load()?.server else { throw global.noKeyFile }
        let account = try await Account.move(
            in: store, to: try global.transport(server: server), trust: try global.openTrust())
        await Interruption.settle { try? await account.logOut() }
        try output.result(
            "this account's server is \(account.server.escaped) from now on, in the place of \(former.escaped)",
            bare: account.server.escaped, json: ["server": .string(account.server), "former": .string(former)])
    }
}
