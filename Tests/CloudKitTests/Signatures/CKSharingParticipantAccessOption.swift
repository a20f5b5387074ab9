import CloudKit

func accessOptions() {
    let _: CKSharingParticipantAccessOption = [.anyoneWithLink, .specifiedRecipientsOnly]
    let _: [CKSharingParticipantAccessOption] = [.any, CKSharingParticipantAccessOption(rawValue: 1)]
}
