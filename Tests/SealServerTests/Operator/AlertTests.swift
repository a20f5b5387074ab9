import Foundation
import GRDB
import HTTPTypes
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// When alerts fire, and who is told.
@Suite(.timeLimit(.minutes(60))) struct AlertTests {
    private static let address = "canary@example.org"

    /// More than one failure a minute in the last one.
    private static func rule(
        _ name: String = "failing", mail: [String] = [address], webhooks: [String] = [],
        _ change: (inout Sealkit_V1_AlertRule) -> Void = { _ in }
    ) -> Sealkit_V1_AlertRule {
        var rule = Sealkit_V1_AlertRule.with {
            ($0.name, $0.measure, $0.value, $0.minutes) = (name, "failures", 1, 1)
            ($0.mail, $0.webhooks) = (mail, webhooks)
        }
        change(&rule)
        return rule
    }

    /// At the beginning of a minute, with somebody who fails as often as is wanted.
    private func with(
        limits: AbuseLimits? = nil, logger: LogCapture = LogCapture(), receiver: WebhookReceiver? = nil,
        jobLook: Duration = .seconds(3_600),
        _ body: @Sendable (RunningServer, OperatorClient, Person) async throws -> Void
    ) async throws {
        let clock = TestClock()
        clock.set(clock.now - clock.now % 86_400_000_000 + 6 * 3_600_000_000)
        try await RunningServer.with(
            limits: limits, clock: clock, logger: logger.logger, webhookOrigins: receiver.map { [$0.origin] } ?? [],
            jobLook: jobLook, showsMetrics: true, hasOperator: true, hasTelemetry: true
        ) { server in
            let anna = try await Person.ready(server)
            try await body(server, try OperatorClient(server), anna)
        }
    }

    /// The clock of whoever made it was ahead, and was set right since.
    @Test func aBackupThatIsStillToComeIsNone() async throws {
        try await with { server, boss, _ in
            let note = server.folder.file("data/" + BackupNote.fileName)
            func change(_ seconds: Int64) throws {
                let date = Date(timeIntervalSince1970: Double(server.clock.now / 1_000_000 + seconds))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: note)
            }
            try change(1_800)
            try await add(boss, Self.rule("backup") { ($0.measure, $0.value) = ("backup-age", 26) })
            #expect(try await alerts(boss).map(\.reading.value) == [0])
            try change(365 * 86_400)
            server.clock.advance(seconds: 61)
            try await look(server)
            #expect(try await alerts(boss).map(\.firing) == [true])
        }
    }

    /// What is of no requests: each measure at a moment that is known.
    @Test func whatTheServerIsLikeIsWatched() async throws {
        try await with { server, boss, _ in
            let note = server.folder.file("data/" + BackupNote.fileName)
            #expect(FileManager.default.fileExists(atPath: note))
            func change(_ hours: Int64) throws {
                let date = Date(timeIntervalSince1970: Double(server.clock.now / 1_000_000 - hours * 3_600))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: note)
            }
            try change(25)
            try await add(boss, Self.rule("backup") { ($0.measure, $0.value) = ("backup-age", 26) })
            #expect(try await alerts(boss).map(\.reading.value) == [25])
            #expect(try await alerts(boss).map(\.firing) == [false])
            try change(27)
            server.clock.advance(seconds: 61)
            try await look(server)
            #expect(try await alerts(boss).map(\.firing) == [true])
            #expect(server.mail.sent.last?.body.contains("backup-age at the moment is above 26 hours") == true)

            try await add(boss, Self.rule("codes") { ($0.measure, $0.value) = ("stuck-messages", 0) })
            let (past, later) = (server.clock.now, server.clock.now + 600_000_000)
            try await server.services.transactions.write(at: .everything) { connection in
                for (id, attempts, expires) in [(UInt8(1), Int64(0), later), (2, 1, later), (3, 1, past)] {
                    try connection.execute(
                        "INSERT INTO outgoing_message (id, kind, sealed, attempts, expires) VALUES ($1, 'x', $2, $3, $4)",
                        [
                            .blob([UInt8](repeating: id, count: 16)), .blob([]), .integer(attempts),
                            .integer(expires),
                        ])
                }
            }
            #expect(try await server.services.condition.value(of: .stuckMessages) == 1)

            let ends = Int(server.clock.now / 1_000_000) + 36 * 3_600
            let dated = Self.rule("certificate") { ($0.measure, $0.below, $0.value) = ("certificate-days", true, 14) }
            try await expectRefusal(.serverRejectedRequest) {
                try await boss.call(Endpoints.monitoring.addAlert, .with { $0.rule = dated })
            }
            server.services.condition.watch { ends }
            try await add(boss, dated)
            let found = try await alerts(boss).first { $0.rule.name == "certificate" }
            #expect(found?.firing == true && found?.reading.value == 1.5)

            #expect(try await server.services.condition.value(of: .failingJobs) == 0)
            #expect(try await server.services.condition.value(of: .requests) == nil)
            for measure in ["backup-age", "certificate-days", "stuck-messages", "failing-jobs"] {
                try await expectRefusal(.invalidArguments) {
                    try await boss.call(
                        Endpoints.monitoring.addAlert,
                        .with { $0.rule = Self.rule { ($0.measure, $0.factor) = (measure, 2) } })
                }
            }
        }
    }

    private func add(_ boss: OperatorClient, _ rule: Sealkit_V1_AlertRule) async throws {
        _ = try await boss.call(Endpoints.monitoring.addAlert, .with { $0.rule = rule })
        // It is looked at at once; what follows is the test's own.
        try await waitUntil("it was looked at") {
            try await alerts(boss).contains { $0.rule.name == rule.name && $0.checked > 0 }
        }
    }

    private func alerts(_ boss: OperatorClient) async throws -> [Sealkit_V1_AlertState] {
        try await boss.call(Endpoints.monitoring.alerts, .init()).alerts
    }

    private func history(_ boss: OperatorClient, _ name: String = "") async throws -> [Sealkit_V1_AlertChange] {
        try await boss.call(Endpoints.monitoring.alertHistory, .with { $0.name = name }).changes
    }

    /// The next minute, after so many requests that failed in this one.
    private func minute(_ server: RunningServer, _ person: Person, failing count: Int) async throws {
        try await fail(person, count)
        server.clock.advance(seconds: 60)
        try await look(server)
    }

    private func fail(_ person: Person, _ count: Int) async throws {
        for _ in 0..<count {
            try await expectRefusal(.zoneNotFound) {
                try await person.client.call(
                    person.path("records/lookup"),
                    Sealkit_V1_LookupRecordsRequest.with {
                        ($0.zone.zoneName, $0.recordNames) = ("nowhere", ["a"])
                    }, as: Sealkit_V1_LookupRecordsResponse.self)
            }
        }
    }

    /// Another program takes telemetry's file: nothing can be written until it lets go.
    private func hold(_ server: RunningServer) async throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let path = server.folder.file("data/telemetry.sqlite")
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        return other
    }

    private func letGo(_ other: DatabaseQueue) async throws {
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try other.close()
    }

    private func look(_ server: RunningServer) async throws {
        try await server.services.jobs.run(.alerts)
        // Nothing that it was woken for is under way any more.
        try await server.services.jobs.run(.alertMessages)
    }

    /// What could not be counted did not stop happening.
    @Test func nothingIsSaidOfMinutesThatAreNotWritten() async throws {
        try await with { server, boss, anna in
            try await add(boss, Self.rule())
            server.clock.advance(seconds: 61)
            try await minute(server, anna, failing: 3)
            #expect(try await alerts(boss).map(\.firing) == [true])
            let other = try await hold(server)
            // The job tells that it failed, as it does of the database.
            try? await minute(server, anna, failing: 3)
            try await letGo(other)
            #expect(server.services.telemetry.state == .failing)
            #expect(try await history(boss).map(\.fired) == [true])
            try await minute(server, anna, failing: 3)
            #expect(server.services.telemetry.state == .ok)
            #expect(try await history(boss).map(\.fired) == [true])
            #expect(server.mail.sent.count == 1)
            try await minute(server, anna, failing: 0)
            #expect(try await history(boss).map(\.fired) == [false, true])
        }
    }

    /// The one has taken the minute and cannot write it: the other, who finds none, waits for what becomes of it.
    @Test func nothingIsSaidOfAMinuteThatSomebodyElseHasInHand() async throws {
        try await with { server, boss, anna in
            try await add(boss, Self.rule())
            server.clock.advance(seconds: 61)
            try await minute(server, anna, failing: 3)
            #expect(try await history(boss).map(\.fired) == [true])
            try await fail(anna, 3)
            server.clock.advance(seconds: 60)
            let other = try await hold(server)
            async let first: Void = server.services.telemetry.flush()
            try await Task.sleep(for: .milliseconds(100))
            async let second: Void = look(server)
            try await waitUntil("the first has failed") { server.services.telemetry.state == .failing }
            try await letGo(other)
            await first
            try await second
            #expect(server.services.telemetry.state == .ok)
            #expect(try await history(boss).map(\.fired) == [true])
            #expect(server.mail.sent.count == 1)
        }
    }

    /// The new file is empty of what the old one had.
    @Test func nothingIsSaidOfMinutesThatWereInADamagedFile() async throws {
        try await with { server, boss, anna in
            try await add(boss, Self.rule { $0.minutes = 5 })
            server.clock.advance(seconds: 61)
            try await minute(server, anna, failing: 20)
            #expect(try await alerts(boss).map(\.firing) == [true])
            let path = server.folder.file("data/telemetry.sqlite")
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "DROP TABLE sums") }
            try other.close()
            for _ in 0..<4 {
                try await minute(server, anna, failing: 0)
                #expect(try await history(boss).map(\.fired) == [true])
            }
            #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
            // From then on all that there was is there.
            for _ in 0..<3 { try await minute(server, anna, failing: 0) }
            #expect(try await history(boss).map(\.fired) == [false, true])
            #expect(server.mail.sent.count == 2)
        }
    }

    /// A message says what an alert looks at, and none is larger than what is read of one.
    @Test func whatAnAlertLooksForHasABound() async throws {
        try await with { _, boss, _ in
            func rule(_ count: Int) -> Sealkit_V1_AlertRule {
                Self.rule {
                    $0.filters = [
                        .with { ($0.dimension, $0.word) = ("group", String(repeating: "a", count: count)) }
                    ]
                }
            }
            try await expectRefusal(.invalidArguments) {
                try await boss.call(
                    Endpoints.monitoring.addAlert, .with { $0.rule = rule(AlertRule.mostWordBytes + 1) })
            }
            try await add(boss, rule(AlertRule.mostWordBytes))
        }
    }

    @Test func anAlertFiresOnceAndRecoversOnce() async throws {
        let log = LogCapture()
        try await WebhookReceiver.with { receiver in
            try await with(logger: log, receiver: receiver) { server, boss, anna in
                let url = receiver.origin + "/hook?secret=canary"
                try await add(boss, Self.rule(webhooks: [url]))
                server.clock.advance(seconds: 61)
                try await minute(server, anna, failing: 1)
                #expect(server.mail.sent.isEmpty)
                // Until it is over nobody is told again.
                for _ in 0..<3 { try await minute(server, anna, failing: 3) }
                #expect(server.mail.sent.count == 1)
                let firing = try #require(try await alerts(boss).first)
                #expect(firing.firing)
                #expect(firing.reading.value == 3)
                #expect(firing.reading.threshold == 1)
                #expect(firing.since == server.clock.now - 120_000_000)
                #expect(firing.checked == server.clock.now)
                #expect(firing.waiting == 0)
                #expect(server.services.alertWatch.firingCount == 1)
                try await minute(server, anna, failing: 0)
                try await minute(server, anna, failing: 0)
                #expect(try await alerts(boss).map(\.firing) == [false])
                #expect(server.services.alertWatch.firingCount == 0)
                let mails = server.mail.sent
                #expect(mails.map(\.recipient) == [Self.address, Self.address])
                #expect(mails[0].subject.contains("failing: fired"))
                #expect(mails[1].subject.contains("failing: recovered"))
                #expect(mails[0].body.contains("failures in the last minute is above 1 a minute"), "\(mails[0].body)")
                #expect(mails[0].body.contains("Now: 3 a minute"))
                let deliveries = [try await receiver.delivery(1), try await receiver.delivery(2)]
                #expect(receiver.count == 2)
                let notices = try deliveries.map { try Sealkit_V1_AlertNotice(jsonUTF8Bytes: $0.body) }
                #expect(notices.map(\.state) == ["fired", "recovered"])
                #expect(notices[0].alert == "failing" && notices[0].value == 3 && notices[0].threshold == 1)
                #expect(notices[0].text == mails[0].body)
                #expect(notices[0].server == server.services.origin.value)
                for delivery in deliveries {
                    let signature = try WebhookSignature(header: try #require(delivery.signature))
                    let signed = WebhookSignature.signedBytes(
                        keyID: signature.keyID, time: signature.time, url: url, body: [UInt8](delivery.body))
                    try server.services.webhookKeys.newest.signingKey.verificationKey.verify(
                        signature.signature, over: signed)
                }
                let changes = try await history(boss)
                #expect(changes.map(\.fired) == [false, true])
                #expect(changes.map(\.reading.value) == [0, 3])
                #expect(try await history(boss, "another").isEmpty)
                let metrics = try await ServerTests().send("GET", server.metrics + "/metrics")
                let text = String(decoding: metrics.body, as: UTF8.self)
                for line in [
                    "sealkit_alert_messages_total{way=\"mail\",outcome=\"taken\"} 2\n",
                    "sealkit_alert_messages_total{way=\"webhook\",outcome=\"taken\"} 2\n",
                    "sealkit_alerts_firing 0\n", "sealkit_job_runs_total{job=\"alerts\",outcome=\"done\"}",
                ] { #expect(text.contains(line), "\(line)") }
            }
        }
        #expect(log.lines.count(where: { $0.contains("an alert fires") && $0.contains("failing") }) == 1)
        #expect(log.lines.count(where: { $0.contains("an alert has recovered") }) == 1)
        // Whom it tells is in no line.
        #expect(!log.lines.contains { $0.contains("canary") })
    }

    @Test func whatNobodyTakesIsSentAgainForADay() async throws {
        try await WebhookReceiver.with { receiver in
            try await with(receiver: receiver) { server, boss, anna in
                // It fires for two hours.
                let rule = Self.rule(mail: [], webhooks: [receiver.origin + "/hook"]) {
                    ($0.minutes, $0.value) = (120, 0.001)
                }
                try await add(boss, rule)
                receiver.answer([.serviceUnavailable, .found])
                server.clock.advance(seconds: 61)
                try await minute(server, anna, failing: 2)
                let first = try await receiver.delivery(1)
                #expect(try await alerts(boss).map(\.waiting) == [1])
                // Not before its time.
                server.clock.advance(seconds: 30)
                try await look(server)
                #expect(receiver.count == 1)
                server.clock.advance(seconds: 31)
                try await look(server)
                #expect(receiver.count == 2)
                server.clock.advance(seconds: 3_600)
                for _ in 0..<2 { try await look(server) }
                #expect(receiver.count == 3)
                var ids: Set<String> = []
                for number in 1...3 {
                    let delivery = try await receiver.delivery(number)
                    let notice = try Sealkit_V1_AlertNotice(jsonUTF8Bytes: delivery.body)
                    #expect(notice.state == "fired")
                    ids.insert(notice.deliveryID)
                }
                // The same message each time, and taken once.
                #expect(ids == [try Sealkit_V1_AlertNotice(jsonUTF8Bytes: first.body).deliveryID])
                #expect(try await alerts(boss).map(\.waiting) == [0])
                server.clock.advance(seconds: 7_260)
                try await look(server)
                #expect(try await alerts(boss).map(\.firing) == [false])
                receiver.answer(Array(repeating: .internalServerError, count: 100))
                try await minute(server, anna, failing: 2)
                #expect(try await alerts(boss).map(\.waiting) == [1])
                // That it recovered takes the place of that it fired, and is given up after another day.
                server.clock.advance(seconds: 86_401)
                try await look(server)
                #expect(try await alerts(boss).map(\.waiting) == [1])
                server.clock.advance(seconds: 86_401)
                try await look(server)
                #expect(try await alerts(boss).map(\.waiting) == [0])
                let metrics = try await ServerTests().send("GET", server.metrics + "/metrics")
                let text = String(decoding: metrics.body, as: UTF8.self)
                #expect(text.contains("sealkit_alert_messages_total{way=\"webhook\",outcome=\"given-up\"} 1\n"))
            }
        }
    }

    /// Another server that has the job meanwhile would send the same message, and neither could note that it went out.
    @Test func whoeverSendsAMailForLongKeepsTheJob() async throws {
        try await with { server, boss, _ in
            let (clock, database) = (server.clock, server.services.database)
            let wasHeld = Mutex<Bool?>(nil)
            server.mail.before {
                // In all, longer than the job is this server's.
                clock.advance(seconds: 15)
                let now = clock.now
                try await waitUntil("the job is kept") {
                    try await database.read { connection in
                        try connection.exists(
                            "SELECT 1 FROM job WHERE name = 'alert-messages' AND until > $1",
                            [.integer(now + 15_000_000)])
                    }
                }
                clock.advance(seconds: 15)
                let held = try await database.write(at: .everything) { connection -> Bool in
                    do {
                        try JobLease(job: .alertMessages, holder: [2]).hold(now: now + 15_000_000, in: connection)
                        return false
                    } catch is JobLease.HeldElsewhere {
                        return true
                    }
                }
                wasHeld.withLock { $0 = held }
            }
            try await add(boss, Self.rule("disk") { ($0.measure, $0.below, $0.value) = ("free-bytes", true, 1e18) })
            try await waitUntil("it was told") { server.mail.sent.count == 1 }
            try await waitUntil("nothing is to be sent") { try await server.rows(in: ["alert_message"]).isEmpty }
            let held = wasHeld.withLock { $0 }
            #expect(held == true)
            #expect(server.mail.tries == 1)
        }
    }

    /// A relay that takes connections and says nothing: what goes wrong meanwhile is noticed all the same.
    @Test func aMailThatTakesLongKeepsNobodyFromLooking() async throws {
        try await with { server, boss, anna in
            let isAsked = Mutex(false)
            let isAnswered = Mutex(false)
            server.mail.before {
                isAsked.withLock { $0 = true }
                try await waitUntil("it answers") { isAnswered.withLock { $0 } }
            }
            try await add(boss, Self.rule("disk") { ($0.measure, $0.below, $0.value) = ("free-bytes", true, 1e18) })
            try await waitUntil("a mail is on its way") { isAsked.withLock { $0 } }
            try await add(boss, Self.rule())
            server.clock.advance(seconds: 61)
            try await fail(anna, 3)
            server.clock.advance(seconds: 60)
            try await server.services.jobs.run(.alerts)
            #expect(try await history(boss).map(\.name) == ["failing", "disk"])
            #expect(server.mail.sent.isEmpty)
            isAnswered.withLock { $0 = true }
            try await server.services.jobs.run(.alertMessages)
            #expect(server.mail.sent.count == 2)
        }
    }

    /// Whoever watches the jobs is told, for as long as nothing is said of requests.
    @Test func thatAlertsCannotBeLookedAtIsAJobThatFails() async throws {
        try await with(jobLook: .milliseconds(20)) { server, boss, _ in
            try await add(boss, Self.rule())
            try await add(boss, Self.rule("jobs") { ($0.measure, $0.value) = ("failing-jobs", 0) })
            let other = try await hold(server)
            server.clock.advance(seconds: 61)
            try await waitUntil("it fails") { server.services.jobs.failing == [.alerts] }
            // It has looked again meanwhile.
            try await Task.sleep(for: .milliseconds(300))
            server.clock.advance(seconds: 61)
            try await waitUntil("that is told") {
                try await alerts(boss).contains { $0.rule.name == "jobs" && $0.firing }
            }
            try await letGo(other)
            try await waitUntil("it fails no longer") { server.services.jobs.failing.isEmpty }
            server.clock.advance(seconds: 61)
            try await waitUntil("that is told as well") {
                try await history(boss, "jobs").map(\.fired) == [false, true]
            }
            #expect(try await history(boss, "failing").isEmpty)
        }
    }

    /// Then more than ever whoever runs the server wants to know whether they would be told.
    @Test func anAlertIsTestedWhileNothingCanBeWritten() async throws {
        try await with { server, boss, _ in
            try await add(boss, Self.rule())
            let other = try await hold(server)
            let test = try await boss.call(Endpoints.monitoring.testAlert, .with { $0.name = "failing" })
            try await letGo(other)
            #expect(test.deliveries.map(\.taken) == [true])
            #expect(!test.wouldFire && !test.alert.hasReading)
        }
    }

    @Test func whatIsRemovedFiresNoMore() async throws {
        try await with { server, boss, _ in
            try await add(boss, Self.rule("disk") { ($0.measure, $0.below, $0.value) = ("free-bytes", true, 1e18) })
            try await waitUntil("it fires") { server.services.alertWatch.firingCount == 1 }
            _ = try await boss.call(Endpoints.monitoring.removeAlert, .with { $0.name = "disk" })
            try await waitUntil("none fires") { server.services.alertWatch.firingCount == 0 }
        }
    }

    @Test func mailsHaveALimitAndWaitForIt() async throws {
        var limits = AbuseLimits()
        limits.operatorMail = .init(count: 2, window: 3_600_000_000)
        try await with(limits: limits) { server, boss, anna in
            for name in ["a", "b", "c"] { try await add(boss, Self.rule(name)) }
            server.clock.advance(seconds: 61)
            try await minute(server, anna, failing: 2)
            #expect(server.mail.sent.count == 2)
            #expect(try await alerts(boss).map(\.waiting).reduce(0, +) == 1)
            // One that is removed is told to nobody any more.
            let found = try await alerts(boss).first { $0.waiting > 0 }
            let waiting = try #require(found)
            _ = try await boss.call(Endpoints.monitoring.removeAlert, .with { $0.name = waiting.rule.name })
            #expect(try await server.rows(in: ["alert_message"]).isEmpty)
            try await expectRefusal(.unknownItem) {
                try await boss.call(Endpoints.monitoring.removeAlert, .with { $0.name = waiting.rule.name })
            }
        }
    }

    /// A mail that the limit holds back is told soon, or not at all.
    @Test func whatTheLimitHoldsBackIsGivenUpAfterADay() async throws {
        var limits = AbuseLimits()
        limits.operatorMail = .init(count: 1, window: 3_600_000_000)
        try await with(limits: limits) { server, boss, _ in
            // Of the disk, so that none recovers while the clock goes on.
            for name in ["a", "b", "c"] {
                try await add(boss, Self.rule(name) { ($0.measure, $0.below, $0.value) = ("free-bytes", true, 1e18) })
            }
            try await look(server)
            #expect(server.mail.sent.count == 1)
            #expect(try await alerts(boss).map(\.waiting).reduce(0, +) == 2)
            server.clock.advance(seconds: 86_401)
            try await look(server)
            #expect(server.mail.sent.count == 2)
            #expect(try await alerts(boss).map(\.waiting) == [0, 0, 0])
            #expect(try await server.rows(in: ["alert_message"]).isEmpty)
            let metrics = try await ServerTests().send("GET", server.metrics + "/metrics")
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains("sealkit_alert_messages_total{way=\"mail\",outcome=\"given-up\"} 1\n"))
        }
    }

    @Test func ofAnAlertThatFlapsTheNewestAloneWaits() async throws {
        var limits = AbuseLimits()
        limits.operatorMail = .init(count: 1, window: 3_600_000_000)
        try await with(limits: limits) { server, boss, anna in
            try await add(boss, Self.rule())
            server.clock.advance(seconds: 61)
            for _ in 0..<3 {
                try await minute(server, anna, failing: 2)
                try await minute(server, anna, failing: 0)
            }
            #expect(try await history(boss).count == 6)
            #expect(server.mail.sent.map(\.subject).count(where: { $0.contains("fired") }) == 1)
            #expect(try await alerts(boss).map(\.waiting) == [1])
            server.clock.advance(seconds: 3_600)
            try await look(server)
            #expect(server.mail.sent.count == 2)
            #expect(server.mail.sent.last?.subject.contains("recovered") == true)
            #expect(try await alerts(boss).map(\.waiting) == [0])
        }
    }

    @Test func whatIsWatchedBesideRequests() async throws {
        try await with { server, boss, _ in
            try await add(boss, Self.rule("disk") { ($0.measure, $0.below, $0.value) = ("free-bytes", true, 1e18) })
            try await waitUntil("it fires") { try await alerts(boss).contains(where: \.firing) }
            try await waitUntil("it was told") { server.mail.sent.count == 1 }
            #expect(server.mail.sent[0].body.contains("free-bytes at the moment is below"))
            // A test tells what it reads, and everybody.
            let test = try await boss.call(Endpoints.monitoring.testAlert, .with { $0.name = "disk" })
            #expect(test.wouldFire)
            #expect(test.alert.reading.value > 0)
            #expect(test.deliveries.map(\.taken) == [true])
            #expect(test.deliveries.map(\.target) == [Self.address])
            #expect(server.mail.sent[1].subject.contains("test"))
            server.mail.fail(with: [.unavailable])
            let failed = try await boss.call(Endpoints.monitoring.testAlert, .with { $0.name = "disk" })
            #expect(failed.deliveries.map(\.taken) == [false])
            #expect(failed.deliveries[0].answer.contains("libcurl"))
            try await expectRefusal(.unknownItem) {
                try await boss.call(Endpoints.monitoring.testAlert, .with { $0.name = "none" })
            }
            // The same name again begins anew.
            try await add(boss, Self.rule("disk") { ($0.measure, $0.value) = ("free-bytes", 1e18) })
            let again = try await alerts(boss).map(\.firing)
            #expect(again == [false])
        }
    }

    @Test func whatIsNoAlertIsRefused() async throws {
        try await WebhookReceiver.with { receiver in
            try await with(receiver: receiver) { server, boss, _ in
                let address = "a@example.org"
                let filter = Sealkit_V1_TelemetryFilter.with { ($0.dimension, $0.word) = ("code", "x") }
                let changes: [(inout Sealkit_V1_AlertRule) -> Void] = [
                    { $0.name = "" }, { $0.name = "a\nb" }, { $0.name = String(repeating: "x", count: 65) },
                    { $0.measure = "mood" }, { $0.threshold = nil }, { $0.value = -1 }, { $0.value = .nan },
                    { $0.value = .infinity }, { $0.factor = 0 }, { $0.factor = .nan }, { $0.minutes = 0 },
                    { $0.minutes = 181 }, { $0.mail = [] }, { $0.mail = Array(repeating: address, count: 6) },
                    { $0.mail = ["nobody"] }, { $0.filters = [filter, filter] },
                    { $0.filters = [.with { $0.dimension = "account" }] },
                    { ($0.measure, $0.filters) = ("free-bytes", [filter]) },
                    { ($0.measure, $0.factor) = ("free-bytes", 2) },
                    { $0.webhooks = ["https://elsewhere.example.org/"] }, { $0.webhooks = ["not a url"] },
                    { $0.webhooks = [receiver.origin + "/#x"] },
                ]
                for (index, change) in changes.enumerated() {
                    try await expectRefusal(.invalidArguments, "\(index)") {
                        try await boss.call(
                            Endpoints.monitoring.addAlert, .with { $0.rule = Self.rule(mail: [address], change) })
                    }
                }
                #expect(try await alerts(boss).isEmpty)
                try await expectRefusal(.invalidArguments) {
                    try await boss.call(Endpoints.monitoring.alertHistory, .with { $0.cursor = Data([1]) })
                }
                for index in 0..<AlertRule.most { try await put(boss, "q\(index)") }
                try await expectRefusal(.limitExceeded) { try await put(boss, "one more") }
                try await put(boss, "q7")
                // Whom they tell is sealed.
                let stored = try server.storedBytes()
                #expect(!stored.contains(bytes: Array(Self.address.utf8)))
            }
        }
        try await RunningServer.with(sendsMail: false, hasOperator: true) { server in
            let boss = try OperatorClient(server)
            try await expectRefusal(.serverRejectedRequest) { try await put(boss, "mail") }
        }
        // Nothing is counted; the disk is there all the same.
        try await RunningServer.with(hasOperator: true) { server in
            let boss = try OperatorClient(server)
            try await expectRefusal(.serverRejectedRequest) { try await put(boss, "counts") }
            _ = try await boss.call(
                Endpoints.monitoring.addAlert, .with { $0.rule = Self.rule { $0.measure = "free-bytes" } })
            #expect(try await boss.call(Endpoints.monitoring.alerts, .init()).state == "off")
        }
    }

    private func put(_ boss: OperatorClient, _ name: String) async throws {
        _ = try await boss.call(Endpoints.monitoring.addAlert, .with { $0.rule = Self.rule(name) })
    }

    // MARK: What they read

    private static let day: Int64 = 1_700_006_400

    private static func read(
        _ file: TelemetryFile, _ now: Int64, since: Int64 = 0, averages: AlertAverages = AlertAverages(),
        _ change: (inout Sealkit_V1_AlertRule) -> Void
    ) async throws -> AlertReading? {
        var minutes = AlertMinutes(now: now)
        return try await AlertRule(rule("a", change)).reading(file, since: since, minutes: &minutes, averages: averages)
    }

    /// The hours of a day are read once, and again when another one is over.
    @Test func anAverageIsReadOnceAnHour() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        func write(_ start: Int64, _ count: Int, container: String = "org.example") async throws {
            var minute = TelemetryMinute(start: start)
            let key = TelemetryCountingTests.key(container: container)
            for _ in 0..<count {
                minute.sums[key, default: TelemetrySum()].add(bytesIn: 1, bytesOut: 1, microseconds: 1)
            }
            try await file.write([minute], now: Self.day + 7_200)
        }
        let averages = AlertAverages()
        func threshold(_ now: Int64, container: String = "") async throws -> Double? {
            try await Self.read(file, now, averages: averages) {
                ($0.measure, $0.minutes, $0.factor) = ("requests", 1, 1)
                if !container.isEmpty {
                    $0.filters = [.with { ($0.dimension, $0.word) = ("container", container) }]
                }
            }?.threshold
        }
        let hour: Int64 = 3_600
        #expect(try await threshold(Self.day + hour + 120) == nil)
        try await write(Self.day, 60)
        #expect(try await threshold(Self.day + hour + 120) == 1)
        // What is in the file is not asked for again in that hour, each container by itself.
        try await write(Self.day + 60, 60)
        #expect(try await threshold(Self.day + hour + 180) == 1)
        #expect(try await threshold(Self.day + hour + 180, container: "org.example") == 2)
        #expect(try await threshold(Self.day + hour + 180, container: "org.example.none") == nil)
        #expect(try await threshold(Self.day + 2 * hour + 120) == 1)
        #expect(try await threshold(Self.day + 2 * hour + 120, container: "org.example") == 1)
    }

    @Test func measuresAreThoseOfTheLastMinutes() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        var minutes: [TelemetryMinute] = []
        for (start, count, code) in [
            (Self.day - 60, 50, ""), (Self.day, 8, ""), (Self.day, 1, "zoneNotFound"),
            (Self.day + 60, 1, "internalError"),
            (Self.day + 120, 90, ""),
        ] {
            var minute = TelemetryMinute(start: start)
            let key = TelemetryCountingTests.key(code: code)
            for _ in 0..<count {
                minute.sums[key, default: TelemetrySum()].add(bytesIn: 10, bytesOut: 100, microseconds: 64_000)
            }
            minutes.append(minute)
        }
        try await file.write(minutes, now: Self.day + 180)
        let now = Self.day + 125
        for (measure, value) in [
            ("requests", 5.0), ("failures", 1), ("server-errors", 0.5), ("failure-share", 20), ("bytes-in", 50),
            ("bytes-out", 500),
        ] {
            let found = try await Self.read(file, now) { ($0.measure, $0.minutes) = (measure, 2) }
            #expect(found == AlertReading(value: value, threshold: 1), "\(measure)")
        }
        for measure in ["latency50", "latency95", "latency99"] {
            let found = try #require(
                try await Self.read(file, now) { ($0.measure, $0.minutes) = (measure, 2) })
            #expect((56...72).contains(found.value), "\(measure): \(found.value)")
        }
        #expect(try await Self.read(file, now) { ($0.minutes, $0.leastRequests) = (2, 10) }?.value == 1)
        #expect(try await Self.read(file, now) { ($0.minutes, $0.leastRequests) = (2, 11) } == nil)
        let one = try await Self.read(file, now) {
            ($0.measure, $0.minutes) = ("requests", 2)
            $0.filters = [.with { ($0.dimension, $0.word) = ("code", "zoneNotFound") }]
        }
        #expect(one?.value == 0.5)
        // Of no requests there is a number, and neither share nor time.
        let later = Self.day + 7_200
        #expect(try await Self.read(file, later) { $0.measure = "requests" }?.value == 0)
        for measure in ["failure-share", "latency95"] {
            #expect(try await Self.read(file, later) { $0.measure = measure } == nil)
        }
    }

    /// A server was started, or a container begun, within an hour; or something was lost.
    @Test func anAverageIsOfWhatWasCounted() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        func write(_ start: Int64, _ count: Int) async throws {
            var minute = TelemetryMinute(start: start)
            for _ in 0..<count {
                minute.sums[TelemetryCountingTests.key(), default: TelemetrySum()]
                    .add(bytesIn: 1, bytesOut: 1, microseconds: 1)
            }
            try await file.write([minute], now: Self.day + 7_200)
        }
        let change: (inout Sealkit_V1_AlertRule) -> Void = { ($0.measure, $0.factor) = ("requests", 3) }
        func threshold(_ now: Int64, since: Int64 = 0) async throws -> Double? {
            try await Self.read(file, now, since: since, change)?.threshold
        }
        let hour: Int64 = 3_600
        for minute in 55..<65 as Range<Int64> { try await write(Self.day + minute * 60, 120) }
        // Five minutes are too few.
        #expect(try await threshold(Self.day + hour + 305) == nil)
        try await write(Self.day + 40 * 60, 400)
        #expect(try await threshold(Self.day + hour + 305) == 150)
        // What was lost is not nothing: of its hour no average is.
        #expect(try await threshold(Self.day + hour + 305, since: Self.day + 60) == nil)
        #expect(try await threshold(Self.day + 2 * hour + 125, since: Self.day + 60) == 30)
        #expect(try await threshold(Self.day + 2 * hour + 125, since: Self.day) == 60)
    }

    @Test func anAverageIsOfTheDayBefore() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let key = TelemetryCountingTests.key()
        func write(_ start: Int64, _ count: Int) async throws {
            var minute = TelemetryMinute(start: start)
            for _ in 0..<count {
                minute.sums[key, default: TelemetrySum()].add(bytesIn: 1, bytesOut: 1, microseconds: 1)
            }
            try await file.write([minute], now: Self.day)
        }
        let now = Self.day + 30
        // Nothing to compare with.
        try await write(Self.day - 60, 9)
        let change: (inout Sealkit_V1_AlertRule) -> Void = { ($0.measure, $0.factor) = ("requests", 3) }
        let hour = Self.day - 3_600
        #expect(try await Self.read(file, hour, change) == nil)
        // Older than a day, and in the hour that is looked at.
        try await write(Self.day - 26 * 3_600, 100_000)
        // Ten hours since there was anything: 1,200 in 600 minutes.
        try await write(Self.day - 11 * 3_600, 1_000)
        try await write(Self.day - 3 * 3_600, 200)
        #expect(try await Self.read(file, now, change) == AlertReading(value: 9, threshold: 6))
        let rule = try AlertRule(Self.rule("a", change))
        #expect(rule.isHeld(by: AlertReading(value: 9, threshold: 6)))
        #expect(!rule.isHeld(by: AlertReading(value: 6, threshold: 6)))
        let below = try AlertRule(Self.rule("a") { $0.below = true })
        #expect(below.isHeld(by: AlertReading(value: 0.5, threshold: 1)))
        #expect(!below.isHeld(by: AlertReading(value: 1, threshold: 1)))
    }
}
