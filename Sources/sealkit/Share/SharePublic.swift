import ArgumentParser
import SealKit

struct SharePublic: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "public",
        abstract: "Let anybody with the share-wide URL join, or nobody any more. Open invitations are taken back.",
        discussion: "  sealkit share public Notes readOnly")

    @Argument(help: "The zone.")
    var zone: String

    @Argument(help: "none, readOnly or readWrite.")
    var permission: PublicPermissionArgument

    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        var share = try await client.ownShare(zone, shared)
        share.publicPermission = permission.permission
        let saved = try await client.container.privateDatabase.save(share)
        try output.result(
            permission == .none
                ? "only who is invited may join" : "anybody with this URL may join:\n\n    \(saved.url ?? "")\n",
            bare: saved.url ?? "", json: ShareText.json(saved))
        ShareText.noteURL(saved, AdvisedShare(zone: zone, shared, global), output)
    }
}
