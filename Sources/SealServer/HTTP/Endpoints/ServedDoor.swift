import Hummingbird
import SealService
import SealWire

/// What endpoints let requests in by, beside what comes with the request.
final class ServedDoor: Sendable {
    let transactions: Transactions
    /// Of a wire message, in bytes.
    let maximumMessageSize: Int
    private let management: ManagementTokens
    private let gate: OperatorGate
    private let clock: @Sendable () -> Int64

    init(
        transactions: Transactions, management: ManagementTokens, gate: OperatorGate, maximumMessageSize: Int,
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.transactions, self.management, self.gate, self.clock) = (transactions, management, gate, clock)
        self.maximumMessageSize = maximumMessageSize
    }

    /// For a form of the console's that needs the operator's management token beside the session.
    /// - Throws: `notAuthenticated`; `permissionFailure` for a container's token.
    func requireOperator(managementToken token: String) async throws {
        try await management.requireOperator(token[...], transactions, now: clock())
    }

    /// For somebody who signs in to the console with a container's token.
    /// - Throws: `notAuthenticated`; `permissionFailure` for the operator's management token.
    func grant(managementToken token: String) async throws -> ManagementTokens.Grant {
        try await management.grant(of: token[...], transactions, now: clock())
    }

    func isGood(_ grant: ManagementTokens.Grant) async throws -> Bool {
        try await ManagementTokens.isGood(grant, transactions, now: clock())
    }

    /// For calls about one container.
    /// - Throws: `notAuthenticated`; `permissionFailure` for another container's token.
    func requireManager(of container: String, _ request: Request) async throws {
        try await management.require(request.bearerToken, for: container, transactions, now: clock())
    }

    /// For calls that only the server's operator may make.
    /// - Throws: `notAuthenticated`; `permissionFailure` for a container's token.
    func requireOperator(_ request: Request) async throws {
        try await management.requireOperator(request.bearerToken, transactions, now: clock())
    }

    /// For calls on the operator's listener.
    /// - Throws: `notAuthenticated`, `requestRateLimited`.
    func requireOnOperatorListener(_ request: Request, _ context: SealRequestContext) throws(ServerError) {
        try gate.admit(request.bearerToken, from: context.client)
    }
}
