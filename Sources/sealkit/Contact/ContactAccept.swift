import ArgumentParser
import SealKit

struct ContactAccept: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Take somebody's new keys as that person's.",
        discussion: """
              sealkit contact accept _0123…

            New keys that are signed by those before count already: this takes note of them. Other keys are refused until you
            accept them here; do it only when the person has told you that they are right.
            """)

    @OptionGroup var contact: ContactArgument
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let changed = try await client.container.contacts.accept(try await contact.find(client))
        try output.result(ContactText.line(changed), json: ContactText.json(changed))
    }
}
