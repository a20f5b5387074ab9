import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `1/operator/telemetry`, on the operator's listener: what the server has counted.
struct TelemetryController: Sendable {
    let telemetry: Telemetry
    let keyWatch: KeyWatch
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64
    let journal: OperatorJournal

    /// In one answer.
    private static let (mostParts, usualLines, mostLines) = (3_000, 20, 1_000)
    /// What suits without being asked for: minutes up to three hours, hours up to two weeks.
    private static let (longestMinutes, longestHours): (Int64, Int64) = (3 * 3_600, 14 * 86_400)

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.operator.telemetry) { message, _ in
            let answer = try await answer(message)
            journal.note(.telemetry)
            return answer
        }
    }

    private func answer(_ message: Sealkit_V1_TelemetryRequest) async throws -> Sealkit_V1_TelemetryResponse {
        var answer = Sealkit_V1_TelemetryResponse()
        let query = try query(message)
        answer.from = query.step.start(of: query.from)
        answer.until = query.until
        answer.step = UInt32(query.step.rawValue)
        guard telemetry.recorder != nil else {
            answer.state = Telemetry.State.off.rawValue
            return answer
        }
        do {
            let limit = message.limit == 0 ? Self.usualLines : min(Int(clamping: message.limit), Self.mostLines)
            let (lines, active) = try await telemetry.reading { file in
                (try await file.lines(query, charted: limit, listed: limit), try await Self.active(query, file))
            }
            answer.lines = lines.largest.map { Self.line($0, isRest: false) }
            if let rest = lines.rest(beyond: limit) { answer.lines.append(Self.line(rest, isRest: true)) }
            answer.all = Self.line(lines.all, isRest: false)
            answer.active = active
            if query.kind == .sharing, let round = keyWatch.round {
                answer.keysRead = round.ended
                answer.keys = Self.keys(round, query.filters)
            }
        } catch TelemetryFileError.tooMuch {
            throw ServerError(
                .limitExceeded, "Telemetry has too many rows for one answer.",
                remedy: "Ask for a shorter time, a longer step, fewer lines, or one container.")
        } catch is TelemetryFileError {
            // It was put aside: there is nothing to be told.
        }
        answer.state = telemetry.state.rawValue
        answer.lost = UInt64(clamping: telemetry.recorder?.lost ?? 0)
        return answer
    }

    // MARK: The question

    /// - Throws: `invalidArguments`.
    private func query(_ message: Sealkit_V1_TelemetryRequest) throws(ServerError) -> TelemetryQuery {
        let now = clock() / 1_000_000
        let until = message.until == 0 ? now + 1 : message.until
        guard message.from > 0, message.from < until, until <= 1 << 40 else {
            throw Self.invalid("The time of telemetry is none.", "Give a beginning and a later end, in seconds.")
        }
        let step: TelemetryFile.Step
        switch message.step {
        case 0:
            let length = until - message.from
            step = length <= Self.longestMinutes ? .minute : length <= Self.longestHours ? .hour : .day
        case let seconds:
            guard let known = TelemetryFile.Step(rawValue: Int64(seconds)) else {
                throw Self.invalid("Telemetry has no steps of \(seconds) seconds.", "Use 60, 3600, 86400, or 0.")
            }
            step = known
        }
        guard (until - step.start(of: message.from)) / step.rawValue < Self.mostParts else {
            throw Self.invalid(
                "That are more than \(Self.mostParts) steps.", "Ask for a shorter time, or a longer step.")
        }
        let filters = try TelemetryDimension.filters(message.filters)
        let by = TelemetryDimension(rawValue: message.by)
        guard message.by.isEmpty || by != nil else {
            throw Self.invalid("Telemetry is not told apart by what was asked for.", TelemetryDimension.words)
        }
        return TelemetryQuery(
            from: message.from, until: until, step: step, kind: try Self.kind(message.kind), filters: filters, by: by)
    }

    /// - Throws: `invalidArguments`.
    static func kind(_ word: String) throws(ServerError) -> TelemetryKey.Kind {
        guard let kind = kinds[word] else {
            throw invalid(
                "There is no telemetry of that kind.",
                "Use \(kinds.keys.filter { !$0.isEmpty }.sorted().joined(separator: ", ")).")
        }
        return kind
    }

    private static let kinds: [String: TelemetryKey.Kind] = [
        "": .request, "request": .request, "item": .item, "notification": .notification, "sharing": .sharing,
        "stream": .stream, "coalesced": .coalesced,
    ]

    private static func invalid(_ reason: String, _ remedy: String) -> ServerError {
        ServerError(.invalidArguments, reason, remedy: remedy)
    }

    // MARK: The answer

    private static func line(_ series: TelemetrySeries, isRest: Bool) -> Sealkit_V1_TelemetryLine {
        .with {
            $0.name = series.name
            $0.isRest = isRest
            $0.total = sums(series.total)
            $0.parts = series.parts.sorted { $0.key < $1.key }.map { start, part in
                .with { ($0.start, $0.sums) = (start, sums(part)) }
            }
        }
    }

    private static func sums(_ part: TelemetrySeries.Part) -> Sealkit_V1_TelemetrySums {
        let sum = part.sum
        func quantile(_ share: Double, _ histogram: LogHistogram) -> UInt64 {
            UInt64(clamping: histogram.quantile(share))
        }
        return .with {
            $0.count = UInt64(clamping: sum.count)
            $0.codes = part.codes.sorted { $0.key < $1.key }.map { code, count in
                .with { ($0.code, $0.count) = (code, UInt64(clamping: count)) }
            }
            ($0.bytesIn, $0.bytesOut) = (UInt64(clamping: sum.bytesIn), UInt64(clamping: sum.bytesOut))
            $0.microseconds = UInt64(clamping: sum.microseconds)
            ($0.latency50, $0.latency95) = (quantile(0.5, sum.latency), quantile(0.95, sum.latency))
            $0.latency99 = quantile(0.99, sum.latency)
            ($0.bytesIn50, $0.bytesIn95) = (quantile(0.5, sum.sizesIn), quantile(0.95, sum.sizesIn))
            ($0.bytesOut50, $0.bytesOut95) = (quantile(0.5, sum.sizesOut), quantile(0.95, sum.sizesOut))
        }
    }

    /// By container and environment.
    private static func keys(
        _ round: KeyWatch.Round, _ filters: [TelemetryDimension: String]
    ) -> [Sealkit_V1_TelemetryKeys] {
        round.lines(filters).map { place, sums in
            .with {
                ($0.container, $0.environment) = (place.container, place.environment)
                ($0.scopes, $0.due, $0.dueSince) = (UInt64(sums.scopes), UInt64(sums.due), sums.dueSince / 1_000_000)
                ($0.outdated, $0.behind, $0.unread) = (UInt64(sums.outdated), sums.behind, UInt64(sums.unread))
            }
        }
    }

    /// Days and months of the time, and the seven days before its end together.
    private static func active(
        _ query: TelemetryQuery, _ file: TelemetryFile
    ) async throws -> [Sealkit_V1_TelemetryActive] {
        var active: [Sealkit_V1_TelemetryActive] = []
        let (container, environment) = (query.filters[.container], query.filters[.environment])
        func note(_ stretch: String, _ start: Int64, _ count: DistinctCount) {
            active.append(
                .with { ($0.stretch, $0.start, $0.accounts) = (stretch, start, UInt64(clamping: count.estimate)) })
        }
        for stretch in ActiveStretch.allCases {
            let found = try await file.active(
                stretch, from: query.from, until: query.until, container: container, environment: environment)
            for (start, count) in found { note(stretch.rawValue, start, count) }
        }
        let week = query.until - 7 * TelemetryFile.Step.day.rawValue
        let days = try await file.active(
            .day, from: max(0, week), until: query.until, container: container, environment: environment)
        var whole = DistinctCount()
        for (_, count) in days { whole.add(count) }
        note("week", max(0, week), whole)
        return active
    }
}
