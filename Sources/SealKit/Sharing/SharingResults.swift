/// What has come of the records, shares and deletions of one call so far.
struct SharingResults {
    var saves: [Record.ID: Result<Record, SealKitError>] = [:]
    var shares: [Record.ID: Result<Share, SealKitError>] = [:]
    var deletions: [Record.ID: Result<Void, SealKitError>] = [:]

    var hasRecords: Bool { !saves.isEmpty || !deletions.isEmpty }

    /// Zones in which something has failed.
    var failedZones: Set<RecordZone.ID> {
        var ids = saves.filter(\.value.isFailure).map(\.key)
        ids += shares.filter(\.value.isFailure).map(\.key)
        ids += deletions.filter(\.value.isFailure).map(\.key)
        return Set(ids.map(\.zoneID))
    }

    mutating func add(
        _ done: (
            saveResults: [Record.ID: Result<Record, SealKitError>],
            deleteResults: [Record.ID: Result<Void, SealKitError>]
        )
    ) {
        saves.merge(done.saveResults) { $1 }
        deletions.merge(done.deleteResults) { $1 }
    }

    mutating func fail(_ saving: [Record], _ deleting: [Record.ID], _ error: SealKitError) {
        for record in saving { saves[record.recordID] = .failure(error) }
        for id in deleting { deletions[id] = .failure(error) }
    }

    /// What some zones take nothing of fails with each zone's reason.
    mutating func refuse(
        _ saving: [Record], _ new: [RecordZone.ID: [Share]], _ deleting: [Record.ID],
        of zones: [RecordZone.ID: SealKitError]
    ) {
        for (zone, error) in zones {
            fail(saving.filter { $0.recordID.zoneID == zone }, deleting.filter { $0.zoneID == zone }, error)
            for share in new[zone] ?? [] { shares[share.recordID] = .failure(error) }
        }
    }
}
