import Hummingbird
import Logging
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// What is watched, and who is told.
extension Console {
    private var alertActions: AlertsController {
        AlertsController(
            watch: services.alertWatch, messages: services.alertMessages, transactions: services.transactions,
            jobs: services.jobs, clock: services.clock, journal: journal)
    }

    func addAlertRoutes(to routes: inout RouteTable) {
        get("/alerts", &routes) { _, session in try await alertPage(session) }
        post("/alerts/add", &routes) { fields, session in
            let rule = try Self.rule(fields)
            if fields["do"] == "preview" {
                return try await alertPage(session, said: try await preview(rule), fields: fields)
            }
            _ = try await alertActions.add(.with { $0.rule = rule })
            return ConsolePage.see("/alerts")
        }
        post("/alerts/remove", &routes) { fields, _ in
            try await alertActions.remove(fields["name"])
            return ConsolePage.see("/alerts")
        }
        post("/alerts/test", &routes) { fields, session in
            try await alertPage(session, said: Self.outcome(try await alertActions.test(fields["name"])))
        }
    }

    private static func rule(_ fields: FormFields) throws(ServerError) -> Sealkit_V1_AlertRule {
        guard let number = Double(fields["threshold"]), let minutes = UInt32(fields["minutes"]),
            let least = UInt32(fields["least"].isEmpty ? "0" : fields["least"])
        else {
            throw ServerError(
                .invalidArguments, "The threshold, the minutes or the fewest requests are no number.",
                remedy: "Give numbers, as 5 or 0.5.")
        }
        return .with {
            ($0.name, $0.measure, $0.minutes, $0.leastRequests) = (fields["name"], fields["measure"], minutes, least)
            $0.below = fields["side"].hasPrefix("below")
            if fields["side"].hasSuffix("average") { $0.factor = number } else { $0.value = number }
            $0.mail = fields.all("mail")
            $0.webhooks = fields.all("webhook")
            $0.filters = [Sealkit_V1_TelemetryFilter](filters(fields))
        }
    }

    /// What a rule would have seen, without telling anybody.
    private func preview(_ given: Sealkit_V1_AlertRule) async throws -> Markup {
        let rule = try AlertRule(given)
        let reading = try await alertActions.preview(rule)
        let now: Markup
        if let reading {
            now = """
                it reads \(Self.number(reading.value)) \(rule.measure.unit), compared with \
                \(Self.number(reading.threshold)): it would \(rule.isHeld(by: reading) ? "fire" : "not fire")
                """
        } else {
            now = "nothing can be said of it"
        }
        return "<p role=\"status\">\(rule.name) is not watched yet. Now \(now).</p>\n\(try await chart(rule, reading))"
    }

    /// The last day by hours, beside what they are compared with.
    private func chart(_ rule: AlertRule, _ reading: AlertReading?) async throws -> Markup {
        let time = ChartTime(hours: 24, now: self.now)
        guard rule.measure.isOfRequests, let counted = try await counted(time, filters: rule.filters, by: .operation)
        else { return .none }
        let minutes = Double(time.step.rawValue / TelemetryFile.Step.minute.rawValue)
        let values = counted.all.parts.compactMapValues { rule.measure.value(of: $0, minutes: minutes) }
        var lines = [Chart.Line(name: rule.measure.rawValue, values: values)]
        if let reading {
            let level = Dictionary(uniqueKeysWithValues: time.starts.map { ($0, reading.threshold) })
            lines.append(Chart.Line(name: "compared with", values: level))
        }
        return Chart(
            title: "\(rule.measure.rawValue), \(rule.measure.unit), by hours", lines: lines, starts: time.starts,
            step: time.step.rawValue, isStacked: false, text: Self.number, link: { _ in nil }
        ).markup
    }

    /// - Parameters:
    ///   - said: what has come of a form.
    ///   - fields: of a rule that is not watched yet.
    private func alertPage(
        _ session: ConsoleSessions.Session, said: Markup = .none, fields: FormFields = FormFields()
    ) async throws -> Response {
        let (alerts, changes) = try await services.transactions.read {
            [alerts = services.alertWatch.alerts] connection in
            (
                try alerts.all(in: connection).map(\.wire),
                try Alerts.history(.with { $0.limit = 50 }, in: connection).changes
            )
        }
        journal.note(.alerts, ["count": "\(alerts.count)"])
        let sides = [
            ("above", "above"), ("below", "below"), ("above-average", "above so many times the average"),
            ("below-average", "below so many times the average"),
        ]
        let history = changes.map { change -> Markup in
            """
            <tr><th scope="row">\(Self.time(microseconds: change.time))</th><td>\(change.name)</td>\
            <td>\(change.fired ? "fired" : "recovered")</td><td class="n">\(Self.number(change.reading.value))</td>\
            <td class="n">\(Self.number(change.reading.threshold))</td></tr>

            """
        }
        let measures = AlertMeasure.allCases.map { ($0.rawValue, "\($0.rawValue) (\($0.unit))") }
        let body: Markup = """
            \(said)
            \(Self.table(
                "Alerts",
                ["alert", "state", "fires when", "now", "tells", "last look", "actions"],
                alerts.map { row($0, session) }, empty: "Nothing is watched yet."))
            <h2>Watch something</h2>
            <form class="fields" method="post" action="/alerts/add">
            \(ConsolePage.formToken(session, "/alerts/add"))\(Self.field("Name", "name", fields["name"]))\
            \(Self.choice("Measure", "measure", measures, fields.value("measure") ?? "failures"))\
            \(Self.choice("Fires", "side", sides, fields["side"]))\
            \(Self.field("Threshold", "threshold", fields["threshold"]))\
            \(Self.field("Minutes", "minutes", fields.value("minutes") ?? "5"))\
            \(Self.field("From so many requests on", "least", fields.value("least") ?? "0"))\
            \(Self.filterFields(fields))\(Self.field("Mail to", "mail", fields["mail"]))\
            \(Self.field("Webhook", "webhook", fields["webhook"]))<button>Watch</button>
            <button name="do" value="preview">Preview</button>
            </form>
            <h2>History</h2>
            \(Self.table("History", ["time", "alert", "state", "value", "compared with"], history, numbers: [3, 4], empty: "None has fired."))
            """
        return ConsolePage(title: "Alerts", body: body, session: session).response()
    }

    private static func number(_ value: Double) -> String { AlertText.number(value) }

    private static func outcome(_ test: Sealkit_V1_TestAlertResponse) -> Markup {
        let rows = test.deliveries.map { delivery -> Markup in
            "<li>\(delivery.target): \(delivery.taken ? "taken" : "not taken, \(delivery.answer)")</li>\n"
        }
        return """
            <p role="status">\(test.alert.rule.name) was tested: it would \(test.wouldFire ? "fire" : "not fire").</p>
            <ul>\(Markup(rows))</ul>
            """
    }

    private func row(_ alert: Sealkit_V1_AlertState, _ session: ConsoleSessions.Session) -> Markup {
        let rule = alert.rule
        let threshold =
            switch rule.threshold {
            case .value(let value): Self.number(value)
            case .factor(let factor): "\(Self.number(factor)) times the average"
            case nil: ""
            }
        let only = rule.filters.map { "\($0.dimension) \($0.word)" }.joined(separator: ", ")
        let state: Markup = alert.firing ? "<span class=\"bad\">fires</span>" : "quiet"
        let since = alert.since > 0 ? " since \(Self.time(microseconds: alert.since))" : ""
        let when = AlertMeasure(rawValue: rule.measure)?.isOfRequests == false ? "" : ", \(rule.minutes) min"
        let condition =
            "\(rule.measure) \(rule.below ? "below" : "above") \(threshold)\(when)\(only.isEmpty ? "" : ": \(only)")"
        let forms = [("/alerts/test", "Test"), ("/alerts/remove", "Remove")].map { path, word -> Markup in
            """
            <form method="post" action="\(path)">\(ConsolePage.formToken(session, path))\
            <input type="hidden" name="name" value="\(rule.name)"><button>\(word)</button></form>
            """
        }
        return """
            <tr><th scope="row">\(rule.name)</th><td>\(state)\(since)</td><td>\(condition)</td>\
            <td class="n">\(alert.hasReading ? Self.number(alert.reading.value) : "")</td>\
            <td>\((rule.mail + rule.webhooks).joined(separator: ", "))</td>\
            <td>\(alert.checked > 0 ? Self.time(microseconds: alert.checked) : "never")</td><td>\(Markup(forms))</td></tr>

            """
    }
}
