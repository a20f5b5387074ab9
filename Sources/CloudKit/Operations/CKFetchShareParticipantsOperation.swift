import Foundation
import SealKit

/// Looks people up, to add them to a share.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?
    @available(*, deprecated, message: "use perShareParticipantResultBlock")
    open var shareParticipantFetchedBlock: ((_ participant: CKShare.Participant) -> Void)? {
        get { oldEach }
        set { oldEach = newValue }
    }
    open var perShareParticipantResultBlock:
        (
            (
                _ identityLookupInfo: CKUserIdentity.LookupInfo,
                _ shareParticipantResult: Result<CKShare.Participant, any Error>
            ) -> Void
        )?
    @available(*, deprecated, message: "use fetchShareParticipantsResultBlock")
    open var fetchShareParticipantsCompletionBlock: ((_ operationError: (any Error)?) -> Void)? {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var fetchShareParticipantsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEach: ((CKShare.Participant) -> Void)?
    private var oldEnd: (((any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    override func work() async throws(CKError) {
        let results = try await calling { try await chosenContainer.found(userIdentityLookupInfos?.eachOnce ?? []) }
        for (info, result) in results {
            tell {
                if let participant = result.value { self.oldEach?(participant) }
                self.perShareParticipantResultBlock?(info, result.untyped)
            }
        }
        try results.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(failure)
        fetchShareParticipantsResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        perShareParticipantResultBlock = nil
        fetchShareParticipantsResultBlock = nil
        oldEach = nil
        oldEnd = nil
    }
}
