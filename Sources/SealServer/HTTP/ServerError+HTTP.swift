import HTTPTypes
import Hummingbird
import NIOHTTP1
import SealService
import SealStorage
import SealWire

/// In the client's encoding, with the code's HTTP status.
extension ServerError: HTTPResponseError {
    /// One with a more exact status than its code's: 405, say.
    init(
        _ code: ErrorCode, _ reason: String, remedy: String = "", retryAfter: Double = 0, status: HTTPResponse.Status
    ) {
        self.init(code, reason, remedy: remedy, retryAfter: retryAfter)
        exactStatus = status.code
    }

    var status: HTTPResponse.Status { HTTPResponse.Status(code: exactStatus ?? code.httpStatus) }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try Response(failure, for: request, status: status)
        if retryAfter > 0 { response.headers[.retryAfter] = String(Int(retryAfter.rounded(.up))) }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

extension ServerError {
    /// What the client is told about an error, and whether the log should hold its details.
    static func describing(_ error: any Error, requestID: String) -> (error: ServerError, isInternal: Bool) {
        switch error {
        case let error as ServerError: return (error, error.code == .internalError)
        case StorageError.full, BlobStoreError.full: return (storageFull, true)
        case StorageError.closed, is CancellationError:
            return (
                ServerError(.serviceUnavailable, "The server is shutting down.", remedy: "Try again.", retryAfter: 2),
                false
            )
        case StorageError.busy:
            return (
                ServerError(
                    .zoneBusy, "Too many changes are waiting to be written; this one was not begun.",
                    remedy: "Try again.",
                    retryAfter: 1), false
            )
        case StorageError.overBudget: return (overBudget, false)
        // The one that was there at the start is gone, and what is found in its place is a standby, say.
        case StorageError.unavailable, StorageError.unsuitable, StorageError.inUse:
            return (
                ServerError(
                    .serviceUnavailable, "The server cannot reach its database.", remedy: "Try again.", retryAfter: 5),
                true
            )
        case StorageError.zeroCharacter:
            return (
                ServerError(
                    .invalidArguments, "A text has the character U+0000, which the server's database does not hold.",
                    remedy: "Leave it out."), false
            )
        case BlobStoreError.notFound:
            return (ServerError(.assetNotAvailable, "The server does not have the asset's bytes."), false)
        case BlobStoreError.unavailable, BlobStoreError.refused, BlobStoreError.untrue:
            return (
                ServerError(
                    .serviceUnavailable, "The server's store of assets does not do this now.", remedy: "Try again.",
                    retryAfter: 5), true
            )
        case BlobStoreError.tooLarge(let limit):
            return (ServerError(.limitExceeded, "The upload is longer than \(limit) bytes."), false)
        case is HTTPParserError:
            // A client that went away in the middle of its request; nobody reads this.
            return (ServerError(.invalidArguments, "The request is not whole.", remedy: "Send it again."), false)
        case let error as any HTTPResponseError where (400..<500).contains(error.status.code):
            let code: ErrorCode = error.status == .contentTooLarge ? .limitExceeded : .invalidArguments
            return (
                ServerError(
                    code, "The request is not well formed.", remedy: "Check its path, headers and length.",
                    status: error.status),
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
