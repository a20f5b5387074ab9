import ArgumentParser
import SealKit

struct ShareRemove: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a participant, or take back an invitation. What is written from then on has a new key.",
        discussion: """
            What the participant has read already, it keeps.

              sealkit share remove Notes carol@example.org
            """)

    @Argument(help: "The zone.")
    var zone: String

    @Argument(help: "The participant: id, user name or address, as share show prints them.")
    var participant: String

    @OptionGroup var owner: OwnerOption
    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, fetched) = try await owner.share(of: zone, shared, client)
        var share = fetched
        let found = try share.participant(named: participant)
        guard found.role != .owner else {
            throw SealKitError(.permissionFailure, "the owner cannot be removed", remedy: "delete the zone instead")
        }
        share.removeParticipant(found)
        let saved = try await database.save(share)
        output.result("removed \(participant.escaped); a new key is in force", json: ShareText.json(saved))
    }
}
