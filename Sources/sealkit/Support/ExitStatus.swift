import SealKit

/// What the process's exit code says, so that scripts need not read texts.
enum ExitStatus: Int32, CaseIterable {
    case ok = 0
    case usage = 64
    case badInput = 65
    case notFound = 66
    case network = 69
    case other = 70
    case attention = 72
    case cannotWrite = 73
    case tryLater = 75
    case integrity = 76
    case permission = 77
    case conflict = 79
    case cancelled = 130

    init(_ code: SealKitError.Code) {
        switch code {
        case .invalidArguments, .badContainer, .badDatabase, .limitExceeded, .referenceViolation, .constraintViolation,
            .tooManyParticipants, .alreadyShared, .participantAlreadyInvited:
            self = .badInput
        case .unknownItem, .zoneNotFound, .userDeletedZone, .assetNotAvailable, .assetFileNotFound: self = .notFound
        case .networkFailure, .networkUnavailable, .serverResponseLost, .serverNotTrusted: self = .network
        case .storageFull, .quotaExceeded, .outputNotWritten: self = .cannotWrite
        case .requestRateLimited, .serviceUnavailable, .zoneBusy, .accountTemporarilyUnavailable, .rotationDue,
            .rosterChanged,
            .staleEpoch, .deletionIncomplete, .assetFileModified:
            self = .tryLater
        case .integrityFailure, .rollback: self = .integrity
        case .notAuthenticated, .permissionFailure, .wrongPassphrase, .sessionExpired, .keysReplaced,
            .accountSuspended, .verificationFailed, .participantMayNeedVerification:
            self = .permission
        case .serverRecordChanged: self = .conflict
        case .operationCancelled: self = .cancelled
        default: self = .other
        }
    }

    private var meaning: String {
        switch self {
        case .ok: "done"
        case .usage: "the command line is not understood"
        case .badInput: "bad input: a value, URL or name that cannot be used"
        case .notFound:
            "no such record, zone, share, account or file; a recovery key or passphrase that brings none back"
        case .network: "the server cannot be reached, or does not prove who it is"
        case .other: "any other failure"
        case .attention:
            "nothing is wrong, and something waits for your word: a device that nobody has acknowledged, older backups that could not be removed"
        case .cannotWrite:
            "a file or standard output cannot be written (its reader has gone, say), or there is no space left"
        case .tryLater: "try again later: too many requests, or somebody else is at work"
        case .integrity: "what the server showed does not verify, or was rolled back; data or a backup is damaged"
        case .permission:
            "not allowed, not logged in, an account that is suspended, wrong passphrase of a key file, wrong code"
        case .conflict: "the record was changed by somebody else meanwhile"
        case .cancelled:
            "cancelled: by an answer, or by SIGINT (^C), SIGTERM, SIGHUP or SIGQUIT, at the second of which it ends uncleaned"
        }
    }

    static var help: String {
        "EXIT CODES:\n" + allCases.map { "  \($0.rawValue)".padded(to: 6) + $0.meaning }.joined(separator: "\n")
    }
}
