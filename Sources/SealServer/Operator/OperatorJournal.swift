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
        case importSchema = "import-schema"
        case resetSchema = "reset-schema"
        case rotateKeys = "rotate-keys"
    }

    /// Whose request is being answered: the operator's, unless somebody has signed in for one container.
    @TaskLocal static var manages: String?

    let metrics: ServerMetrics
    let logger: Logger

    /// - Parameter more: whose account, how many.
    func note(_ action: Action, _ more: Logger.Metadata = [:]) {
        metrics.count(.operatorActions, action.rawValue)
        var metadata: Logger.Metadata = ["who": "operator", "action": "\(action.rawValue)"]
        guard let container = Self.manages else {
            return logger.notice("the operator did something", metadata: metadata.merging(more) { $1 })
        }
        (metadata["who"], metadata["container"]) = ("manager", "\(container)")
        logger.notice("a container's manager did something", metadata: metadata.merging(more) { $1 })
    }
}
