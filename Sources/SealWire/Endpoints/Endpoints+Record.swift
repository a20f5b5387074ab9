extension Endpoints {
    public static let records = RecordEndpoints()
}

/// Records: saving, reading, feeds.
public struct RecordEndpoints: Sendable {
    public let modify = Endpoint<InAnyDatabase, Sealkit_V1_ModifyRecordsRequest, Sealkit_V1_ModifyRecordsResponse>(
        "records/modify", path: "records/modify", InAnyDatabase(.writer),
        again: .operation, work: .write { $0.records.count },
        refusals: [
            .message, .user, .path, .zone, .roster, .stored, .code(.rotationDue), .code(.staleEpoch),
            .code(.userDeletedZone), .code(.quotaExceeded), .code(.alreadyShared), .code(.unknownItem),
        ],
        about: """
            saves and deletes records of one zone, and opens and ends hierarchical shares in it. "Saving records"
            """)

    public let lookup = Endpoint<
        InAnyDatabaseByAnyone, Sealkit_V1_LookupRecordsRequest, Sealkit_V1_LookupRecordsResponse
    >(
        "records/lookup", path: "records/lookup", InAnyDatabaseByAnyone(.reader),
        again: .read, work: .read { $0.recordNames.count },
        refusals: [.message, .user, .path, .zone],
        about: """
            records by name, each named once: a name that comes twice is `invalidArguments` for the whole request. Of \
            one that is gone: `unknownItem`, with the deletion, notice or departure as `server_record`
            """)

    public let changes = Endpoint<InDatabase, Sealkit_V1_RecordChangesRequest, Sealkit_V1_RecordChangesResponse>(
        "records/changes", path: "records/changes", InDatabase(.reader, .privateAndShared),
        again: .read, work: .read(feedPage),
        refusals: [.message, .user, .path, .zone, .code(.changeTokenExpired)],
        about: #"a zone's feed ("Feeds"). Not public"#)

    public let changesOfZones = Endpoint<
        InDatabase, Sealkit_V1_ZonesRecordChangesRequest, Sealkit_V1_ZonesRecordChangesResponse
    >(
        "changes/zone", path: "changes/zone", InDatabase(.reader, .privateAndShared),
        again: .read, work: .read { feedPage * max(1, $0.zones.count) },
        refusals: [.message, .user, .path],
        about: "the same of many zones from one snapshot, each named once; each zone fails by itself. Not public")

    public let query = Endpoint<InAnyDatabaseByAnyone, Sealkit_V1_QueryRecordsRequest, Sealkit_V1_QueryRecordsResponse>(
        "records/query", path: "records/query", InAnyDatabaseByAnyone(.reader),
        again: .read, work: .read(10 * feedPage),
        refusals: [.message, .user, .path, .zone, .code(.unknownItem), .code(.changeTokenExpired)],
        about: """
            records of a type that meet conditions on plain fields ("Queries"). `serviceUnavailable` while an index is \
            made
            """)

    public let stale = Endpoint<InDatabase, Sealkit_V1_StaleRecordsRequest, Sealkit_V1_StaleRecordsResponse>(
        "records/stale", path: "records/stale", InDatabase(.reader, .privateAndShared),
        again: .read, work: .read(feedPage),
        refusals: [.message, .user, .path, .zone, .code(.unknownItem)],
        about: "records of a scope that are sealed under an older epoch than the one in force. Not public")

    public let created = Endpoint<
        InPublicDatabase, Sealkit_V1_CreatedRecordsRequest, Sealkit_V1_CreatedRecordsResponse
    >(
        "records/created", path: "records/created", InPublicDatabase(),
        again: .read, work: .read(feedPage),
        refusals: [.message, .user, .path],
        about: "what the caller has made. Public only")
}
