import ArgumentParser
import SealKit

struct ShareRequests: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "Show who asks for access to a share, and set whether anybody may.",
        discussion: "  sealkit share requests Notes --allow on")

    @OptionGroup var place: ShareOptions

    @Option(
        help: ArgumentHelp(
            "on: strangers with the URL may ask. off: they are not told that there is a share.", valueName: "on|off"))
    var allow: SwitchArgument?

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let share =
            if let allow {
                try await place.change(client) { $0.allowsAccessRequests = allow == .on }
            } else {
                try await place.fetch(client)
            }
        let lines = share.requesters.map {
            "  \($0.userIdentity.userRecordID?.recordName.escaped.withNames ?? "")  \($0.contact.escaped)"
        }
        try output.result(
            ([share.allowsAccessRequests ? "strangers with the URL may ask" : "nobody may ask"] + lines).joined(
                separator: "\n"),
            bare: share.requesters.compactMap { $0.userIdentity.userRecordID?.recordName }.joined(separator: "\n"),
            json: [
                "allowsAccessRequests": .bool(share.allowsAccessRequests),
                "requesters": .array(
                    share.requesters.map { requester in
                        .object(
                            [
                                "userRecordName": JSONValue(requester.userIdentity.userRecordID?.recordName),
                                "contact": .string(requester.contact),
                            ].naming(requester.userIdentity.userRecordID?.recordName, as: "name"))
                    }),
            ])
    }
}
