import CloudKit

func shares(_ record: CKRecord, _ coder: NSCoder) {
    let share: CKShare = CKShare(rootRecord: record)
    let _: CKShare = CKShare(rootRecord: record, shareID: record.recordID)
    let _: CKShare = CKShare(recordZoneID: record.recordID.zoneID)
    let _: CKShare? = CKShare(coder: coder)
    let _: CKRecord = share
    let _: URL? = share.url
    let _: CKShare.ParticipantPermission = share.publicPermission
    share.publicPermission = .readOnly
    let participants: [CKShare.Participant] = share.participants
    let owner: CKShare.Participant = share.owner
    let _: CKShare.Participant? = share.currentUserParticipant
    share.addParticipant(owner)
    share.removeParticipant(owner)
    let _: URL? = share.oneTimeURL(for: owner.participantID)
    share.allowsAccessRequests = true
    let requesters: [CKShare.AccessRequester] = share.requesters
    let blocked: [CKShare.BlockedIdentity] = share.blockedIdentities
    share.denyRequesters(requesters)
    share.blockRequesters(requesters)
    share.unblockIdentities(blocked)
    share[CKShare.SystemFieldKey.title] = "Notes"
    share[CKShare.SystemFieldKey.title] = "Notes" as any CKRecordValue
    share[CKShare.SystemFieldKey.shareType] = "org.example.note"
    share[CKShare.SystemFieldKey.thumbnailImageData] = Data()
    let _: Set<CKShare.Participant> = Set(participants)
}
