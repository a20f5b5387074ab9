import CloudKit

func participants(_ participant: CKShare.Participant) {
    let _: CKShare.Participant = CKShare.Participant.oneTimeURLParticipant()
    let _: CKUserIdentity = participant.userIdentity
    let _: CKShare.Participant.Role = participant.role
    participant.role = .administrator
    let _: CKShare.Participant.Permission = participant.permission
    participant.permission = .readWrite
    let _: CKShare.Participant.AcceptanceStatus = participant.acceptanceStatus
    let _: CKShare.Participant.ID = participant.participantID
    let _: Bool = participant.isApprovedRequester
    let _: Date? = participant.dateAddedToShare
    let _: any NSSecureCoding & NSCopying = participant
}

@available(*, deprecated)
func deprecatedParticipants(_ participant: CKShare.Participant) {
    let _: CKShare.Participant.ParticipantType = participant.type
    participant.type = .privateUser
}
