import Hummingbird
import SealService
import SealStorage
import SealWire

/// Making an account, logging in and out, and what an account is told about itself.
struct AccountsController: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let creation: CreateAccount
    let login: LogIn

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.challenge) { message, _ in try login.challenge(message) }
        router.on(Endpoints.accounts.create) { try await creation.run($0, from: $1.context.client) }
        router.on(Endpoints.accounts.login) { message, _ in try await login.run(message) }
        router.on(Endpoints.accounts.logout) { call in
            try await sessions.end(call.session, in: transactions.database)
            return Sealkit_V1_AccountResponse()
        }
        router.on(Endpoints.accounts.me) { call in
            try await transactions.read { try Accounts.answer(to: call.session, in: $0) }
        }
    }
}
