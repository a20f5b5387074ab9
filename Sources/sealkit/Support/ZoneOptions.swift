import ArgumentParser
import SealKit

/// Which zone a command works in: one's own, or, with its owner named, one that somebody shares.
struct ZoneOptions: ParsableArguments {
    @Option(help: "The zone's name.")
    var zone: String

    @OptionGroup var shared: OwnerOption
}

struct OwnerOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Whose zone it is, for zones that others share: the owner's user name, as `zone list` prints it, or the name that you have given it.",
            valueName: "user"))
    var owner: String?

    /// The zone, and the database that it is in.
    func resolve(_ zone: String, _ client: Client) -> (database: Database, zoneID: RecordZone.ID) {
        guard let owner = owner.map(PeopleNames.recordName),
            owner != (try? client.container.userRecordID())?.recordName, owner != RecordZone.ID.currentUser
        else {
            client.ownZones.note(zone)
            return (client.container.privateDatabase.fetchingAssets(.onDemand), RecordZone.ID(zoneName: zone))
        }
        return (
            client.container.sharedDatabase.fetchingAssets(.onDemand), RecordZone.ID(zoneName: zone, ownerName: owner)
        )
    }
}

extension ZoneOptions {
    func resolve(_ client: Client) -> (database: Database, zoneID: RecordZone.ID) { shared.resolve(zone, client) }
}
