import ArgumentParser
import SealKit

struct ZoneCreate: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a zone. One that is there is left as it is.",
        discussion: "  sealkit zone create Notes")

    @Argument(help: "The zone's name: printable ASCII, no underscore in front. The server sees it.")
    var name: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let zone = try await client.container.privateDatabase.save(RecordZone(zoneName: name))
        output.result("zone \(zone.zoneID.zoneName.escaped)", json: ["zone": .string(zone.zoneID.zoneName)])
    }
}
