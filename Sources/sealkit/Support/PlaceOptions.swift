import ArgumentParser
import SealKit

/// Where a record is: in a zone of one's own or of somebody who shares it, or in the public database.
struct PlaceOptions: ParsableArguments {
    @Option(help: "The zone's name. The public database has none to name.")
    var zone: String?

    @OptionGroup var shared: OwnerOption

    @Option(
        help: "public: the container's public database, which everybody may read. Default: the zone's own database.")
    var database: DatabaseName?

    enum DatabaseName: String, ExpressibleByArgument, CaseIterable {
        case `public`
    }

    func validate() throws {
        switch (database, zone) {
        case (nil, nil): throw ValidationError("Name the zone with --zone, or say --database public.")
        case (.public, .some): throw ValidationError("The public database has no zones: leave --zone out.")
        case (.public, nil) where shared.owner != nil:
            throw ValidationError("The public database is nobody's: leave --owner out.")
        default: return
        }
    }

    func resolve(_ client: Client) -> (database: Database, zoneID: RecordZone.ID) {
        guard database == nil, let zone else {
            return (client.container.publicDatabase.fetchingAssets(.onDemand), .default)
        }
        return shared.resolve(zone, client)
    }
}
