/// Everything that the server measures. Labels hold words of the server's own, never a word of a client's: no ids,
/// names or addresses.
package enum ServerMetric: String, CaseIterable, Sendable {
    case requests = "sealkit_requests_total"
    case requestSeconds = "sealkit_request_seconds"
    case failures = "sealkit_failures_total"
    case refusals = "sealkit_refusals_total"
    case requestsUnderWay = "sealkit_requests_under_way"
    case requestBytes = "sealkit_request_bytes_under_way"
    case answerBytes = "sealkit_answer_bytes_under_way"

    case groupWrites = "sealkit_storage_group_writes"
    case waitSeconds = "sealkit_storage_wait_seconds"
    case writeSeconds = "sealkit_storage_write_seconds"
    case commitSeconds = "sealkit_storage_commit_seconds"
    case writesWaiting = "sealkit_storage_writes_waiting"
    case commits = "sealkit_storage_commits_total"
    case triesAgain = "sealkit_storage_tries_again_total"
    case connects = "sealkit_storage_connects_total"
    case readConnections = "sealkit_storage_read_connections"
    case readsRunning = "sealkit_storage_reads_running"
    case readsWaiting = "sealkit_storage_reads_waiting"
    case servers = "sealkit_storage_servers"
    case standbys = "sealkit_storage_standbys"
    case replicationBytes = "sealkit_storage_replication_delay_bytes"
    case replicationSeconds = "sealkit_storage_replication_delay_seconds"

    case jobRuns = "sealkit_job_runs_total"
    case jobSeconds = "sealkit_job_seconds"
    case jobsRunning = "sealkit_job_running"
    case jobLastDone = "sealkit_job_last_done_timestamp_seconds"

    case messages = "sealkit_messages_total"
    case messagesWaiting = "sealkit_messages_waiting"
    case webhooks = "sealkit_webhook_deliveries_total"
    case streamsOpened = "sealkit_streams_opened_total"
    case streams = "sealkit_streams_open"
    case notifications = "sealkit_notifications_total"

    case sharing = "sealkit_sharing_total"
    case keysDue = "sealkit_keys_due"
    case keysDueSeconds = "sealkit_keys_due_seconds"
    case keysOutdated = "sealkit_keys_outdated"
    case keysBehind = "sealkit_keys_behind"

    case alertsFiring = "sealkit_alerts_firing"
    case alertMessages = "sealkit_alert_messages_total"

    case operatorActions = "sealkit_operator_actions_total"

    case dataFreeBytes = "sealkit_data_free_bytes"
    case residentBytes = "sealkit_memory_resident_bytes"
    case heapUsed = "sealkit_memory_heap_used_bytes"
    case heapKept = "sealkit_memory_heap_kept_bytes"
    case databaseMemory = "sealkit_memory_database_bytes"
    case certificateExpires = "sealkit_certificate_expires_timestamp_seconds"

    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package var kind: Kind {
        switch self {
        case .requests, .failures, .refusals, .jobRuns, .messages, .webhooks, .streamsOpened, .alertMessages,
            .operatorActions, .commits, .triesAgain, .connects, .notifications, .sharing:
            .counter
        case .requestSeconds, .groupWrites, .waitSeconds, .writeSeconds, .commitSeconds, .jobSeconds: .histogram
        case .requestsUnderWay, .requestBytes, .answerBytes, .writesWaiting, .jobsRunning, .jobLastDone,
            .messagesWaiting, .streams, .alertsFiring, .dataFreeBytes, .certificateExpires, .residentBytes,
            .heapUsed, .heapKept, .databaseMemory, .readConnections, .readsRunning, .readsWaiting, .servers, .standbys,
            .replicationBytes, .replicationSeconds, .keysDue, .keysDueSeconds, .keysOutdated, .keysBehind:
            .gauge
        }
    }

    /// The names of its labels, in the order in which values are given.
    package var labels: [String] {
        switch self {
        case .requests: ["endpoint", "status"]
        case .requestSeconds: ["endpoint"]
        case .failures: ["code"]
        case .refusals: ["limit"]
        case .commits: ["engine", "outcome"]
        case .triesAgain: ["engine"]
        case .connects: ["kind"]
        case .jobRuns: ["job", "outcome"]
        case .jobSeconds, .jobsRunning, .jobLastDone: ["job"]
        case .messages: ["kind", "outcome"]
        case .webhooks: ["outcome"]
        case .notifications: ["way", "outcome"]
        case .sharing: ["event"]
        case .alertMessages: ["way", "outcome"]
        case .operatorActions: ["action"]
        default: []
        }
    }

    package var help: String {
        switch self {
        case .requests: "Requests that were answered, by endpoint and HTTP status."
        case .requestSeconds: "Time until the answer was ready, by endpoint."
        case .failures: "Requests that were answered with a failure, or whose answer broke off by one, by its code."
        case .refusals: "What was refused for a limit, by the limit."
        case .requestsUnderWay: "Requests that are being worked on."
        case .requestBytes: "Bytes of requests that are being worked on, and of what these become in memory."
        case .answerBytes: "Bytes of answers that clients have not taken yet."
        case .groupWrites: "Transactions in one commit."
        case .waitSeconds: "Time that a transaction waited for the writer."
        case .writeSeconds: "Time that a transaction held the writer."
        case .commitSeconds: "Time that a commit took."
        case .writesWaiting: "Transactions that wait for the writer."
        case .commits: "Commits of the database, by engine and how they ended: done or failed."
        case .triesAgain:
            "Commits that were begun anew, since another transaction was in their way or the connection was lost."
        case .connects: "Connections that were opened to PostgreSQL, by kind: writer or reader."
        case .readConnections: "Connections that read, at work or not."
        case .readsRunning: "Reads that are at work."
        case .readsWaiting: "Reads that wait for a connection."
        case .servers: "Servers that serve the database, this one among them, as far as it knows."
        case .standbys: "Standbys that follow the PostgreSQL database; NaN while it is away."
        case .replicationBytes:
            "Bytes of PostgreSQL's log that the standby which is furthest behind has not replayed; NaN where nobody can tell."
        case .replicationSeconds:
            "Time by which that standby is behind, as PostgreSQL measures it; 0 where nothing is under way, NaN where nobody can tell."
        case .jobRuns: "Runs of a job, by how they ended: done, failed, stopped, or elsewhere (another server has it)."
        case .jobSeconds: "Time that a run of a job took."
        case .jobsRunning: "1 while the job runs."
        case .jobLastDone: "When the job was last done, in seconds since 1970."
        case .messages:
            "Messages with codes, by kind and what became of an attempt to send them: sent, failed or given-up."
        case .messagesWaiting: "Messages with codes that wait or are being sent."
        case .webhooks: "Deliveries to webhooks, by what became of them: taken, refused or given-up."
        case .streamsOpened: "Event streams that were opened."
        case .streams: "Event streams that are open."
        case .notifications:
            "Notifications, by way (stream or webhook) and outcome: sent, coalesced (told together with a later one) or refused."
        case .sharing:
            "What was done with shares: invitation, acceptance-app, acceptance-page (in a browser) or rotation (a new key)."
        case .keysDue: "Zones and shares in which a new key is due, as of the last round."
        case .keysDueSeconds:
            "For how long the oldest of them has been due, by the clock of whoever left or changed keys."
        case .keysOutdated: "Zones and shares with a record under an older key than their newest, as of the last round."
        case .keysBehind:
            "By how many keys the oldest one in use is behind the newest of its zone or share: the most of any."
        case .alertsFiring: "Alerts that fire at present."
        case .alertMessages:
            "Messages of alerts, by way and what became of an attempt to send them: taken, refused or given-up."
        case .operatorActions: "What the operator did on the operator's listener, and what was refused there."
        case .dataFreeBytes: "Bytes that are free where the data folder is."
        case .residentBytes: "Bytes of memory that the process has, with what it has mapped of its files."
        case .heapUsed: "Bytes of memory that the program uses."
        case .heapKept: "Bytes of memory that the program has given back, and the allocator keeps for what comes."
        case .databaseMemory: "Bytes of memory that SQLite uses."
        case .certificateExpires: "When the server's own certificate expires, in seconds since 1970."
        }
    }

    /// Upper bounds of a histogram's buckets, in its unit.
    package var buckets: [Double] {
        switch self {
        case .groupWrites: [1, 2, 4, 8, 16, 32, 64, 128, 256]
        case .jobSeconds: [0.001, 0.01, 0.1, 1, 10, 60, 600]
        default: [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
        }
    }
}
