import ArgumentParser

struct AccountAddress: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "address",
        abstract: "Addresses by which others can find this account.",
        subcommands: [AccountAddressAdd.self])
}

struct AccountAddressAdd: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Link an e-mail address to this account: the server sends a code to it.",
        discussion: """
            Who knows the address can then invite this account by it. The server keeps a keyed hash, not the address.

              sealkit account address add bob@example.org
            """)

    @Argument(help: "The e-mail address.")
    var email: String

    @OptionGroup var code: CodeOptions
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        _ = try await code.verify(email, for: nil, client, output)
        output.result("linked \(email.escaped)", json: ["linked": .string(email)])
    }
}
