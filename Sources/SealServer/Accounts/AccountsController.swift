import Hummingbird
import Logging
import SealService
import SealStorage
import SealWire

/// Making an account, logging in and out, and what an account is told about itself.
struct AccountsController: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    /// What an account's sessions have under way looks whether they are in force.
    let hasEndedUnsaid: @Sendable (_ account: Int64) -> Void
    let creation: CreateAccount
    let login: LogIn
    let clock: @Sendable () -> Int64

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.challenge) { message, _ in try login.challenge(message) }
        router.on(Endpoints.accounts.create) { try await creation.run($0, from: $1.context.client) }
        router.on(Endpoints.accounts.login) { message, call in
            let answer = try await login.run(message)
            if answer.isProvisional {
                call.context.logger.warning(
                    "the disk is full: a session is kept in memory", metadata: call.context.logged(call.request))
            }
            return answer.message
        }
        router.on(Endpoints.accounts.logout) { call in
            try await sessions.end(call.session, in: transactions.database)
            // A commit announces the end of others.
            if call.session.provisional != nil { hasEndedUnsaid(call.session.accountID) }
            return Sealkit_V1_AccountResponse()
        }
        router.on(Endpoints.accounts.me) { call in
            let now = clock()
            return try await transactions.read { try Accounts.answer(to: call.session, now: now, in: $0) }
        }
    }
}
