import ArgumentParser
import SealKit

struct SharePreviewCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show what a share URL leads to, without accepting it.",
        discussion: "  sealkit share preview -")

    @OptionGroup var link: ShareURLArgument
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let metadata = try await client.container.shareMetadata(for: try link.read())
        output.result(metadata.text(metadata.participantStatus), json: metadata.json(metadata.participantStatus))
    }
}

extension Share.Metadata {
    private var owner: String { ownerIdentity.userRecordID?.recordName ?? zoneID.ownerName }

    /// The title is the owner's word about itself.
    func text(_ status: Share.Participant.AcceptanceStatus) -> String {
        """
        "\(title.escaped)" (zone \(zoneID.zoneName.escaped))
          owner       \(owner.escaped)
          permission  \(participantPermission)
          status      \(status)
        """
    }

    func json(_ status: Share.Participant.AcceptanceStatus) -> [String: JSONValue] {
        [
            "zone": .string(zoneID.zoneName), "owner": .string(owner), "title": .string(title), "type": .string(shareType),
            "permission": .string("\(participantPermission)"), "status": .string("\(status)"),
            "container": .string(containerIdentifier),
        ]
    }
}
