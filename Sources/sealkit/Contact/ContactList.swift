import ArgumentParser
import SealKit

struct ContactList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the people whose keys this device has seen in the container.",
        discussion: "  sealkit contact list --json")

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        for contact in try await client.container.contacts.all() {
            try output.result(
                ContactText.line(contact), bare: contact.userRecordID.recordName.escaped, json: ContactText.json(contact))
        }
    }
}
