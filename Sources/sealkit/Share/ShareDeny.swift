import ArgumentParser
import SealKit

struct ShareDeny: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny",
        abstract: "Refuse somebody who asked for access. It may ask again; see block.",
        discussion: "  sealkit share deny Notes _0123…")

    @Argument(help: "The zone.")
    var zone: String

    @Argument(help: "The user name of whoever asked, as share requests prints it.")
    var user: String

    @OptionGroup var owner: OwnerOption
    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, fetched) = try await owner.share(of: zone, shared, client)
        var share = fetched
        share.denyRequesters([try share.existingRequester(named: user)])
        let saved = try await database.save(share)
        output.result("denied \(user.escaped)", json: ShareText.json(saved))
    }
}
