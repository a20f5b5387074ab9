import ArgumentParser
import SealKit

/// Which share of a zone is meant.
struct SharedRecordOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A record that is shared with all that has it as parent; without it, the zone as a whole.",
            valueName: "name"))
    var record: String?
}

/// A share that its owner or an administrator looks at or changes: of a zone of one's own or of somebody else's, or of
/// a record in it.
struct ShareOptions: ParsableArguments {
    @Argument(help: "The zone.")
    var zone: String

    @OptionGroup var owner: OwnerOption
    @OptionGroup var shared: SharedRecordOption

    func fetch(_ client: Client) async throws(SealKitError) -> Share {
        let (database, zoneID) = owner.resolve(zone, client)
        return try await client.share(of: zoneID, shared, in: database)
    }

    /// Fetches the share, changes it and saves it.
    func change(_ client: Client, _ change: (inout Share) async throws -> Void) async throws -> Share {
        var share = try await fetch(client)
        try await change(&share)
        return try await owner.resolve(zone, client).database.save(share)
    }
}

/// What a command that is printed to be run needs to come to the same share as the one that prints it.
struct AdvisedShare {
    private let zone: String
    private let options: [AdvisedCommand.Given]

    init(_ place: ShareOptions, _ global: GlobalOptions) {
        self.init(zone: place.zone, owner: place.owner.owner, place.shared, global)
    }

    init(zone: String, owner: String? = nil, _ shared: SharedRecordOption, _ global: GlobalOptions) {
        self.zone = zone
        let share: [AdvisedCommand.Given] = [("owner", owner), ("record", shared.record)]
        options = share + global.givenPlace
    }

    /// - Parameters:
    ///   - verb: what `sealkit share` is to do; its other arguments come after this.
    ///   - more: options of that command, each after a blank.
    func command(_ verb: String, _ more: String = "") -> String {
        AdvisedCommand.line("share \(verb)", options, more, argument: zone).escapedToCopy
    }
}

extension Client {
    /// The share of one of one's own zones, or of a record in it.
    func ownShare(_ zone: String, _ shared: SharedRecordOption) async throws(SealKitError) -> Share {
        try await share(of: RecordZone.ID(zoneName: zone), shared, in: container.privateDatabase)
    }

    func share(
        of zoneID: RecordZone.ID, _ shared: SharedRecordOption, in database: Database
    ) async throws(SealKitError) -> Share {
        guard let record = shared.record else { return try await database.share(for: zoneID) }
        return try await database.share(forRoot: Record.ID(recordName: record, zoneID: zoneID))
    }
}
