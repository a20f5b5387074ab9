import Logging
import SealService
import SealStorage

/// What the console's pages read, and change by the use cases that the operator's commands have.
struct ConsoleServices: Sendable {
    let configuration: ServerConfiguration
    let origin: ServerOrigin
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64
    let logger: Logger
    let metrics: ServerMetrics
    let transactions: Transactions
    let sessions: Sessions
    let jobs: Jobs
    let rates: RequestRates
    let randomBytes: @Sendable (Int) -> [UInt8]
    let door: ServedDoor
    let schemas: SchemaStore
    let query: QueryRecords
    let modification: ModifyRecords
    let consoleKeys: ConsoleKeys
    let webhooks: WebhookSender
    let webhookTargets: WebhookTargets
    let outbox: Outbox
    let streams: EventStreams
    let tokenKeys: TokenKeys
    let webhookKeys: TokenKeys
    let operatorGate: OperatorGate
    let operatedAccounts: OperatedAccounts
    let telemetry: Telemetry
    let alertWatch: AlertWatch
    let alertMessages: AlertMessages
    let condition: ServerCondition
    let keyWatch: KeyWatch
    /// Nil where the program was built without the web client.
    let webBundle: WebBundle?
}
