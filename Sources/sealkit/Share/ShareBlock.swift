import ArgumentParser
import SealKit

struct ShareBlock: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Put a participant out who cannot come back, or refuse for good who asked for access.",
        discussion: "  sealkit share block Notes _0123…")

    @OptionGroup var place: ShareOptions

    @Argument(help: "A participant, or somebody who asked: user name, id or address.")
    var person: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let saved = try await place.change(client) { share in
            if let requester = share.requester(named: person) {
                share.blockRequesters([requester])
            } else {
                try share.blockParticipant(try share.participant(named: person))
            }
        }
        try output.result("blocked \(person.escaped)", json: ShareText.json(saved))
        ShareText.noteOneTime(saved, AdvisedShare(place, global), output)
        ShareText.noteURL(saved, AdvisedShare(place, global), output)
    }
}
