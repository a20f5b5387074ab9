import ArgumentParser
import SealKit

struct ShareCreate: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a zone shareable, or a record with all that is below it, with nobody in it yet.",
        discussion: """
            The title is encrypted: participants and whoever has a URL can read it, the server cannot.

              sealkit share create Notes --title "Our notes"
              sealkit share create Lists --record groceries --title "Groceries"
            """)

    @Argument(help: "The zone.")
    var zone: String

    @Option(
        help: "What the people you invite see. Where it is shared already, it keeps the title that it has without this."
    )
    var title: String?

    @Option(help: ArgumentHelp("A uniform type identifier for what is shared.", valueName: "identifier"))
    var type: String = ""

    @Option(help: ArgumentHelp("A small picture, sealed like the title.", valueName: "file"), completion: .file())
    var thumbnail: String?

    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let picture = try thumbnail.map { path throws(SealKitError) in
            guard let data = try GivenFile.contents(of: path) else {
                throw SealKitError(.assetFileNotFound, "there is no file to read at \(path)")
            }
            return data
        }
        var (share, root) = try await start(client)
        if let title { share.title = title }
        if !type.isEmpty { share.shareType = type }
        if let picture { share.thumbnailImageData = picture }
        let database = client.container.privateDatabase
        let saved =
            if let root { try await database.save(share, rootRecord: root).share } else {
                try await database.save(share)
            }
        let what = shared.record.map { "the record \($0.escaped)" } ?? "the zone \(zone.escaped)"
        try output.result("\(what) is shared; invite somebody with sealkit share invite", json: ShareText.json(saved))
    }

    /// The share that is there, or a new one; for a record that is still to be shared with the record.
    private func start(_ client: Client) async throws(SealKitError) -> (Share, root: Record?) {
        let zoneID = RecordZone.ID(zoneName: zone)
        if let name = shared.record {
            let root = try await client.container.privateDatabase.fetchingAssets(.onDemand).record(
                for: Record.ID(recordName: name, zoneID: zoneID))
            guard root.share != nil else { return (Share(rootRecord: root), root) }
            return (try await client.ownShare(zone, shared), nil)
        }
        do { return (try await client.ownShare(zone, shared), nil) } catch {
            guard error.code == .unknownItem else { throw error }
            return (Share(recordZoneID: zoneID), nil)
        }
    }
}
