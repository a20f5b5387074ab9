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

    @OptionGroup var place: ShareOptions

    @Argument(help: "The participant: id, user name or address, as share show prints them.")
    var participant: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let saved = try await place.change(client) { share in
            let found = try share.participant(named: participant)
            guard found.role != .owner else {
                // An administrator ends nobody else's share.
                let isOwn = place.owner.resolve(place.zone, client).database.databaseScope == .private
                let stop = AdvisedShare(zone: place.zone, place.shared, global).command("stop")
                throw SealKitError(
                    .permissionFailure, "the owner cannot be removed",
                    remedy: isOwn
                        ? "to end the share for everybody and keep its records: \(stop)"
                        : "to go yourself, use sealkit share leave")
            }
            share.removeParticipant(found)
        }
        try output.result("removed \(participant.escaped); a new key is in force", json: ShareText.json(saved))
        ShareText.noteOneTime(saved, AdvisedShare(place, global), output)
        ShareText.noteURL(saved, AdvisedShare(place, global), output)
    }
}
