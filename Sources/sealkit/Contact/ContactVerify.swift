import ArgumentParser
import SealKit

struct ContactVerify: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Note that you and somebody else have the same safety number.",
        discussion: """
              sealkit contact verify _0123… 12345 67890 …

            Give the number as the other person reads it out, not as it is printed here.
            """)

    @OptionGroup var contact: ContactArgument

    @Argument(help: ArgumentHelp("The sixty digits, grouped however you like.", valueName: "digits"))
    var digits: [String]

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let found = try await contact.find(client)
        // Half a number is no sign of an attack, and must not look like one.
        let (length, count) = (found.safetyNumber.joined().count, digits.joined().filter(\.isNumber).count)
        guard count == length else {
            throw SealKitError(
                .invalidArguments, "a safety number has \(length) digits, and these are \(count)",
                remedy: "give all of them, as the other person reads them out")
        }
        guard found.matches(digits.joined()) else {
            throw Failure.Local(
                status: .integrity, reason: "this is not the safety number of \(found.userRecordID.recordName)",
                remedy: "compare again; if it stays so, somebody stands between you")
        }
        let verified = try await client.container.contacts.verify(found)
        try output.result(ContactText.line(verified), json: ContactText.json(verified))
    }
}
