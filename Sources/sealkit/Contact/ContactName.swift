import ArgumentParser
import Foundation
import SealKit

struct ContactName: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "name",
        abstract: "Give somebody a name, on this device only. Needs no network.",
        discussion: """
              sealkit contact name _0123… Bob
              sealkit contact name Bob --remove

            The name is shown wherever the person is, and can be given wherever a person is asked for. The server never sees it, and \
            it says nothing of whose keys these are: compare the safety number for that (sealkit contact show Bob).
            """)

    @OptionGroup var contact: ContactArgument

    @Argument(
        help:
            "The name: up to 64 characters, the first a letter or digit, and nothing that reads like an id or an address. No two people have the same."
    )
    var name: String?

    @Flag(help: "Take the name away.")
    var remove = false

    @OptionGroup var global: GlobalOptions

    static var needsServer: Bool { false }

    func validate() throws {
        guard (name == nil) == remove else { throw ValidationError("Give a name, or --remove: one of the two.") }
    }

    func run(_ client: Client) async throws {
        // Whose own id is shown is called so: nobody else may pass for them.
        if let name, name.compare(PeopleNames.ownName, options: .caseInsensitive) == .orderedSame {
            throw SealKitError(
                .invalidArguments, "this is no name for somebody: it is what you yourself are called here",
                remedy: "choose another one")
        }
        let person = Record.ID(recordName: try contact.recordName())
        try await client.container.contacts.setName(name, for: person)
        let id = person.recordName
        try output.result(
            name.map { "\(id.escaped) is \($0.escaped) on this device" } ?? "\(id.escaped) has no name on this device",
            bare: id,
            json: ["userRecordName": .string(id), "name": JSONValue(name)])
    }
}
