import ArgumentParser
import SealKit

struct ShareURLCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "url",
        abstract: "Print the share-wide URL, or the one-time URL of a participant.",
        discussion: """
              sealkit share url Notes
              sealkit share url Notes --for carol@example.org
            """)

    @OptionGroup var place: ShareOptions

    @Option(name: .customLong("for"), help: "A participant who was invited by address, or by a one-time URL.")
    var participant: String?

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let share = try await place.fetch(client)
        var url = share.url
        if let participant { url = share.oneTimeURL(for: try share.participant(named: participant).participantID) }
        guard let url else {
            throw SealKitError(
                .unknownItem, "there is no such URL",
                remedy:
                    "who was invited by user name uses the share-wide one: leave out --for; another one only its maker has"
            )
        }
        try output.result(url, bare: url, json: ["url": .string(url)])
    }
}
