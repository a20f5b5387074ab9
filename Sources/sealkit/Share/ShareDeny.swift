import ArgumentParser
import SealKit

struct ShareDeny: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny",
        abstract: "Refuse somebody who asked for access. It may ask again; see block.",
        discussion: "  sealkit share deny Notes _0123…")

    @OptionGroup var place: ShareOptions

    @Argument(help: "The user name of whoever asked, as share requests prints it.")
    var user: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let saved = try await place.change(client) { share in
            share.denyRequesters([try share.existingRequester(named: user)])
        }
        try output.result("denied \(user.escaped)", json: ShareText.json(saved))
    }
}
