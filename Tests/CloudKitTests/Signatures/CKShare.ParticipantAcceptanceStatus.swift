import CloudKit

func participantAcceptanceStatus() {
    let _: [CKShare.ParticipantAcceptanceStatus] = [.unknown, .pending, .accepted, .removed]
    let _: CKShare.ParticipantAcceptanceStatus? = CKShare.ParticipantAcceptanceStatus(rawValue: 1)
}
