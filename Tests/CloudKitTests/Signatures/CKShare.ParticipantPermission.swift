import CloudKit

func participantPermission() {
    let _: [CKShare.ParticipantPermission] = [.unknown, .none, .readOnly, .readWrite]
    let _: CKShare.ParticipantPermission? = CKShare.ParticipantPermission(rawValue: 1)
}
