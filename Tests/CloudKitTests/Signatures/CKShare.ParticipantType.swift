import CloudKit

@available(*, deprecated)
func participantType() {
    let _: [CKShare.ParticipantType] = [.unknown, .owner, .privateUser, .publicUser]
    let _: CKShare.ParticipantType? = CKShare.ParticipantType(rawValue: 1)
}
