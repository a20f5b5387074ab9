import HTTPTypes
import Hummingbird
import NIOHTTP1
import SealStorage
import SealWire

/// An error that tells the client what was wrong and what to do about it. It travels as a `Failure`, in the client's
/// encoding, with the code's HTTP status.
struct ServerError: Error, Sendable {
    var code: ErrorCode
    /// For people. Never holds a secret, nor what a client sent.
    var reason: String
    var remedy: String
    /// Seconds; 0 when retrying is of no use.
    var retryAfter: Double
    /// Replaces the code's own status, where HTTP has a more exact one (405, say).
    var statusOverride: HTTPResponse.Status?
    /// With `zoneNotFound`: the zone's keys were given up, and its owner's apps have to make it again.
    var userDidResetEncryptedData = false

    init(
        _ code: ErrorCode, _ reason: String, remedy: String = "", retryAfter: Double = 0,
        status: HTTPResponse.Status? = nil
    ) {
        self.code = code
        self.reason = reason
        self.remedy = remedy
        self.retryAfter = retryAfter
        statusOverride = status
    }

    /// As part of an answer: the failure of one item of a batch.
    var failure: Sealkit_V1_Failure {
        var failure = Sealkit_V1_Failure(code, reason, remedy: remedy, retryAfter: retryAfter)
        failure.userDidResetEncryptedData = userDidResetEncryptedData
        return failure
    }
}

extension ServerError: HTTPResponseError {
    var status: HTTPResponse.Status { statusOverride ?? HTTPResponse.Status(code: code.httpStatus) }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try Response(failure, for: request, status: status)
        if retryAfter > 0 { response.headers[.retryAfter] = String(Int(retryAfter.rounded(.up))) }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

extension ServerError {
    static let storageFull = ServerError(
        .storageFull, "The server's disk is full; nothing was written.",
        remedy: "Try again later, or ask the server's operator to make room.", retryAfter: 60)

    /// Not one that passes by itself: the same request would hold everybody up for as long again.
    static let overBudget = ServerError(
        .limitExceeded, "All other writes would have waited too long for this one; nothing of it was written.",
        remedy: "Send fewer at once.")

    /// What the client is told about an error, and whether the log should hold its details.
    static func describing(_ error: any Error, requestID: String) -> (error: ServerError, isInternal: Bool) {
        switch error {
        case let error as ServerError: return (error, error.code == .internalError)
        case StorageError.full, BlobStoreError.full: return (storageFull, true)
        case StorageError.closed, is CancellationError:
            return (
                ServerError(.serviceUnavailable, "The server is shutting down.", remedy: "Try again.", retryAfter: 2), false
            )
        case StorageError.busy:
            return (
                ServerError(
                    .zoneBusy, "Too many changes are waiting to be written; this one was not begun.", remedy: "Try again.",
                    retryAfter: 1), false
            )
        case StorageError.overBudget: return (overBudget, false)
        case BlobStoreError.notFound:
            return (ServerError(.assetNotAvailable, "The server does not have the asset's bytes."), false)
        case BlobStoreError.tooLarge(let limit):
            return (ServerError(.limitExceeded, "The upload is longer than \(limit) bytes."), false)
        case is HTTPParserError:
            // A client that went away in the middle of its request; nobody reads this.
            return (ServerError(.invalidArguments, "The request is not whole.", remedy: "Send it again."), false)
        case let error as any HTTPResponseError where (400..<500).contains(error.status.code):
            let code: ErrorCode = error.status == .contentTooLarge ? .limitExceeded : .invalidArguments
            return (
                ServerError(
                    code, "The request is not well formed.", remedy: "Check its path, headers and length.", status: error.status),
                false
            )
        default:
            return (
                ServerError(
                    .internalError, "The server failed. Its log has the details under request \(requestID).",
                    remedy: "Try again; if it happens again, tell the server's operator the request's number.",
                    retryAfter: 5), true
            )
        }
    }
}
