import ArgumentParser
import SealKit

struct ContactUnverify: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "unverify",
        abstract: "Forget that a safety number was compared.",
        discussion: "  sealkit contact unverify _0123…")

    @OptionGroup var contact: ContactArgument
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let changed = try await client.container.contacts.unverify(try await contact.find(client))
        try output.result(ContactText.line(changed), json: ContactText.json(changed))
    }
}
