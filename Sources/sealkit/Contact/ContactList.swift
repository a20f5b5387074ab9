import ArgumentParser
import SealKit

struct ContactList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the people whose keys this device has seen in the container.",
        discussion: "  sealkit contact list --json")

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let contacts = try await client.container.contacts.all()
        for contact in contacts {
            try output.result(
                ContactText.line(contact), bare: contact.userRecordID.recordName.escaped,
                json: ContactText.json(contact))
        }
        let seen = Set(contacts.map(\.userRecordID.recordName))
        let names = try await client.container.contacts.names()
        for id in names.userRecordIDs where !seen.contains(id.recordName) {
            try output.result(
                "\(id.recordName.withNames)  keys not seen yet", bare: id.recordName,
                json: ["userRecordName": .string(id.recordName), "name": JSONValue(names[id])])
        }
    }
}
