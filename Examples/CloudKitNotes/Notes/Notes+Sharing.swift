import CloudKit

/// Sharing: a notebook as a whole, with people who are invited by name.
extension Notes {
    /// Somebody in one's notebook, or invited to it.
    public struct Person: Sendable {
        public let name: String
        public let mayEdit: Bool
        public let hasAccepted: Bool
        public let isOwner: Bool
    }

    /// Invites somebody to one's own notes, or changes what they may do.
    /// - Parameter person: an e-mail address, or what `whoami` says of them.
    /// - Returns: what to send to them, and to nobody else.
    public func share(with person: String, toEdit: Bool, in container: CKContainer) async throws -> URL? {
        let database = container.privateCloudDatabase
        // There may be no note yet.
        try await database.save(CKRecordZone(zoneID: Self.zoneID(of: Self.own)))
        let share = try await ownShare(in: database) ?? CKShare(recordZoneID: Self.zoneID(of: Self.own))
        share[CKShare.SystemFieldKey.title] = "Notes"
        let participant =
            person.contains("@")
            ? try await container.shareParticipant(forEmailAddress: person)
            : try await container.shareParticipant(forUserRecordID: CKRecord.ID(recordName: person))
        participant.permission = toEdit ? .readWrite : .readOnly
        share.addParticipant(participant)
        let results = try await database.modifyRecords(saving: [share], deleting: []).saveResults
        let saved = try results[share.recordID]?.get() as? CKShare
        let invited = saved?.participants.first { $0 == participant }
        return invited.flatMap { saved?.oneTimeURL(for: $0.participantID) } ?? saved?.url
    }

    /// Who is in one's own notebook; nobody where it is not shared.
    public func people(in container: CKContainer) async throws -> [Person] {
        let share = try await ownShare(in: container.privateCloudDatabase)
        return (share?.participants ?? []).map { participant in
            let identity = participant.userIdentity
            return Person(
                name: identity.lookupInfo?.emailAddress ?? identity.userRecordID?.recordName ?? "",
                mayEdit: participant.permission == .readWrite, hasAccepted: participant.acceptanceStatus == .accepted,
                isOwner: participant.role == .owner)
        }
    }

    /// Puts everybody out of one's own notebook. The notes stay.
    public func stopSharing(in container: CKContainer) async throws {
        let database = container.privateCloudDatabase
        guard let share = try await ownShare(in: database) else { return }
        try await database.deleteRecord(withID: share.recordID)
    }

    /// Takes what somebody shares to one's own notes.
    /// - Returns: whose they are.
    public func accept(_ url: URL, in container: CKContainer) async throws -> String {
        let share = try await container.accept(try await container.shareMetadata(for: url))
        let owner = share.recordID.zoneID.ownerName
        var next = kept
        next.notebooks[owner] = next.notebooks[owner] ?? Notebook()
        try keep(next)
        return owner
    }

    /// Leaves what somebody shares; it goes from this device with the next sync.
    public func leave(_ owner: String, in container: CKContainer) async throws {
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: Self.zoneID(of: owner))
        try await container.sharedCloudDatabase.deleteRecord(withID: id)
    }

    private func ownShare(in database: CKDatabase) async throws -> CKShare? {
        do {
            guard let share = try await database.recordZone(for: Self.zoneID(of: Self.own)).share else { return nil }
            return try await database.record(for: share.recordID) as? CKShare
        } catch CKError.zoneNotFound {
            return nil
        }
    }
}
