import ArgumentParser
import SealKit

struct ShareShow: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a share: its title, and who is in it, from the zone's verified roster.",
        discussion: """
              sealkit share show Notes
              sealkit share show Notes --owner _0123…
              sealkit share show Lists --record groceries
            """)

    @OptionGroup var place: ShareOptions
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let share = try await place.fetch(client)
        let own = try client.container.userRecordID().recordName
        try output.result(
            (["\"\(share.title.escaped)\" (zone \(share.zoneID.zoneName.escaped))"] + ShareText.openness(of: share)
                + ShareText.lines(share.participants, own: own))
                .joined(separator: "\n"),
            bare: share.participants.map(\.participantID).joined(separator: "\n"), json: ShareText.json(share))
        let unknown = share.participants.filter {
            $0.userIdentity.hasAccount && !$0.userIdentity.isVerified && $0.userIdentity.userRecordID?.recordName != own
        }
        guard !unknown.isEmpty else { return }
        output.note(
            "The keys of \(unknown.count == 1 ? "one person" : "\(unknown.count) people") here were not compared on this device: "
                + "sealkit contact show USER, then sealkit contact verify")
    }
}
