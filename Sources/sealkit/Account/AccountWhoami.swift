import ArgumentParser
import SealKit

struct AccountWhoami: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Print this account's user name in the container.",
        discussion: """
            Others can invite the account by it from then on: where the server can be reached, this makes the account known in the \
            container. The name commits to the account's keys: nobody else can have it, and another container gives another one.

              sealkit account whoami --container com.example.notes
            """)

    @OptionGroup var global: GlobalOptions

    static var needsServer: Bool { false }

    func run(_ client: Client) async throws {
        let name = try client.container.userRecordID().recordName
        await client.makeKnown(output)
        try output.result(
            "\(name) in \(global.containerIdentifier) at \(client.account.server)", bare: name,
            json: [
                "userRecordName": .string(name), "container": .string(global.containerIdentifier),
                "server": .string(client.account.server),
            ])
    }
}
