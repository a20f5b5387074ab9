import Hummingbird
import Logging
import SealService
import SealStorage
import SealWire

/// Making an account, logging in and out, and what an account is told about itself.
struct AccountsController: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let creation: CreateAccount
    let login: LogIn
    /// Has the event streams of an account look whether their session has ended.
    let wakeStreams: @Sendable (Int64) -> Void
    let clock: @Sendable () -> Int64

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.challenge) { message, _ in try login.challenge(message) }
        router.on(Endpoints.accounts.create) { try await creation.run($0, from: $1.context.client) }
        router.on(Endpoints.accounts.login) { message, call in
            let answer = try await login.run(message)
            if let account = answer.provisionalOf {
                // The account's oldest may have ended for it, and no commit announces that.
                wakeStreams(account)
                call.context.logger.warning(
                    "the disk is full: a session is kept in memory", metadata: call.context.logged(call.request))
            }
            return answer.message
        }
        router.on(Endpoints.accounts.logout) { call in
            try await sessions.end(call.session, in: transactions.database)
            // Nor that of one that was never written.
            if call.session.provisional != nil { wakeStreams(call.session.accountID) }
            return Sealkit_V1_AccountResponse()
        }
        router.on(Endpoints.accounts.me) { call in
            let now = clock()
            return try await transactions.read { try Accounts.answer(to: call.session, now: now, in: $0) }
        }
    }
}
