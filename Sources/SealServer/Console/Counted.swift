import SealService
import SealStorage

/// What was counted, by stretches and lines: read once for a page, which shows it together and line by line.
struct Counted: Sendable {
    let time: ChartTime
    let kind: TelemetryKey.Kind
    let by: TelemetryDimension
    /// Lines by themselves, and the rest together.
    let found: TelemetryLines
    /// Accounts by the beginnings of days.
    let active: [Int64: Double]
    let all: TelemetrySeries

    /// Lines that a chart has colours for, and those of the longest table.
    static let (mostCharted, mostListed) = (5, 50)

    /// - Parameter name: of the line that a word belongs to.
    /// - Throws: what reading telemetry throws.
    init(
        _ file: TelemetryFile, time: ChartTime, kind: TelemetryKey.Kind, filters: [TelemetryDimension: String],
        by: TelemetryDimension, named name: @escaping @Sendable (String) -> String = { $0 }
    ) async throws {
        let query = TelemetryQuery(
            from: time.from, until: time.until, step: time.step, kind: kind, filters: filters, by: by)
        let found = try await file.lines(query, charted: Self.mostCharted, listed: Self.mostListed, named: name)
        let active = try await file.active(
            .day, from: time.from, until: time.until, container: filters[.container],
            environment: filters[.environment])
        (self.time, self.kind, self.by) = (time, kind, by)
        (self.found, self.all) = (found, found.all)
        self.active = Dictionary(uniqueKeysWithValues: active.map { ($0.start, Double($0.count.estimate)) })
    }

    struct Line {
        let series: TelemetrySeries
        /// All that are no line of their own, together.
        let isRest: Bool

        var name: String { isRest ? "(the rest)" : series.name.isEmpty ? "(none)" : series.name }
    }

    /// The largest, and the rest together.
    /// - Parameter limit: a chart's at most `mostCharted`, a table's at most `mostListed`.
    func lines(atMost limit: Int) -> [Line] {
        let lines = found.largest.prefix(limit).map { Line(series: $0, isRest: false) }
        return lines + (found.rest(beyond: limit).map { [Line(series: $0, isRest: true)] } ?? [])
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
