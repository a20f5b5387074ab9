import ArgumentParser
import Foundation
import SealKit

struct ZoneList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List one's own zones, and those that others share.",
        discussion: "  sealkit zone list --json")

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let own = try await client.container.privateDatabase.allRecordZones()
        for zone in own { try show(zone, "private") }
        let others = try await client.container.sharedDatabase.allRecordZones()
        for zone in others { try show(zone, "shared") }
        output.note((own.count + others.count).counted("zone"))
    }

    private func show(_ zone: RecordZone, _ database: String) throws(SealKitError) {
        let name = zone.zoneID.zoneName
        let isOwn = database == "private"
        var remarks = [
            isOwn ? (zone.isShared ? "shared by you" : "") : "--owner \(zone.zoneID.ownerName.escaped.withNames)"
        ]
        if zone.encryptionScope == .perZone { remarks.append("encrypted per zone") }
        let remark = remarks.filter { !$0.isEmpty }.joined(separator: ", ")
        try output.result(
            "\(name.escaped.padded(to: 24))\(remark)".trimmingCharacters(in: .whitespaces),
            bare: isOwn ? name.escaped : "\(zone.zoneID.ownerName.escaped)/\(name.escaped)",
            json: [
                "zone": .string(name), "database": .string(database), "isShared": .bool(zone.isShared),
                "owner": .string(zone.zoneID.ownerName),
                "encryptionScope": .string(EncryptionScopeArgument(zone.encryptionScope).rawValue),
            ])
    }
}
