import Logging
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `1/operator/logs` and the queries that are kept for it, on the operator's listener.
struct LogController: Sendable {
    let telemetry: Telemetry
    let transactions: Transactions
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64
    let journal: OperatorJournal

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.monitoring.logs) { message, _ in
            try await entries(message)
        }
        router.on(Endpoints.monitoring.logQueries) { _, _ in
            let queries = try await saved()
            return Sealkit_V1_ListLogQueriesResponse.with { $0.queries = queries }
        }
        router.on(Endpoints.monitoring.saveLogQuery) { message, _ in
            try await save(message.query)
            return Sealkit_V1_SaveLogQueryResponse()
        }
        router.on(Endpoints.monitoring.removeLogQuery) { message, _ in
            try await remove(message.name)
            return Sealkit_V1_RemoveLogQueryResponse()
        }
    }

    func saved() async throws -> [Sealkit_V1_SavedLogQuery] {
        try await transactions.read { try SavedLogQueries.all(in: $0) }
    }

    func save(_ query: Sealkit_V1_SavedLogQuery) async throws {
        _ = try LogQuery(query.query, now: clock())
        try await transactions.write(at: .everything) { try SavedLogQueries.save(query, in: $0) }
        journal.note(.saveQuery)
    }

    func remove(_ name: String) async throws {
        try await transactions.write(at: .everything) { try SavedLogQueries.remove(name, in: $0) }
        journal.note(.removeQuery)
    }

    func entries(_ message: Sealkit_V1_LogRequest) async throws -> Sealkit_V1_LogResponse {
        var query = try LogQuery(message, now: clock())
        let limit = query.limit
        // One more than a page holds tells whether there is another one.
        query.limit += 1
        var answer = Sealkit_V1_LogResponse()
        answer.state = telemetry.logState.rawValue
        answer.unlogged = UInt64(clamping: telemetry.recorder?.unlogged ?? 0)
        guard telemetry.recorder?.hasLog == true else { return answer }
        do {
            let asked = query
            let found = try await telemetry.reading { try await $0.entries(asked) }
            answer.entries = found.prefix(limit).map(Sealkit_V1_LogEntry.init)
            if found.count > limit, let last = found.prefix(limit).last { answer.cursor = last.place.cursor }
        } catch is TelemetryFileError {
            // It was put aside: there is nothing to be told.
        }
        answer.state = telemetry.logState.rawValue
        journal.note(.logs, ["count": "\(answer.entries.count)"])
        return answer
    }
}

extension Sealkit_V1_LogEntry {
    init(_ entry: LogEntry) {
        self.init()
        time = entry.time
        (operation, container, environment) = (entry.key.operation, entry.key.container, entry.key.environment)
        (database, client, group, code) = (entry.key.database, entry.key.client, entry.key.group, entry.key.code)
        groupID = LogText.hex(entry.groupID)
        microseconds = UInt64(clamping: entry.microseconds)
        bytesIn = UInt64(clamping: entry.bytesIn)
        bytesOut = UInt64(clamping: entry.bytesOut)
        refusedItems = UInt32(clamping: entry.refusedItems)
        user = LogText.user(entry.user)
        request = entry.request
    }
}
