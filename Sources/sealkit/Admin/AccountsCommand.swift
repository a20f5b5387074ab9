import ArgumentParser
import SealKit

struct AccountsCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "List the accounts: made, last seen, devices, storage, suspended or not.",
        discussion: """
            Oldest first, all of them or those that match: by a part of the account's name or of container/user record \
            name, or by a whole address (the server knows addresses by their hashes). Nothing of what an account stores \
            is shown: the server cannot read it.

              sealkit admin accounts --data /var/lib/sealkit
              sealkit admin accounts ann@example.org --data /var/lib/sealkit
              sealkit admin accounts org.example.notes/ --suspended --json --data /var/lib/sealkit
            """)

    @Argument(help: "What to look for. Default: all.")
    var text = ""

    @Flag(help: "Those alone that are suspended.")
    var suspended = false

    @Option(help: ArgumentHelp("Show at most so many. Default: all.", valueName: "number"))
    var limit: Int?

    @OptionGroup var options: OperatorOptions

    func validate() throws { try PageOptions.check(limit) }

    func run(_ server: ServerOperator) async throws {
        try await PageOptions.pages(atMost: limit ?? .max, output) { cursor, limit in
            let page = try await server.accounts(
                matching: text, suspendedOnly: suspended, after: cursor, limit: limit)
            for account in page.accounts {
                try output.result(
                    OperatedAccountText.lines(account), bare: account.name.escaped,
                    json: OperatedAccountText.json(account))
            }
            return (page.accounts.count, page.cursor)
        }
    }
}
