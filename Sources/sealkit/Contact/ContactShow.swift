import ArgumentParser
import SealKit

struct ContactShow: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the safety number that you and somebody else compare.",
        discussion: """
              sealkit contact show _0123…

            Both of you see the same sixty digits, unless somebody stands between you. Compare them by voice or on paper.
            """)

    @OptionGroup var contact: ContactArgument
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let found = try await contact.find(client)
        try output.result(
            ContactText.text(found), bare: found.safetyNumber.joined(separator: " "), json: ContactText.json(found))
    }
}
