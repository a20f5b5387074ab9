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

    @Argument(help: "The zone.")
    var zone: String

    @Option(name: .customLong("for"), help: "A participant without an account, who still has to accept.")
    var participant: String?

    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let share = try await client.ownShare(zone, shared)
        var url = share.url
        if let participant { url = share.oneTimeURL(for: try share.participant(named: participant).participantID) }
        guard let url else {
            throw SealKitError(.unknownItem, "there is no such URL", remedy: "it was used, or the person has an account: leave out --for")
        }
        output.result(url, bare: url, json: ["url": .string(url)])
    }
}
