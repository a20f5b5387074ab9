import Logging
import SealService
import SealWire

/// `1/operator/events`, on the operator's listener: what happened to accounts, schemas, tokens and keys.
struct EventsController: Sendable {
    let transactions: Transactions
    let accounts: OperatedAccounts
    let journal: OperatorJournal

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.monitoring.events) { message, _ in
            let answer = try await transactions.read { [accounts] connection in
                try ManagementEvents.list(
                    message, of: try accounts.find(message.account, in: connection), in: connection)
            }
            journal.note(.events, ["count": "\(answer.events.count)"])
            return answer
        }
    }
}
