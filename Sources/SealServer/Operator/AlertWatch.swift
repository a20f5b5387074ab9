import Foundation
import Logging
import SealPrimitives
import SealService
import SealStorage
import SealWire
import Synchronization

/// Looks at alerts once a minute, and tells whoever is to know when one fires or recovers: the newest of an
/// alert, at least once to everybody. Looking and telling are two jobs: nobody who takes long to be told keeps others
/// from being looked at.
final class AlertWatch: Sendable {
    let alerts: Alerts
    private let telemetry: Telemetry
    private let messages: AlertMessages
    let condition: ServerCondition
    private let origin: ServerOrigin
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let averages = AlertAverages()
    private let firing = Atomic(0)

    /// The server that looked last looks again, as long as it is there: each has its own requests, jobs and disk, and
    /// an alert would fire by those of the one and recover by those of the other. Between two looks, and between two
    /// tries where one has failed, there is a minute.
    static let stay: Duration = .seconds(80)
    private static let minute: Int64 = 60_000_000
    /// After the end of a minute: what ended in it has been counted.
    private static let delay: Int64 = 1_000_000

    /// - Parameter clock: microseconds since 1970.
    init(
        alerts: Alerts, telemetry: Telemetry, messages: AlertMessages, condition: ServerCondition,
        origin: ServerOrigin, clock: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        (self.alerts, self.telemetry, self.messages) = (alerts, telemetry, messages)
        (self.condition, self.origin, self.clock, self.logger) = (condition, origin, clock, logger)
    }

    /// How many fire, as of the last look of this server: whether it or another one has the job.
    var firingCount: Int { firing.load(ordering: .relaxed) }

    func hasWork(in connection: any SQLConnection) throws -> Bool {
        try count(in: connection)
        return try Alerts.haveWork(now: clock(), in: connection)
    }

    private func count(in connection: any SQLConnection) throws {
        firing.store(try Alerts.countFiring(in: connection), ordering: .relaxed)
    }

    /// Looks at what is due.
    /// - Returns: when there will be something next, in microseconds since 1970.
    func run(_ turn: JobTurn) async throws -> Int64? {
        let (now, alerts) = (turn.now, alerts)
        let due = try await turn.read { try alerts.due(now: now, in: $0) }
        let found = await read(due.map(\.rule), now: now)
        if !due.isEmpty {
            // What cannot be read stays due: the job has failed until it can be, and is tried again before that.
            let judged = due.filter { found.failure == nil || found.readings[$0.rule.name] != nil }
            let judgements = judged.map { judge($0, found.readings[$0.rule.name], now: now) }
            let next = now - now % Self.minute + Self.minute + Self.delay
            // Also where it notes nothing: the job is this server's.
            let crossed = try await turn.step(at: turn.home) {
                try alerts.note(judgements, now: now, next: next, in: $0)
            }
            for judgement in crossed { say(judgement) }
        }
        let next = try await turn.read { connection in
            try self.count(in: connection)
            return try Alerts.nextDue(in: connection)
        }
        if let failure = found.failure { throw failure }
        return next
    }

    func hasMessages(in connection: any SQLConnection) throws -> Bool {
        try Alerts.haveMessages(now: clock(), in: connection)
    }

    /// Sends what waits.
    /// - Returns: when there will be something next, in microseconds since 1970.
    func sendMessages(_ turn: JobTurn) async throws -> Int64? {
        try await messages.send(turn, alerts)
        return try await turn.read { try Alerts.nextMessage(in: $0) }
    }

    /// What an alert reads now, beside the minutes at which it is looked at.
    /// - Throws: what reading telemetry throws.
    func reading(of rule: AlertRule) async throws -> AlertReading? {
        let (readings, failure) = await read([rule], now: clock())
        if let failure { throw failure }
        return readings[rule.name]
    }

    /// That there is anything that a rule could look at.
    /// - Throws: `serverRejectedRequest`.
    func require(_ rule: AlertRule) throws(ServerError) {
        guard !rule.measure.isOfRequests || telemetry.recorder != nil else {
            throw ServerError(
                .serverRejectedRequest, "This server counts nothing that an alert could look at.",
                remedy: "Start it with --telemetry on or counts; what is of no requests can be watched without.")
        }
        guard rule.measure != .certificateDays || condition.certificateEnds != nil else {
            throw ServerError(
                .serverRejectedRequest, "This server has no certificate of its own.",
                remedy: "Watch that of the proxy before it by the proxy's means.")
        }
    }

    var telemetryState: Telemetry.State { telemetry.state }

    /// - Parameter now: microseconds since 1970.
    private func read(
        _ rules: [AlertRule], now: Int64
    ) async -> (readings: [String: AlertReading], failure: (any Error)?) {
        var readings: [String: AlertReading] = [:]
        do {
            for (measure, rules) in Dictionary(grouping: rules, by: \.measure) where !measure.isOfRequests {
                guard let value = try await condition.value(of: measure) else { continue }
                for rule in rules { readings[rule.name] = rule.reading(of: value) }
            }
        } catch {
            return (readings, error)
        }
        let counted = rules.filter(\.measure.isOfRequests)
        guard telemetry.recorder != nil, !counted.isEmpty else { return (readings, nil) }
        do {
            let found = try await telemetry.readingWhole { [logger, averages] file, since in
                var (found, minutes) = ([String: AlertReading](), AlertMinutes(now: now / 1_000_000))
                // What could not be counted is not nothing: of such minutes nothing is said.
                for rule in counted where minutes.start(of: rule.message.minutes) >= since {
                    do {
                        found[rule.name] = try await rule.reading(
                            file, since: since, minutes: &minutes, averages: averages)
                    } catch TelemetryFileError.tooMuch {
                        logger.warning(
                            "an alert has more to look at than can be read", metadata: ["alert": "\(rule.name)"])
                    }
                }
                return found
            }
            return (readings.merging(found) { first, _ in first }, nil)
        } catch is TelemetryFileError {
            // One that nobody can read was put aside, which was said.
            return (readings, nil)
        } catch {
            return (readings, error)
        }
    }

    private func judge(_ alert: Alerts.Stored, _ reading: AlertReading?, now: Int64) -> Alerts.Judgement {
        let silent = Alerts.Judgement(alert: alert, reading: reading, messages: [])
        guard silent.isCrossing else { return silent }
        let told = alert.rule.targets.map { target in
            message(to: target, alert.rule, silent.isFiring ? .fired : .recovered, reading, now: now)
        }
        return Alerts.Judgement(alert: alert, reading: reading, messages: told)
    }

    func message(
        to target: AlertTarget, _ rule: AlertRule, _ state: AlertText.State, _ reading: AlertReading?, now: Int64
    ) -> Alerts.Message {
        var random = SystemRandom()
        let id = ID16(random: &random)
        return Alerts.Message(
            id: id, target: target,
            notice: AlertText.notice(rule, state, reading, origin: origin.value, id: id.hex, time: now), since: now,
            attempts: 0)
    }

    private func say(_ judgement: Alerts.Judgement) {
        logger.notice(
            judgement.isFiring ? "an alert fires" : "an alert has recovered",
            metadata: [
                "alert": "\(judgement.alert.rule.name)", "measure": "\(judgement.alert.rule.measure.rawValue)",
                "value": "\(judgement.reading?.value ?? 0)", "threshold": "\(judgement.reading?.threshold ?? 0)",
            ])
    }
}
