import CloudKit

func errors(_ error: CKError) {
    let _: CKError = CKError(_nsError: NSError(domain: CKErrorDomain, code: 1))
    let _: CKError = CKError(.unknownItem, userInfo: [:])
    let _: CKError.Code = error.code
    let _: CKError.Code? = CKError.Code(rawValue: 1)
    let _: Int = error.errorCode
    let _: [String: Any] = error.userInfo
    let _: [String: Any] = error.errorUserInfo
    let _: String = CKError.errorDomain
    let _: String = error.localizedDescription
    let _: [AnyHashable: any Error]? = error.partialErrorsByItemID
    let _: CKRecord? = error.ancestorRecord
    let _: CKRecord? = error.clientRecord
    let _: CKRecord? = error.serverRecord
    let _: Double? = error.retryAfterSeconds
    let _: NSError = error as NSError
}

func errorCodes() {
    let _: [CKError.Code] = [
        CKError.internalError,
        CKError.partialFailure,
        CKError.networkUnavailable,
        CKError.networkFailure,
        CKError.badContainer,
        CKError.serviceUnavailable,
        CKError.requestRateLimited,
        CKError.missingEntitlement,
        CKError.notAuthenticated,
        CKError.permissionFailure,
        CKError.unknownItem,
        CKError.invalidArguments,
        CKError.resultsTruncated,
        CKError.serverRecordChanged,
        CKError.serverRejectedRequest,
        CKError.assetFileNotFound,
        CKError.assetFileModified,
        CKError.incompatibleVersion,
        CKError.constraintViolation,
        CKError.operationCancelled,
        CKError.changeTokenExpired,
        CKError.batchRequestFailed,
        CKError.zoneBusy,
        CKError.badDatabase,
        CKError.quotaExceeded,
        CKError.zoneNotFound,
        CKError.limitExceeded,
        CKError.userDeletedZone,
        CKError.tooManyParticipants,
        CKError.alreadyShared,
        CKError.referenceViolation,
        CKError.managedAccountRestricted,
        CKError.participantMayNeedVerification,
        CKError.serverResponseLost,
        CKError.assetNotAvailable,
        CKError.accountTemporarilyUnavailable,
        CKError.participantAlreadyInvited,
    ]
    let _: [CKError.Code] = [
        .internalError,
        .partialFailure,
        .networkUnavailable,
        .networkFailure,
        .badContainer,
        .serviceUnavailable,
        .requestRateLimited,
        .missingEntitlement,
        .notAuthenticated,
        .permissionFailure,
        .unknownItem,
        .invalidArguments,
        .resultsTruncated,
        .serverRecordChanged,
        .serverRejectedRequest,
        .assetFileNotFound,
        .assetFileModified,
        .incompatibleVersion,
        .constraintViolation,
        .operationCancelled,
        .changeTokenExpired,
        .batchRequestFailed,
        .zoneBusy,
        .badDatabase,
        .quotaExceeded,
        .zoneNotFound,
        .limitExceeded,
        .userDeletedZone,
        .tooManyParticipants,
        .alreadyShared,
        .referenceViolation,
        .managedAccountRestricted,
        .participantMayNeedVerification,
        .serverResponseLost,
        .assetNotAvailable,
        .accountTemporarilyUnavailable,
        .participantAlreadyInvited,
    ]
}
