import CloudKit

func sharingOptions(_ options: CKAllowedSharingOptions) {
    let _: CKAllowedSharingOptions = CKAllowedSharingOptions.standard
    let _: CKAllowedSharingOptions = CKAllowedSharingOptions(
        allowedParticipantPermissionOptions: .readOnly, allowedParticipantAccessOptions: .anyoneWithLink)
    let _: CKSharingParticipantAccessOption = options.allowedParticipantAccessOptions
    let _: CKSharingParticipantPermissionOption = options.allowedParticipantPermissionOptions
    options.allowsParticipantsToInviteOthers = true
    options.allowsAccessRequests = true
    let _: any NSSecureCoding & NSCopying = options
}
