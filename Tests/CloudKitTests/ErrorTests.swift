@testable import CloudKit
import SealKit
import Testing

@Suite(.timeLimit(.minutes(60))) struct ErrorTests {
    @Test func numbersAreCloudKits() {
        #expect(CKError.Code.internalError.rawValue == 1)
        #expect(CKError.Code.partialFailure.rawValue == 2)
        #expect(CKError.Code.notAuthenticated.rawValue == 9)
        #expect(CKError.Code.serverRecordChanged.rawValue == 14)
        #expect(CKError.Code.changeTokenExpired.rawValue == 21)
        #expect(CKError.Code.zoneNotFound.rawValue == 26)
        #expect(CKError.Code.limitExceeded.rawValue == 27)
        #expect(CKError.Code.participantAlreadyInvited.rawValue == 37)
        #expect((1...37).allSatisfy { CKError.Code(rawValue: $0) != nil })
        #expect(CKError.Code(rawValue: 38) == nil)
    }

    @Test func theyAreCaughtByCode() {
        do {
            throw CKError(.zoneNotFound)
        } catch CKError.unknownItem {
            Issue.record("another code")
        } catch CKError.zoneNotFound {
        } catch {
            Issue.record(error)
        }
        do {
            throw CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 3.0])
        } catch let error as CKError where error.code == .zoneBusy {
            #expect(error.retryAfterSeconds == 3)
        } catch {
            Issue.record(error)
        }
    }

    @Test func asFoundationsErrors() {
        let error: any Error = CKError(.quotaExceeded, userInfo: [NSLocalizedDescriptionKey: "full"])
        let plain = error as NSError
        #expect(plain.domain == CKErrorDomain)
        #expect(plain.code == 25)
        #expect(plain.userInfo[NSLocalizedDescriptionKey] as? String == "full")
        #expect(error.localizedDescription == "full")
        #expect(CKError(_nsError: plain).code == .quotaExceeded)
        #expect(CKError(.quotaExceeded) == CKError(.quotaExceeded))
    }

    @Test func partialErrorsAreFoundInEveryForm() {
        let id = CKRecord.ID(recordName: "a")
        let error = CKError(partial: [id: CKError(.unknownItem)])
        #expect((error.partialErrorsByItemID?[id] as? CKError)?.code == .unknownItem)
        let info = error.userInfo[CKPartialErrorsByItemIDKey]
        #expect((info as? [AnyHashable: any Error])?.count == 1)
        #expect((info as? [NSObject: CKError])?[id]?.code == .unknownItem)
        #expect((info as? [CKRecord.ID: CKError])?[id]?.code == .unknownItem)
        #expect((info as? NSDictionary)?.count == 1)
    }

    /// Codes that apps repair by overwriting, uploading again or dropping what they have.
    private static let repaired: Set<CKError.Code> = [
        .serverRecordChanged, .unknownItem, .zoneNotFound, .userDeletedZone, .changeTokenExpired, .batchRequestFailed,
        .partialFailure, .limitExceeded, .alreadyShared, .assetNotAvailable, .participantAlreadyInvited,
    ]

    /// Every code of SealKit's, and what it is called here.
    private static let words: [SealKitError.Code: CKError.Code] = [
        .internalError: .internalError, .networkUnavailable: .networkUnavailable, .networkFailure: .networkFailure,
        .badContainer: .badContainer, .serviceUnavailable: .serviceUnavailable,
        .requestRateLimited: .requestRateLimited, .notAuthenticated: .notAuthenticated,
        .permissionFailure: .permissionFailure, .unknownItem: .unknownItem, .invalidArguments: .invalidArguments,
        .serverRecordChanged: .serverRecordChanged, .serverRejectedRequest: .serverRejectedRequest,
        .assetFileNotFound: .assetFileNotFound, .assetFileModified: .assetFileModified,
        .incompatibleVersion: .incompatibleVersion, .constraintViolation: .constraintViolation,
        .operationCancelled: .operationCancelled, .changeTokenExpired: .changeTokenExpired,
        .batchRequestFailed: .batchRequestFailed, .zoneBusy: .zoneBusy, .badDatabase: .badDatabase,
        .quotaExceeded: .quotaExceeded, .zoneNotFound: .zoneNotFound, .userDeletedZone: .userDeletedZone,
        .limitExceeded: .limitExceeded, .tooManyParticipants: .tooManyParticipants, .alreadyShared: .alreadyShared,
        .referenceViolation: .referenceViolation, .participantMayNeedVerification: .participantMayNeedVerification,
        .serverResponseLost: .serverResponseLost, .assetNotAvailable: .assetNotAvailable,
        .accountTemporarilyUnavailable: .accountTemporarilyUnavailable,
        .participantAlreadyInvited: .participantAlreadyInvited, .partialFailure: .partialFailure,
        .sessionExpired: .accountTemporarilyUnavailable, .keysReplaced: .accountTemporarilyUnavailable,
        .wrongPassphrase: .accountTemporarilyUnavailable, .accountSuspended: .accountTemporarilyUnavailable,
        .rosterChanged: .zoneBusy, .staleEpoch: .zoneBusy, .rotationDue: .zoneBusy, .storageFull: .quotaExceeded,
        .verificationFailed: .permissionFailure, .serverNotTrusted: .networkFailure,
        .deletionIncomplete: .serverRejectedRequest, .integrityFailure: .serverRejectedRequest,
        .rollback: .serverRejectedRequest,
    ]

    /// What SealKit says of a server that lies, or that is none of ours.
    private static let ofALyingServer: [SealKitError.Code] = [
        .integrityFailure, .rollback, .serverNotTrusted, .verificationFailed, .keysReplaced,
    ]

    @Test func whatDoesNotVerifyIsNothingThatAppsRepair() {
        for code in Self.ofALyingServer {
            let error = CKError(SealKitError(code, "a lie"))
            #expect(!Self.repaired.contains(error.code), "\(code)")
            #expect((error.userInfo[NSUnderlyingErrorKey] as? SealKitError)?.code == code)
        }
        #expect(CKError(SealKitError(.init(rawValue: "somethingNew"), "")).code == .internalError)
    }

    /// What an app would upload everything again for is never told by the server's word alone, whatever code it comes
    /// with.
    @Test func everyCodeHasItsWordAndNoneAResetThatIsTheServersWordAlone() {
        for (code, word) in Self.words {
            let said = SealKitError(code, "", userDidResetEncryptedDataKey: true)
            #expect(CKError(said).code == word, "\(code)")
            #expect(CKError(said).userInfo[CKErrorUserDidResetEncryptedDataKey] == nil, "\(code)")
        }
        #expect(Set(Self.words.values).isSubset(of: (1...37).compactMap { CKError.Code(rawValue: $0) }))
    }

    @Test func ownCodesHaveCloudKitsWords() {
        for code in [SealKitError.Code.rosterChanged, .staleEpoch, .rotationDue] {
            let error = CKError(SealKitError(code, ""))
            #expect(error.code == .zoneBusy)
            #expect(error.retryAfterSeconds == 1)
        }
        for code in [SealKitError.Code.sessionExpired, .keysReplaced, .wrongPassphrase] {
            #expect(CKError(SealKitError(code, "")).code == .accountTemporarilyUnavailable)
        }
        #expect(CKError(SealKitError(.storageFull, "")).code == .quotaExceeded)
        #expect(CKError(SealKitError(.requestRateLimited, "", retryAfter: 7)).retryAfterSeconds == 7)
        let reset = CKError(SealKitError(.zoneNotFound, "", userDidResetEncryptedDataKey: true), mayBeReset: true)
        #expect(reset.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
        #expect(CKError(any: CancellationError()).code == .operationCancelled)
    }
}
