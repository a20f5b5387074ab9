import Logging
import SealService
import SealStorage
import SealWire

/// Lets the operator in on the operator's listener: whoever has the operator's token, and nobody else.
struct OperatorGate: Sendable {
    let token: OperatorToken
    let rates: RequestRates
    let metrics: ServerMetrics
    let logger: Logger

    /// What is refused is counted by address, is a line in the log without a word of what came, and is told no more
    /// once there is too much of it. Whoever has the token is let in all the same: others cannot lock the operator out.
    /// - Throws: `notAuthenticated`, alike for no token and any other; `requestRateLimited`.
    func admit(_ given: Substring?, from client: [UInt8]) throws(ServerError) {
        if let given, token.isGood(given) { return }
        metrics.count(.operatorActions, "refused")
        try rates.count(.operatorTry, .client(client))
        logger.warning(
            "a request on the operator's listener was refused",
            metadata: ["token": given == nil ? "none" : "not the operator's"])
        throw ServerError(
            .notAuthenticated, "This listener is the operator's, and the request has no token of theirs.",
            remedy: "Send the line of the file \(OperatorToken.fileName) in the server's secrets folder as the bearer.")
    }
}
