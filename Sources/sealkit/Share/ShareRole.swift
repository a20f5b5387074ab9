import ArgumentParser
import SealKit

struct ShareRole: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "role",
        abstract: "Make a participant an administrator, who manages participants with you, or a private user again.",
        discussion: "  sealkit share role Notes bob@example.org administrator")

    @Argument(help: "The zone.")
    var zone: String

    @Argument(help: "The participant: id, user name or address, as share show prints them.")
    var participant: String

    @Argument(help: "administrator or privateUser.")
    var role: RoleArgument

    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        var share = try await client.ownShare(zone, shared)
        var found = try share.participant(named: participant)
        found.role = role.role
        share.addParticipant(found)
        let saved = try await client.container.privateDatabase.save(share)
        try output.result("\(participant.escaped): \(role.rawValue)", json: ShareText.json(saved))
    }
}
