import Logging
import SealStorage

/// What the operator did, as the log and the metrics have it: one line each, and no address, code or token in it.
struct OperatorJournal: Sendable {
    enum Action: String {
        case accounts, usage, quota, suspend, unsuspend, invite, telemetry, logs, events, alerts
        case mailTest = "mail-test"
        case saveQuery = "save-query"
        case removeQuery = "remove-query"
        case addAlert = "add-alert"
        case removeAlert = "remove-alert"
        case testAlert = "test-alert"
        case signIn = "sign-in"
        case deploy, data, access, subscriptions
        case changeRecord = "change-record"
        case deleteRecord = "delete-record"
        case makeToken = "make-token"
        case revokeToken = "revoke-token"
        case revokeKey = "revoke-key"
        case testWebhook = "test-webhook"
        case hurryWebhook = "hurry-webhook"
    }

    let metrics: ServerMetrics
    let logger: Logger

    /// - Parameter more: whose account, how many.
    func note(_ action: Action, _ more: Logger.Metadata = [:]) {
        metrics.count(.operatorActions, action.rawValue)
        let metadata: Logger.Metadata = ["who": "operator", "action": "\(action.rawValue)"]
        logger.notice("the operator did something", metadata: metadata.merging(more) { $1 })
    }
}
