import CloudKit

func participantRole() {
    let _: [CKShare.ParticipantRole] = [.unknown, .owner, .administrator, .privateUser, .publicUser]
    let _: CKShare.ParticipantRole? = CKShare.ParticipantRole(rawValue: 1)
}
