extension Endpoints {
    public static let zones = ZoneEndpoints()
}

/// Zones of a database.
public struct ZoneEndpoints: Sendable {
    public let modify = Endpoint<InDatabase, Sealkit_V1_ModifyZonesRequest, Sealkit_V1_ModifyZonesResponse>(
        "zones/modify", path: "zones/modify", InDatabase(.owner, .private),
        again: .operation, work: .write { $0.saves.count + $0.deletes.count },
        refusals: [.message, .user, .path, .stored],
        about: """
            makes zones, each by its roster's `open`, and deletes them by `close`, with all shares in them. Private \
            database only. "Zones"
            """)

    public let lookup = Endpoint<InDatabase, Sealkit_V1_LookupZonesRequest, Sealkit_V1_LookupZonesResponse>(
        "zones/lookup", path: "zones/lookup", InDatabase(.reader, .privateAndShared),
        again: .read, work: .read { $0.zones.count },
        refusals: [.message, .user, .path],
        about: "zones by name; all of the database where none is named. Not public")

    public let changes = Endpoint<InDatabase, Sealkit_V1_DatabaseChangesRequest, Sealkit_V1_DatabaseChangesResponse>(
        "zones/changes", path: "zones/changes", InDatabase(.user, .privateAndShared),
        again: .read, work: .read(feedPage),
        refusals: [.message, .user, .path, .code(.changeTokenExpired)],
        about: #"which zones have changed or gone ("Feeds"). Not public"#)
}
