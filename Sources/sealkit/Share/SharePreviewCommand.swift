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
        try output.result(metadata.text(metadata.participantStatus), json: metadata.json(metadata.participantStatus))
    }
}

extension Share.Metadata {
    private var owner: String { ownerIdentity.userRecordID?.recordName ?? zoneID.ownerName }

    /// The title is the word of whoever signed it, about what is shared.
    func text(_ status: Share.Participant.AcceptanceStatus) -> String {
        let shown =
            preview.map { "\"\($0.title.escaped)\"" } ?? "(no title: nobody who administers the share vouches for one)"
        var lines = [
            "\(shown) (zone \(zoneID.zoneName.escaped))",
            "  owner       \(owner.escaped.withNames)  \(ownerIdentity.isVerified ? "verified" : "not verified")",
        ]
        if participantRole != .owner, let how = ShareText.howToVerify(ownerIdentity) {
            lines.append("              \(how)")
        }
        if let preview {
            lines.append(
                "  title by    \(preview.authorRecordID.recordName.escaped.withNames) (\(preview.authorRole)), \(Timestamp.shown(preview.date))"
            )
        }
        lines += ["  permission  \(participantPermission)", "  status      \(status)"]
        return lines.joined(separator: "\n")
    }

    func json(_ status: Share.Participant.AcceptanceStatus) -> [String: JSONValue] {
        [
            "zone": .string(zoneID.zoneName), "owner": .string(owner),
            "isOwnerVerified": .bool(ownerIdentity.isVerified), "title": .string(title), "type": .string(shareType),
            "permission": .string("\(participantPermission)"), "status": .string("\(status)"),
            "container": .string(containerIdentifier),
            "previewAuthor": JSONValue(preview?.authorRecordID.recordName),
            "previewAuthorRole": JSONValue(preview.map { "\($0.authorRole)" }),
            "previewDate": JSONValue(preview.map { Timestamp.text($0.date) }),
        ].naming(owner, as: "ownerName").naming(preview?.authorRecordID.recordName, as: "previewAuthorName")
    }
}
