import Logging
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `1/operator/…`, on the operator's listener: accounts, usage, quotas, suspension, registration codes, a test of mail.
struct OperatorController: Sendable {
    let transactions: Transactions
    let accounts: OperatedAccounts
    let usage: ServerUsage
    let orders: AccountOrders
    let codes: RegistrationCodes
    let mail: TestMail
    /// Who may make an account, as settings spell it.
    let registration: String
    let journal: OperatorJournal

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.operator.accounts) { message, _ in
            let answer = try await transactions.read { [accounts] in try accounts.list(message, in: $0) }
            journal.note(.accounts, ["count": "\(answer.accounts.count)"])
            return answer
        }
        router.on(Endpoints.operator.usage) { message, _ in
            let answer = try await transactions.read { [usage] in try usage.run(message, in: $0) }
            journal.note(.usage, answer.hasAccount ? ["account": "\(answer.account.account)"] : [:])
            return answer
        }
        router.on(Endpoints.operator.quota) { message, _ in answer(.quota, try await orders.setQuota(message)) }
        router.on(Endpoints.operator.suspend) { message, _ in answer(.suspend, try await orders.suspend(message)) }
        router.on(Endpoints.operator.unsuspend) { message, _ in
            answer(.unsuspend, try await orders.unsuspend(message))
        }
        router.on(Endpoints.operator.invite) { message, _ in
            let made = try codes.make(message)
            journal.note(.invite, ["count": "\(made.count)"])
            return Sealkit_V1_MakeRegistrationCodesResponse.with {
                $0.codes = made
                $0.registration = registration
            }
        }
        router.on(Endpoints.operator.mailTest) { message, _ in
            let answer = try await mail.run(message)
            journal.note(.mailTest, ["taken": "\(answer.taken)"])
            return answer
        }
    }

    private func answer(
        _ action: OperatorJournal.Action, _ account: Sealkit_V1_OperatedAccount
    ) -> Sealkit_V1_OperatedAccountResponse {
        var more: Logger.Metadata = ["account": "\(account.account)"]
        if action == .quota { more["quota"] = "\(account.hasOwnLimit_p ? "\(account.bytesLimit)" : "default")" }
        journal.note(action, more)
        return .with { $0.account = account }
    }
}
