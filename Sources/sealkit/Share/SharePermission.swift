import ArgumentParser
import SealKit

struct SharePermission: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "permission",
        abstract: "Change what a participant may do. Taking a right away opens a new key in the same step.",
        discussion: "  sealkit share permission Notes bob@example.org readOnly")

    @OptionGroup var place: ShareOptions

    @Argument(help: "The participant: id, user name or address, as share show prints them.")
    var participant: String

    @Argument(help: "readOnly or readWrite.")
    var permission: PermissionArgument

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let saved = try await place.change(client) { share in
            var found = try share.participant(named: participant)
            found.permission = permission.permission
            share.addParticipant(found)
        }
        try output.result("\(participant.escaped): \(permission.rawValue)", json: ShareText.json(saved))
    }
}
