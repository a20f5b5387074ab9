import ArgumentParser
import SealKit

struct ZoneEndFork: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-fork",
        abstract: "Go on with one of two rosters that a restored server has left a zone with.",
        discussion: """
              sealkit zone end-fork Notes
              sealkit zone end-fork Notes --abandon 17:3f2a…
              sealkit zone end-fork Notes --share list --abandon 17:3f2a…

            The server's roster counts from then on; the other one is given up: this device's own, or the one whose end a member's \
            error names. The zone begins anew, without records and participants: save what there is first, then save it again and \
            share the zone anew. Nothing brings back what was in it: it asks for the zone's name, unless --yes is given.

            A hierarchy that is shared by itself has a roster of its own. End that share first, on a device that is shown no other \
            roster of it, and share the hierarchy anew. Its records stay, and nothing is asked for.
            """)

    @Argument(help: "The zone's name.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "The end of the roster that is given up, as a member's error names it.", valueName: "number:hash"))
    var abandon: String?

    @Option(
        help: ArgumentHelp(
            "The share whose roster it is, as the error names it, where a hierarchy was shared by itself.",
            valueName: "share"))
    var share: String?

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let head = try abandon.map { text in
            guard let head = RosterFork.Head(text) else {
                throw ValidationError(
                    "--abandon takes the end of a roster as an error names it: 17:3f2a…, with 64 digits.")
            }
            return head
        }
        let zoneID = RecordZone.ID(zoneName: name)
        if let share {
            try await client.container.privateDatabase.endFork(of: zoneID, shareRecordName: share, abandoning: head)
            return try output.result(
                "The other roster of \(share.escaped) is given up", bare: name,
                json: ["zone": .string(name), "share": .string(share)])
        }
        try confirmation.confirm(
            "This begins the zone \(name.escaped) anew, without the records and participants that it has", typing: name)
        try await client.container.privateDatabase.endFork(of: zoneID, abandoning: head)
        try output.result(
            "\(name.escaped) begins anew; the other roster is given up", bare: name, json: ["zone": .string(name)])
    }
}
