import ArgumentParser
import SealKit

struct ZoneCreate: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a zone. One that is there is left as it is.",
        discussion: """
              sealkit zone create Notes
              sealkit zone create Diary --encryption-scope per-zone

            A zone that is encrypted per zone is shared as a whole or not at all; in any other, records can be shared by themselves.
            """)

    @Argument(help: "The zone's name: printable ASCII, no underscore in front. The server sees it.")
    var name: String

    @Option(help: "How the zone is encrypted: per-record or per-zone. It cannot be changed.")
    var encryptionScope = EncryptionScopeArgument.perRecord

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        var wanted = RecordZone(zoneName: name)
        wanted.encryptionScope = encryptionScope.scope
        let zone = try await client.container.privateDatabase.save(wanted)
        try output.result(
            "zone \(zone.zoneID.zoneName.escaped)",
            json: [
                "zone": .string(zone.zoneID.zoneName),
                "encryptionScope": .string(EncryptionScopeArgument(zone.encryptionScope).rawValue),
            ])
    }
}
