package import SealWire

/// An error that tells the client what was wrong and what to do about it. It travels as a `Failure`.
package struct ServerError: Error, Sendable {
    package var code: ErrorCode
    /// For people. Never holds a secret, nor what a client sent.
    package var reason: String
    package var remedy: String
    /// Seconds; 0 when retrying is of no use.
    package var retryAfter: Double
    /// Replaces the code's own status (`ErrorCode.httpStatus`) where the transport has a more exact one: it alone sets
    /// this.
    package var exactStatus: Int?
    /// With `zoneNotFound`: the zone's keys were given up, and its owner's apps have to make it again.
    var userDidResetEncryptedData = false

    package init(_ code: ErrorCode, _ reason: String, remedy: String = "", retryAfter: Double = 0) {
        self.code = code
        self.reason = reason
        self.remedy = remedy
        self.retryAfter = retryAfter
    }

    /// Whether it is one item's of a batch alone, whose failure it becomes: what the server refuses about it. What the
    /// server fails at ends the request, and so does a zone that is busy, which passes by itself.
    package var isOfItem: Bool { code != .internalError && code != .zoneBusy }

    /// As part of an answer: the failure of one item of a batch.
    package var failure: Sealkit_V1_Failure {
        var failure = Sealkit_V1_Failure(code, reason, remedy: remedy, retryAfter: retryAfter)
        failure.userDidResetEncryptedData = userDidResetEncryptedData
        return failure
    }
}

extension ServerError {
    package static let storageFull = ServerError(
        .storageFull, "The server's disk is full; nothing was written.",
        remedy: "Try again later, or ask the server's operator to make room.", retryAfter: 60)

    /// Not one that passes by itself: the same request would hold everybody up for as long again.
    package static let overBudget = ServerError(
        .limitExceeded, "All other writes would have waited too long for this one; nothing of it was written.",
        remedy: "Send fewer at once.")
}
