import Logging
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `1/operator/alerts`, on the operator's listener: what is watched, who is told, and what was told.
struct AlertsController: Sendable {
    let watch: AlertWatch
    let messages: AlertMessages
    let transactions: Transactions
    let jobs: Jobs
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64
    let journal: OperatorJournal

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.monitoring.alerts) { _, _ in
            let found = try await transactions.read { [alerts = watch.alerts] in try alerts.all(in: $0) }
            journal.note(.alerts, ["count": "\(found.count)"])
            return Sealkit_V1_ListAlertsResponse.with {
                $0.alerts = found.map(\.wire)
                $0.state = watch.telemetryState.rawValue
            }
        }
        router.on(Endpoints.monitoring.addAlert) { message, _ in try await add(message) }
        router.on(Endpoints.monitoring.removeAlert) { message, _ in
            try await remove(message.name)
            return Sealkit_V1_RemoveAlertResponse()
        }
        router.on(Endpoints.monitoring.testAlert) { message, _ in try await test(message.name) }
        router.on(Endpoints.monitoring.alertHistory) { message, _ in
            try await transactions.read { try Alerts.history(message, in: $0) }
        }
    }

    func remove(_ name: String) async throws {
        try await transactions.write(at: .everything) { [alerts = watch.alerts] in try alerts.remove(name, in: $0) }
        jobs.wake(.alerts)
        journal.note(.removeAlert)
    }

    func add(_ message: Sealkit_V1_AddAlertRequest) async throws -> Sealkit_V1_AddAlertResponse {
        let rule = try AlertRule(message.rule)
        try messages.check(rule)
        try watch.require(rule)
        let now = clock()
        let stored = try await transactions.write(at: .everything) { [alerts = watch.alerts] connection in
            try alerts.put(rule, now: now, in: connection)
            return try alerts.find(rule.name, in: connection)
        }
        jobs.wake(.alerts)
        journal.note(.addAlert)
        return .with { $0.alert = stored.wire }
    }

    /// What a rule reads now, which is not watched yet: nobody is told.
    func preview(_ rule: AlertRule) async throws -> AlertReading? {
        try messages.check(rule)
        try watch.require(rule)
        return try await watch.reading(of: rule)
    }

    /// Tells everybody at once, and what each has said to it.
    func test(_ name: String) async throws -> Sealkit_V1_TestAlertResponse {
        let stored = try await transactions.read { [alerts = watch.alerts] in try alerts.find(name, in: $0) }
        let reading: AlertReading?
        do { reading = try await watch.reading(of: stored.rule) } catch {
            // Whether anybody is told is to be known then more than ever.
            guard watch.telemetryState == .failing else { throw error }
            reading = nil
        }
        var answer = Sealkit_V1_TestAlertResponse()
        answer.alert = stored.wire
        answer.alert.clearReading()
        if let reading { answer.alert.reading = reading.wire }
        answer.wouldFire = reading.map(stored.rule.isHeld) ?? false
        let now = clock()
        for target in stored.rule.targets {
            let outcome = await messages.deliver(watch.message(to: target, stored.rule, .test, reading, now: now))
            answer.deliveries.append(Self.delivery(to: target, outcome))
        }
        journal.note(.testAlert, ["taken": "\(answer.deliveries.count(where: \.taken))"])
        return answer
    }

    private static func delivery(
        to target: AlertTarget, _ outcome: AlertMessages.Outcome?
    ) -> Sealkit_V1_AlertDelivery {
        .with {
            switch target {
            case .mail(let address): $0.target = address
            case .webhook(let url): $0.target = WebhookTargets.origin(of: url) ?? ""
            }
            switch outcome {
            case .taken: $0.taken = true
            case .refused(let why): $0.answer = why
            case .limited(let seconds):
                $0.answer = "too many mails were sent: the next may go in \(max(1, Int(seconds))) seconds"
            case nil: $0.answer = "the server stops"
            }
        }
    }
}
