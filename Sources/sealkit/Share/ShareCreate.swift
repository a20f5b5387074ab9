import ArgumentParser
import SealKit

struct ShareCreate: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a zone shareable, with nobody in it yet.",
        discussion: """
            The title is encrypted: participants and whoever has a URL can read it, the server cannot.

              sealkit share create Notes --title "Our notes"
            """)

    @Argument(help: "The zone.")
    var zone: String

    @Option(help: "What the people you invite see.")
    var title: String = ""

    @Option(help: ArgumentHelp("A uniform type identifier for what is shared.", valueName: "identifier"))
    var type: String = ""

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        var share = try await start(client)
        share.title = title
        if !type.isEmpty { share.shareType = type }
        let saved = try await client.container.privateDatabase.save(share)
        output.result("the zone \(zone.escaped) is shared; invite somebody with sealkit share invite", json: ShareText.json(saved))
    }

    /// The share that is there, or a new one.
    private func start(_ client: Client) async throws(SealKitError) -> Share {
        do { return try await client.ownShare(zone) } catch {
            guard error.code == .unknownItem else { throw error }
            return Share(recordZoneID: RecordZone.ID(zoneName: zone))
        }
    }
}
