import CloudKit

func fetchShareParticipants() {
    var count = 0
    let _: CKFetchShareParticipantsOperation = CKFetchShareParticipantsOperation()
    let operation: CKFetchShareParticipantsOperation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [])
    operation.userIdentityLookupInfos = nil
    operation.perShareParticipantResultBlock = {
        (_: CKUserIdentity.LookupInfo, _: Result<CKShare.Participant, any Error>) in count += 1
    }
    operation.fetchShareParticipantsResultBlock = { (_: Result<Void, any Error>) in print(count) }
}

@available(*, deprecated)
func deprecatedFetchShareParticipants(_ operation: CKFetchShareParticipantsOperation) {
    operation.shareParticipantFetchedBlock = { (_: CKShare.Participant) in }
    operation.fetchShareParticipantsCompletionBlock = { (_: (any Error)?) in }
}
