import SealService
import SealStorage

/// What was counted, by stretches and lines: read once for a page, which shows it together and line by line.
struct Counted: Sendable {
    let time: ChartTime
    let kind: TelemetryKey.Kind
    let by: TelemetryDimension
    /// The one with the most first.
    let series: [TelemetrySeries]
    /// Accounts by the beginnings of days.
    let active: [Int64: Double]
    let all: TelemetrySeries

    init(
        time: ChartTime, kind: TelemetryKey.Kind, by: TelemetryDimension, series: [TelemetrySeries],
        active: [Int64: Double]
    ) {
        (self.time, self.kind, self.by, self.series, self.active) = (time, kind, by, series, active)
        all = Self.together(series, named: "")
    }

    /// - Throws: what reading telemetry throws.
    init(
        _ file: TelemetryFile, time: ChartTime, kind: TelemetryKey.Kind, filters: [TelemetryDimension: String],
        by: TelemetryDimension
    ) async throws {
        let query = TelemetryQuery(
            from: time.from, until: time.until, step: time.step, kind: kind, filters: filters, by: by)
        let series = try await file.series(query)
        let active = try await file.active(
            .day, from: time.from, until: time.until, container: filters[.container],
            environment: filters[.environment])
        self.init(
            time: time, kind: kind, by: by, series: series,
            active: Dictionary(uniqueKeysWithValues: active.map { ($0.start, Double($0.count.estimate)) }))
    }

    struct Line {
        let series: TelemetrySeries
        /// All that are no line of their own, together.
        let isRest: Bool

        var name: String { isRest ? "(the rest)" : series.name.isEmpty ? "(none)" : series.name }
    }

    /// The largest, and the rest together.
    func lines(atMost limit: Int) -> [Line] {
        var lines = series.prefix(limit).map { Line(series: $0, isRest: false) }
        if series.count > limit {
            lines.append(Line(series: Self.together(series.dropFirst(limit), named: ""), isRest: true))
        }
        return lines
    }

    private static func together(_ series: some Sequence<TelemetrySeries>, named name: String) -> TelemetrySeries {
        var all = TelemetrySeries(name: name)
        for one in series { all.add(one) }
        return all
    }

    static func word(_ kind: TelemetryKey.Kind) -> String {
        switch kind {
        case .request: "Requests"
        case .item: "Refused items"
        case .notification: "Notifications"
        case .sharing: "Sharing"
        case .stream: "Open streams"
        case .coalesced: "Coalesced notifications"
        }
    }
}
