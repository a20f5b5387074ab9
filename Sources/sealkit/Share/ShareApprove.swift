import ArgumentParser
import SealKit

struct ShareApprove: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Invite somebody who asked for access: it accepts with the share-wide URL, which it has.",
        discussion: "  sealkit share approve Notes _0123… --permission readWrite")

    @OptionGroup var place: ShareOptions

    @Argument(help: "The user name of whoever asked, as share requests prints it.")
    var user: String

    @Option(help: "readOnly or readWrite.")
    var permission: PermissionArgument = .readOnly

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let saved = try await place.change(client) { share in
            let requester = try share.existingRequester(named: user)
            share.addParticipant(
                try await client.container.shareParticipant(
                    for: requester.participantLookupInfo, permission: permission.permission))
        }
        try output.result("\(user.escaped) may accept now", json: ShareText.json(saved))
    }
}
