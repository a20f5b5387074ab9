import ArgumentParser
import SealKit

struct ShareBlock: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Put a participant out who cannot come back, or refuse for good who asked for access.",
        discussion: "  sealkit share block Notes _0123…")

    @Argument(help: "The zone.")
    var zone: String

    @Argument(help: "A participant, or somebody who asked: user name, id or address.")
    var person: String

    @OptionGroup var owner: OwnerOption
    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, fetched) = try await owner.share(of: zone, shared, client)
        var share = fetched
        if let requester = share.requester(named: person) {
            share.blockRequesters([requester])
        } else {
            try share.blockParticipant(try share.participant(named: person))
        }
        let saved = try await database.save(share)
        output.result("blocked \(person.escaped)", json: ShareText.json(saved))
    }
}
