import Foundation
import Logging
import SealService
import SealStorage
import SealWire
import SwiftProtobuf
import Synchronization

/// Sends notifications to webhooks, at least once: what is to be sent and how far each webhook got is in the database,
/// so a restart goes on where it was. A receiver that fails is tried again for a day, less and less often.
final class WebhookSender: Sendable {
    private let keys: TokenKeys
    private let targets: WebhookTargets
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let metrics: ServerMetrics
    private let telemetry: TelemetryRecorder?
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    private struct State {
        var inFlight: Set<String> = []
        var byOrigin: [String: Int] = [:]
        /// The first of this run that was not a receiver's.
        var failure: (any Error)?
    }
    private let state = Mutex(State())
    /// Made for the first delivery; its connections are kept for the next.
    private enum Client {
        case none
        case made(SignedClient)
        /// An operator's test may come while the server stops.
        case closed
    }
    private let client = Mutex(Client.none)

    /// Deliveries under way at once.
    private static let most = 32
    private static let mostPerOrigin = 4
    /// A day, in microseconds: then what waits is given up.
    static let patience: Int64 = 86_400_000_000
    private static let longestWait: Int64 = 3_600_000_000

    init(
        keys: TokenKeys, targets: WebhookTargets, clock: @escaping @Sendable () -> Int64, logger: Logger,
        metrics: ServerMetrics, telemetry: TelemetryRecorder?
    ) {
        self.telemetry = telemetry
        (self.keys, self.targets) = (keys, targets)
        (self.clock, self.logger, self.metrics) = (clock, logger, metrics)
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Something may be due; heard while others are being sent.
    func wake() { signal.yield() }

    /// Whether any webhook has something to send, now or later.
    func hasWork(in connection: any SQLConnection) throws -> Bool {
        guard !targets.origins.isEmpty else { return false }
        return try connection.exists("SELECT 1 FROM webhook WHERE \(WebhookRow.isDue) LIMIT 1")
    }

    /// Sends all that is due, and what becomes due meanwhile.
    /// - Returns: when the next one will be due, in microseconds since 1970.
    func run(_ turn: JobTurn) async throws -> Int64? {
        state.withLock { $0.failure = nil }
        let client = try made()
        // Nothing wakes it while a receiver takes its time.
        return try await turn.keeping { try await send(turn, client).get() }
    }

    private func made() throws(CancellationError) -> SignedClient {
        try client.withLock { (client) throws(CancellationError) in
            switch client {
            case .closed: throw CancellationError()
            case .made(let made): return made
            case .none:
                let made = SignedClient(keys: keys, clock: clock)
                client = .made(made)
                return made
            }
        }
    }

    /// Sends a webhook a delivery of no notifications, signed like any other.
    /// - Returns: what came of it, in words; nothing of the URL is in them.
    func test(_ webhook: WebhookRow) async -> (isTaken: Bool, answer: String) {
        guard targets.allows(webhook.url) else { return (false, "its origin is not allowed any more") }
        let delivery = Sealkit_V1_WebhookDelivery.with { $0.deliveryID = webhook.testID(at: clock()) }
        do {
            let (isTaken, status) = try await made().post(delivery, to: webhook.url)
            return (isTaken, "it answered with status \(status)")
        } catch {
            // Whatever the client says of it could repeat the URL, which may hold a secret.
            return (false, "it did not answer")
        }
    }

    /// Once nothing runs any more.
    func close() async {
        let made = client.withLock { client -> SignedClient? in
            defer { client = .closed }
            return if case .made(let made) = client { made } else { nil }
        }
        do { try await made?.close() } catch {
            logger.debug("the webhooks' client did not close cleanly", metadata: ["error": "\(type(of: error))"])
        }
    }

    /// What is on its way is waited for, also where the rest cannot be looked up; it is cut short when the server
    /// stops.
    private func send(_ turn: JobTurn, _ client: SignedClient) async -> Result<Int64?, any Error> {
        await withDiscardingTaskGroup { group in
            var signals = signals.makeAsyncIterator()
            do {
                while true {
                    if let failure = state.withLock({ $0.failure }) { throw failure }
                    let (due, next) = try await look(turn)
                    if !due.isEmpty { try await turn.keep() }
                    for webhook in due where reserve(webhook) {
                        group.addTask {
                            await self.deliver(webhook, turn, client)
                            self.release(webhook)
                        }
                    }
                    guard state.withLock({ !$0.inFlight.isEmpty }) else { return .success(next) }
                    let timer = next.map { next in
                        Task { [signal] in
                            do { try await Task.sleep(for: .microseconds(max(10_000, next - clock()))) } catch {
                                return
                            }
                            signal.yield()
                        }
                    }
                    // Until one is delivered, more is announced, or the next is due; nil once the server stops.
                    let heard: Void? = await signals.next()
                    timer?.cancel()
                    if heard == nil { throw CancellationError() }
                }
            } catch {
                return .failure(error)
            }
        }
    }

    // MARK: Whose turn it is

    /// What is due, and when the next one will be.
    private func look(_ turn: JobTurn) async throws -> (due: [WebhookRow], next: Int64?) {
        let now = clock()
        let (busy, byOrigin) = state.withLock { ($0.inFlight, $0.byOrigin) }
        return try await turn.read { connection in
            var due: [WebhookRow] = []
            // Each origin for itself: however many wait for a slow one, those of the others are seen.
            var origin =
                try connection.first("SELECT MIN(origin) AS first FROM webhook WHERE due > 0", []) {
                    try $0.optionalText("first")
                } ?? nil
            while let current = origin {
                let underWay = byOrigin[current, default: 0]
                let room = max(Self.mostPerOrigin - underWay, 0)
                try connection.run(
                    "SELECT \(WebhookRow.columns) FROM webhook WHERE origin = $1 AND due <= $2 AND \(WebhookRow.isDue) ORDER BY due LIMIT $3",
                    [.text(current), .integer(now), .integer(Int64(room + underWay))]
                ) { row in
                    let webhook = try WebhookRow(row)
                    if !busy.contains(webhook.name) { due.append(webhook) }
                    return true
                }
                origin =
                    try connection.first(
                        "SELECT MIN(origin) AS first FROM webhook WHERE due > 0 AND origin > $1", [.text(current)]
                    ) { try $0.optionalText("first") } ?? nil
            }
            due.sort { $0.due < $1.due }
            let next = try connection.first(
                "SELECT due FROM webhook WHERE due > $1 AND \(WebhookRow.isDue) ORDER BY due LIMIT 1", [.integer(now)]
            ) { try $0.int64("due") }
            return (due, next)
        }
    }

    private func reserve(_ webhook: WebhookRow) -> Bool {
        let origin = WebhookTargets.origin(of: webhook.url) ?? ""
        return state.withLock { state in
            guard state.inFlight.count < Self.most, state.byOrigin[origin, default: 0] < Self.mostPerOrigin,
                state.inFlight.insert(webhook.name).inserted
            else { return false }
            state.byOrigin[origin, default: 0] += 1
            return true
        }
    }

    private func release(_ webhook: WebhookRow) {
        let origin = WebhookTargets.origin(of: webhook.url) ?? ""
        state.withLock { state in
            state.inFlight.remove(webhook.name)
            let left = (state.byOrigin[origin] ?? 1) - 1
            state.byOrigin[origin] = left > 0 ? left : nil
        }
        // Others may have waited for the place.
        signal.yield()
    }

    // MARK: One delivery

    private func deliver(_ webhook: WebhookRow, _ turn: JobTurn, _ client: SignedClient) async {
        do {
            let entries = try await turn.read { connection -> [NotificationFeed.Entry]? in
                try webhook.isHeld(in: connection) ? nil : try NotificationFeed.page(of: webhook, in: connection)
            }
            // Suspended meanwhile: it stays due until that is undone.
            guard let entries else { return }
            guard let last = entries.last?.id else {
                try await settle(webhook, delivered: webhook.delivered, turn)
                return
            }
            if try await send(entries.map(\.message), upTo: last, to: webhook, client) {
                metrics.count(.webhooks, "taken")
                count(entries, refused: false)
                try await settle(webhook, delivered: last.number, turn)
            } else {
                metrics.count(.webhooks, "refused")
                count(entries, refused: true)
                try await postpone(webhook, turn)
            }
        } catch {
            // What was taken and could not be noted would be sent again at once: the run ends, and the next one waits.
            state.withLock { $0.failure = $0.failure ?? error }
        }
    }

    private func count(_ entries: [NotificationFeed.Entry], refused: Bool) {
        guard let first = entries.first?.message else { return }
        metrics.count(.notifications, "webhook", refused ? "refused" : "sent", by: entries.count)
        // All are of one subscription.
        let place = TelemetryPlace(container: first.container, environment: first.environment)
        telemetry?.note(
            .event(.notification, "webhook", in: place, code: refused ? "refused" : ""), count: entries.count)
    }

    /// Whether the receiver took it. What it answers beside its status does not count.
    private func send(
        _ notifications: [Sealkit_V1_Notification], upTo last: NotificationFeed.ID, to webhook: WebhookRow,
        _ client: SignedClient
    ) async throws -> Bool {
        guard targets.allows(webhook.url) else { return false }
        let delivery = Sealkit_V1_WebhookDelivery.with {
            $0.deliveryID = webhook.deliveryID(upTo: last)
            $0.notifications = notifications
        }
        do {
            return try await client.post(delivery, to: webhook.url).isTaken
        } catch {
            // Cut short by the server's own end it says nothing of the receiver.
            try Task.checkCancellation()
            return false
        }
    }

    /// Moves the webhook's place; due again at once where there is more. With the last of a subscription that fired
    /// once and went, its webhook goes too.
    private func settle(_ webhook: WebhookRow, delivered: Int64, _ turn: JobTurn) async throws {
        let now = clock()
        // Each is a transaction of its own, which holds no other feed while it waits for this one's.
        try await turn.note(at: .entry(Array("webhook of \(webhook.owner)".utf8))) { connection in
            // Whoever adds to it has the feed first, and looks at the webhook last: it is seen here, or finds this one
            // settled and wakes it.
            try NotificationFeed.hold([webhook.owner], in: connection)
            try connection.execute(
                """
                UPDATE webhook SET delivered = $6, attempts = 0, since = $7, due = CASE WHEN EXISTS (
                    SELECT 1 FROM notification n WHERE n.owner = $1 AND n.environment = $2 AND n.database = $3
                        AND n.subscription = $4 AND n.number > $6) THEN $7 ELSE 0 END
                WHERE owner = $1 AND environment = $2 AND database = $3 AND subscription = $4 AND url = $5
                """, webhook.key + [.text(webhook.url), .integer(delivered), .integer(now)])
            try connection.execute(
                """
                DELETE FROM webhook WHERE owner = $1 AND environment = $2 AND database = $3 AND subscription = $4 AND due = 0
                    AND NOT EXISTS (SELECT 1 FROM subscription s WHERE s.owner = $1 AND s.environment = $2 AND s.database = $3
                        AND s.id = $4)
                """, webhook.key)
        }
    }

    /// Later, or never after a day without success.
    private func postpone(_ webhook: WebhookRow, _ turn: JobTurn) async throws {
        let now = clock()
        guard now - webhook.since < Self.patience else {
            // The operator's word; the rest of the URL is the subscriber's secret.
            let target = WebhookTargets.origin(of: webhook.url) ?? "none"
            logger.warning(
                "a webhook was given up after a day without success; what waited for it is dropped",
                metadata: ["target": "\(target)", "attempts": "\(webhook.attempts + 1)"])
            let owner = webhook.owner
            let last = try await turn.read { try NotificationFeed.place(of: owner, in: $0).last }
            metrics.count(.webhooks, "given-up")
            try await settle(webhook, delivered: last, turn)
            return
        }
        // 1 s, 2 s, 4 s, … up to an hour, each shortened by up to a half, so that many do not come back at once.
        let wait = min(Int64(1_000_000) << min(webhook.attempts, 12), Self.longestWait)
        let due = now + wait / 2 + Int64.random(in: 0...wait / 2)
        // It is due before and after: nobody who adds to it has to wake it.
        try await turn.note(at: turn.home) { connection in
            try connection.execute(
                """
                UPDATE webhook SET attempts = attempts + 1, due = $6
                WHERE due > 0 AND owner = $1 AND environment = $2 AND database = $3 AND subscription = $4 AND url = $5
                """, webhook.key + [.text(webhook.url), .integer(due)])
        }
    }
}
