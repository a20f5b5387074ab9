import Logging
import SealService
import SealStorage
import SealWire
import Synchronization

/// Sends the messages of alerts, by the mail relay and to webhooks, and tries again for a day.
final class AlertMessages: Sendable {
    private let messenger: (any Messenger)?
    private let keys: TokenKeys
    private let targets: WebhookTargets
    private let rates: RequestRates
    private let clock: @Sendable () -> Int64
    private let metrics: ServerMetrics
    private let logger: Logger
    /// Made for the first delivery; its connections are kept for the next.
    private let client = Mutex<SignedClient?>(nil)

    /// In one run of the job.
    private static let most = 100
    private static let mostAtOnce = 8
    /// A day, in microseconds: then a message is given up.
    static let patience: Int64 = 86_400_000_000
    private static let (firstWait, longestWait): (Int64, Int64) = (60_000_000, 3_600_000_000)

    /// - Parameters:
    ///   - messenger: nil where no relay is set up.
    ///   - clock: microseconds since 1970.
    init(
        messenger: (any Messenger)?, keys: TokenKeys, targets: WebhookTargets, rates: RequestRates,
        clock: @escaping @Sendable () -> Int64, metrics: ServerMetrics, logger: Logger
    ) {
        (self.messenger, self.keys, self.targets, self.rates) = (messenger, keys, targets, rates)
        (self.clock, self.metrics, self.logger) = (clock, metrics, logger)
    }

    var hasMail: Bool { messenger != nil }

    /// - Throws: `invalidArguments`, `limitExceeded`, `serverRejectedRequest`.
    func check(_ rule: AlertRule) throws(ServerError) { try rule.checkTargets(targets, hasMail: hasMail) }

    /// What came of an attempt.
    enum Outcome: Sendable {
        case taken
        case refused(String)
        /// Not even tried: too many mails went out, and the next may after so many seconds.
        case limited(Double)
    }

    /// All that wait and whose turn it is.
    func send(_ turn: JobTurn, _ alerts: Alerts) async throws {
        let now = turn.now
        let due = try await turn.read { try alerts.messages(now: now, limit: Self.most, in: $0) }
        guard !due.isEmpty else { return }
        try await turn.keep()
        // A mail may take longer than the job is this server's: another one would send it too.
        try await turn.keeping { try await send(due, turn) }
        try Task.checkCancellation()
    }

    private func send(_ due: [Alerts.Message], _ turn: JobTurn) async throws {
        try await withThrowingTaskGroup(of: (Alerts.Message, Outcome?).self) { group in
            var waiting = due[...]
            for message in waiting.prefix(Self.mostAtOnce) {
                waiting.removeFirst()
                group.addTask { (message, await self.deliverIfWaiting(message, turn)) }
            }
            while let (message, outcome) = try await group.next() {
                // At once: what is sent is not sent again by whoever goes on after a crash.
                if let outcome { try await settle(message, outcome, turn) }
                try await turn.keep()
                guard let message = waiting.popFirst() else { continue }
                group.addTask { (message, await self.deliverIfWaiting(message, turn)) }
            }
        }
    }

    /// Nil where it waits no more: whoever looks at the alerts has taken it back, and another one says what is true
    /// now.
    private func deliverIfWaiting(_ message: Alerts.Message, _ turn: JobTurn) async -> Outcome? {
        let id = message.id
        let waits = try? await turn.read { try Alerts.isWaiting(id, in: $0) }
        return waits == false ? nil : await deliver(message)
    }

    /// Nil where the server stops.
    func deliver(_ message: Alerts.Message) async -> Outcome? {
        do {
            switch message.target {
            case .mail(let address):
                guard let messenger else { return .refused("no mail relay is set up") }
                do throws(ServerError) {
                    // Everybody's together: a token that is in wrong hands is to fill no mailboxes.
                    try rates.count(.operatorMail, .client([]))
                } catch {
                    return .limited(error.retryAfter)
                }
                let mail = AlertText.mail(message.notice, to: address)
                if let failure = await messenger.trial(mail).failure {
                    try Task.checkCancellation()
                    return .refused(failure.text)
                }
            case .webhook(let url):
                guard targets.allows(url) else { return .refused("its origin is not allowed any more") }
                let (isTaken, status) = try await made().post(message.notice, to: url)
                guard isTaken else { return .refused("it answered with status \(status)") }
            }
            return .taken
        } catch is CancellationError {
            return nil
        } catch {
            // Whatever the client says of it could repeat the URL, which may hold a secret.
            return Task.isCancelled ? nil : .refused("it did not answer")
        }
    }

    /// Where the job that looks notes what is to be told, and removes what is not true any more.
    private static let home = Home.job(Job.Name.alerts.rawValue)

    /// Once nothing runs any more.
    func close() async {
        let client = client.withLock { $0.take() }
        // Fails where it was closed before, and then there is nothing left to do.
        try? await client?.close()
    }

    private func made() -> SignedClient {
        client.withLock { client in
            let made = client ?? SignedClient(keys: keys, clock: clock)
            client = made
            return made
        }
    }

    private func settle(_ message: Alerts.Message, _ outcome: Outcome, _ turn: JobTurn) async throws {
        let (now, id, way) = (clock(), message.id, message.target.way)
        let isOver = now - message.since >= Self.patience
        let (wait, isAttempt): (Int64, Bool)
        switch outcome {
        case .taken:
            metrics.count(.alertMessages, way, "taken")
            try await turn.note(at: Self.home) { try Alerts.delete(id, in: $0) }
            return
        case .limited(let seconds):
            if isOver { warn(message, "too many mails were sent", isOver: true) }
            (wait, isAttempt) = (max(1, Int64(seconds)) * 1_000_000, false)
        case .refused(let why):
            metrics.count(.alertMessages, way, "refused")
            warn(message, why, isOver: isOver)
            (wait, isAttempt) = (min(Self.firstWait << min(message.attempts, 6), Self.longestWait), true)
        }
        guard !isOver else {
            metrics.count(.alertMessages, way, "given-up")
            try await turn.note(at: Self.home) { try Alerts.delete(id, in: $0) }
            return
        }
        try await turn.note(at: Self.home) { try Alerts.postpone(id, until: now + wait, isAttempt: isAttempt, in: $0) }
    }

    private func warn(_ message: Alerts.Message, _ why: String, isOver: Bool) {
        let metadata: Logger.Metadata = [
            "alert": "\(message.notice.alert)", "way": "\(message.target.way)", "why": "\(why)", "again": "\(!isOver)",
        ]
        logger.warning("a message of an alert was not taken", metadata: metadata)
    }
}
