import SealStorage

/// Why an S3 store did not do what it was asked.
struct S3Failure: Error, Equatable {
    enum Cause: Equatable {
        /// By its status and the code of its error; the code is empty where the answer has none of S3's.
        case answered(status: Int, code: String)
        /// Nobody there, or gone in the middle.
        case unreachable(String)
        /// An answer that cannot be.
        case untrue(String)
    }

    let cause: Cause
    /// Whether an earlier try may have done it all the same: its answer was lost.
    var follows = false

    init(_ cause: Cause) { self.cause = cause }

    /// - Parameter code: as the store has it: what may not stand in a log is left out.
    init(status: Int, code: String) {
        let isPlain = code.utf8.count <= 64 && code.utf8.allSatisfy(S3Signature.isUnreserved)
        self.init(.answered(status: status, code: isPlain ? code : ""))
    }

    static func untrue(_ what: String) -> S3Failure { S3Failure(.untrue(what)) }

    /// Whether another try, a little later, may go better.
    var mayPass: Bool {
        switch cause {
        case .unreachable: true
        case .untrue: false
        case .answered(let status, let code):
            [408, 425, 429, 500, 502, 503, 504].contains(status)
                || Self.passing.contains(code)
        }
    }

    /// The last two: something else is under way with that name.
    private static let passing: Set<String> = [
        "RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable", "ConditionalRequestConflict",
        "OperationAborted",
    ]

    /// Whether somebody else's credentials, or newer ones, would be let in.
    var isOfCredentials: Bool {
        guard case .answered(let status, let code) = cause, (400..<404).contains(status) else { return false }
        return ["ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"]
            .contains(code) || (code.isEmpty && status != 400)
    }

    /// Whether there is no such object, or no such upload. A bucket that is not there is another matter.
    var isNotFound: Bool {
        guard case .answered(_, let code) = cause else { return false }
        return ["NoSuchKey", "NoSuchUpload"].contains(code)
    }

    /// Whether something of that name was there.
    var isTaken: Bool {
        guard case .answered(let status, _) = cause else { return false }
        return status == 412
    }

    /// Whether there is no room for more.
    var isFull: Bool {
        guard case .answered(let status, let code) = cause else { return false }
        return status == 507 || ["XMinioStorageFull", "QuotaExceeded", "InsufficientCapacity"].contains(code)
    }

    /// Whether the store does not know what it was asked.
    var isUnknownToStore: Bool {
        guard case .answered(let status, let code) = cause else { return false }
        return status == 501 || code == "NotImplemented"
    }
}

extension BlobStoreError {
    init(_ failure: S3Failure) {
        switch failure.cause {
        case .unreachable(let what): self = .unavailable("the S3 store does not answer: \(what)")
        case .untrue(let what): self = .untrue("the S3 store answered \(what)")
        case .answered(let status, let code):
            let answer = code.isEmpty ? "status \(status), and no error of S3's" : "\(code) (\(status))"
            if failure.isFull {
                self = .full
            } else if failure.mayPass {
                self = .unavailable("the S3 store says \(answer)")
            } else {
                self = .refused("the S3 store says \(answer)" + (Self.remedy(status, code).map { ": \($0)" } ?? ""))
            }
        }
    }

    private static func remedy(_ status: Int, _ code: String) -> String? {
        switch code {
        case "ExpiredToken", "ExpiredTokenException", "InvalidToken":
            "the credentials have ended; write new ones into the file of --s3-credentials"
        case "InvalidAccessKeyId": "it does not know the access key"
        case "SignatureDoesNotMatch":
            "the secret key is not that of the access key, or something between changes requests"
        case "RequestTimeTooSkewed": "the clock of this machine and the store's differ; set them"
        case "AccessDenied", "AllAccessDisabled": "the access key may not do that in the bucket"
        case "NoSuchBucket": "there is no such bucket; make it, or name another one with --blobs"
        case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
            "the bucket is in another region; name it with region=… in --blobs"
        case "" where status == 404: "it is no S3 store, or has no such bucket"
        case "" where [401, 403].contains(status): "it does not let the access key in"
        case "": "look at endpoint=… in --blobs"
        default: nil
        }
    }
}
