import Logging
import SealService
import SealStorage
import Synchronization

/// Goes round all zones and shares, some each minute, and remembers how their keys stood in the last round that came to
/// its end. It reads, beside requests, and writes nothing.
final class KeyWatch: Sendable {
    struct Round: Sendable {
        /// Seconds since 1970.
        let ended: Int64
        let sums: [TelemetryPlace: KeySums]

        var all: KeySums { sums.values.reduce(into: KeySums()) { $0.add($1) } }

        /// Places that one answer names. Anybody may begin containers.
        static let mostLines = 1_000

        /// Of the container and environment that are chosen, by their names; of very many those in which the most keys
        /// are due or old, and the sum of the rest as the last one.
        func lines(_ filters: [TelemetryDimension: String]) -> [(place: TelemetryPlace, sums: KeySums)] {
            var chosen = sums.filter { place, _ in
                (filters[.container] ?? place.container) == place.container
                    && (filters[.environment] ?? place.environment) == place.environment
            }.map { (place: $0.key, sums: $0.value) }
            var rest: KeySums?
            if chosen.count > Self.mostLines {
                chosen.sort { ($0.sums.due, $0.sums.outdated) > ($1.sums.due, $1.sums.outdated) }
                rest = chosen[Self.mostLines...].reduce(into: KeySums()) { $0.add($1.sums) }
                chosen.removeLast(chosen.count - Self.mostLines)
            }
            chosen.sort { ($0.place.container, $0.place.environment) < ($1.place.container, $1.place.environment) }
            if let rest { chosen.append((TelemetryPlace(container: "(the rest)", environment: ""), rest)) }
            return chosen
        }
    }

    static let interval: Duration = .seconds(60)
    /// Reads of one look: a thousand zones or shares a minute.
    private static let pages = 5
    /// Seconds from the end of one round to the beginning of the next.
    private static let pause: Int64 = 600

    fileprivate struct State {
        var round: Round?
        /// Of the round that is under way; nil between two.
        var place: KeySurvey.Place? = KeySurvey.Place()
        var sums: [TelemetryPlace: KeySums] = [:]
    }

    private let transactions: Transactions
    private let survey = KeySurvey()
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter clock: microseconds since 1970.
    init(transactions: Transactions, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        (self.transactions, self.clock, self.logger) = (transactions, clock, logger)
    }

    /// The last one that came to its end; nil before that.
    var round: Round? { state.withLock(\.round) }

    /// Goes on with the round, or begins one where it is time. One at a time: whoever calls waits for it.
    func look() async {
        let now = clock() / 1_000_000
        let begun = state.withLock { state -> KeySurvey.Place? in
            let ended = state.round?.ended ?? 0
            // One that ended in the future was made while the clock was ahead.
            if state.place == nil, ended > now || now - ended >= Self.pause { state.place = KeySurvey.Place() }
            return state.place
        }
        guard var place = begun else { return }
        for _ in 0..<Self.pages {
            do {
                let (sums, next) = try await transactions.read { [survey, place] in
                    try survey.look(from: place, in: $0)
                }
                state.withLock { $0.take(sums, next, now: now) }
                guard let next else { return }
                place = next
            } catch {
                // Requests tell of a database that is away; the round goes on from where it is.
                logger.debug("the keys of zones cannot be looked at", metadata: ["error": "\(error)"])
                return
            }
        }
    }

    /// What is asked for when somebody reads the metrics.
    func observe(_ metrics: ServerMetrics) {
        metrics.observe([.keysDue, .keysDueSeconds, .keysOutdated, .keysBehind]) { [weak self] in
            guard let self, let round else { return [] }
            let all = round.all
            let age = all.dueSince > 0 ? max(0, clock() - all.dueSince) / 1_000_000 : 0
            return [all.due, Int(age), all.outdated, Int(all.behind)]
        }
    }
}

extension KeyWatch.State {
    fileprivate mutating func take(_ found: [TelemetryPlace: KeySums], _ next: KeySurvey.Place?, now: Int64) {
        for (place, sums) in found { self.sums[place, default: KeySums()].add(sums) }
        place = next
        guard next == nil else { return }
        round = KeyWatch.Round(ended: now, sums: sums)
        sums = [:]
    }
}
