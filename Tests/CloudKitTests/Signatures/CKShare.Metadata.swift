import CloudKit

func metadata(_ metadata: CKShare.Metadata) {
    let _: CKShare = metadata.share
    let _: String = metadata.containerIdentifier
    let _: CKUserIdentity = metadata.ownerIdentity
    let _: CKRecord.ID? = metadata.hierarchicalRootRecordID
    let _: CKRecord? = metadata.rootRecord
    let _: CKShare.ParticipantRole = metadata.participantRole
    let _: CKShare.ParticipantAcceptanceStatus = metadata.participantStatus
    let _: CKShare.ParticipantPermission = metadata.participantPermission
    let _: Set<CKShare.Metadata> = [metadata]
}

@available(*, deprecated)
func deprecatedMetadata(_ metadata: CKShare.Metadata) {
    let _: CKRecord.ID = metadata.rootRecordID
    let _: CKShare.ParticipantType = metadata.participantType
}
