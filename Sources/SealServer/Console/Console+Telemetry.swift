import Hummingbird
import SealService
import SealStorage
import SealWire

/// The page of what was counted.
extension Console {
    /// Nil where nothing is counted, or the file has just been put aside.
    /// - Parameter name: of the line that a word belongs to.
    func counted(
        _ time: ChartTime, kind: TelemetryKey.Kind = .request, filters: [TelemetryDimension: String] = [:],
        by: TelemetryDimension, named name: @escaping @Sendable (String) -> String = { $0 }
    ) async throws -> Counted? {
        guard services.telemetry.recorder != nil else { return nil }
        do {
            return try await services.telemetry.reading {
                try await Counted($0, time: time, kind: kind, filters: filters, by: by, named: name)
            }
        } catch TelemetryFileError.tooMuch {
            throw ServerError(
                .limitExceeded, "Telemetry has too many rows for one page.",
                remedy: "Choose a shorter time, or one container.")
        } catch is TelemetryFileError {
            return nil
        }
    }

    private static let kinds: [(value: String, shown: String)] = [
        ("", "requests"), ("item", "refused items"), ("notification", "notifications"),
        ("coalesced", "coalesced notifications"), ("stream", "open streams"), ("sharing", "sharing"),
    ]

    func telemetry(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        let time = try ChartTime(fields, now: now)
        let wanted = fields["by"].isEmpty ? .operation : TelemetryDimension(rawValue: fields["by"])
        guard let by = wanted else {
            throw ServerError(
                .invalidArguments, "There are no lines by that.",
                remedy: "Use \(TelemetryDimension.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        let kind = try TelemetryController.kind(fields["kind"])
        let filters = Self.filters(fields)
        let chosen = filters.map { (name: $0.key.rawValue, value: $0.value) }.sorted { $0.name < $1.name }
        func link(_ time: ChartTime, _ chosen: [(name: String, value: String)]) -> String {
            "/telemetry?" + FormFields.query(time.fields + [("by", by.rawValue), ("kind", fields["kind"])] + chosen)
        }
        let form: Markup = """
            <form class="fields" method="get" action="/telemetry">
            \(Self.timeChoice(time, fields))\(Self.choice("What", "kind", Self.kinds, fields["kind"]))\
            \(Self.choice("Lines by", "by", TelemetryDimension.allCases.map { ($0.rawValue, $0.rawValue) }, by.rawValue))\
            \(Self.filterFields(fields))<button>Show</button>
            </form>
            """
        let counted = try await counted(time, kind: kind, filters: filters, by: by)
        let others = time.others.map { name, time -> Markup in "<a href=\"\(link(time, chosen))\">\(name)</a>\n" }
        let body: Markup = """
            \(form)<p>\(Markup(others))</p>
            \(Self.charts(counted, made: try await made(time, filters)) { link($0, chosen) })
            \(try await further(kind, time, filters))
            \(Self.sums(counted, limit: Counted.mostListed) { word in
                link(time, chosen.filter { $0.name != by.rawValue } + [(by.rawValue, word)])
            })
            \(Self.codes(counted))\(kind == .sharing ? keys(filters) : .none)
            <p><a href="/logs?\(FormFields.query(Self.logTime(time) + chosen))">The same in the log</a></p>
            """
        journal.note(.telemetry)
        return ConsolePage(title: "Telemetry", body: body, session: session).response()
    }

    /// Beside what there is of every kind: notifications with what became of them, and shares with how people come
    /// into them.
    private func further(
        _ kind: TelemetryKey.Kind, _ time: ChartTime, _ filters: [TelemetryDimension: String]
    ) async throws -> Markup {
        switch kind {
        case .notification:
            guard let sent = try await counted(time, kind: kind, filters: filters, by: .operation),
                let coalesced = try await counted(time, kind: .coalesced, filters: filters, by: .operation),
                let open = try await counted(time, kind: .stream, filters: filters, by: .container)
            else { return .none }
            return Self.outcomes(sent, coalesced) + Self.charts(open)
        case .sharing:
            var ofAcceptances = filters
            if ofAcceptances[.operation] == nil { ofAcceptances[.operation] = "acceptance" }
            guard ofAcceptances[.operation] == "acceptance",
                let ways = try await counted(
                    time, kind: kind, filters: ofAcceptances, by: .client, named: { Self.way($0) })
            else { return .none }
            return Self.ways(ways)
        default: return .none
        }
    }

    /// Accounts are the server's: where a part of its requests is looked at there are none.
    private func made(
        _ time: ChartTime, _ filters: [TelemetryDimension: String]
    ) async throws -> [Int64: Double]? {
        guard filters.isEmpty else { return nil }
        let day = TelemetryFile.Step.day
        let found = try await services.transactions.read { connection in
            try ManagementEvents.counts(
                of: .accountMade, from: day.start(of: time.from) * 1_000_000, until: time.until * 1_000_000,
                by: day.rawValue * 1_000_000, in: connection)
        }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.start / 1_000_000, Double($0.count)) })
    }

    /// - Parameter fields: of which those that say the time go along where it is none of the form's.
    private static func timeChoice(_ time: ChartTime, _ fields: FormFields) -> Markup {
        guard let hours = time.hours else {
            return choice("Time", "hours", [("", "as chosen")] + lengths, "") + hidden(fields, ChartTime.names)
        }
        return lengthChoice(hours)
    }

    /// The log's moments are microseconds.
    private static func logTime(_ time: ChartTime) -> [(name: String, value: String)] {
        guard time.hours == nil else { return time.fields }
        return [("from", "\(time.from * 1_000_000)"), ("until", "\(time.until * 1_000_000)")]
    }

    /// Those that a query names and that are not empty.
    static func filters(_ fields: FormFields) -> [TelemetryDimension: String] {
        TelemetryDimension.allCases.reduce(into: [:]) { filters, dimension in
            let word = fields[dimension.rawValue]
            if !word.isEmpty { filters[dimension] = word }
        }
    }

    static func filterFields(_ fields: FormFields) -> Markup {
        Markup(
            TelemetryDimension.allCases.map { dimension in
                let value = fields[dimension.rawValue]
                if dimension == .environment {
                    return choice("environment", dimension.rawValue, environments, value)
                }
                return field(dimension.rawValue, dimension.rawValue, value)
            })
    }
}
