import CloudKit

func permissionOptions() {
    let _: CKSharingParticipantPermissionOption = [.readOnly, .readWrite]
    let _: [CKSharingParticipantPermissionOption] = [.any, CKSharingParticipantPermissionOption(rawValue: 1)]
}
