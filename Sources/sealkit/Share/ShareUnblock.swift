import ArgumentParser
import SealKit

struct ShareUnblock: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "Let somebody be invited, and ask, again.",
        discussion: "  sealkit share unblock Notes _0123…")

    @OptionGroup var place: ShareOptions

    @Argument(help: "The user name, as share show --json prints it.")
    var user: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let person = PeopleNames.recordName(user)
        let saved = try await place.change(client) { share in
            let found = share.blockedIdentities.filter { $0.userRecordID.recordName == person }
            guard !found.isEmpty else {
                throw SealKitError(.unknownItem, "nobody by that name is blocked", remedy: "see share show --json")
            }
            share.unblockIdentities(found)
        }
        try output.result("unblocked \(user.escaped)", json: ShareText.json(saved))
    }
}
