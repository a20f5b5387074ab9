import SealStorage
import Synchronization

/// What alerts compare with, by what they look at: hours that are over, read once an hour and not once a minute.
package final class AlertAverages: Sendable {
    private struct Key: Hashable {
        let filters: [TelemetryDimension: String]
        /// The beginning of the first hour and the end of the last, in seconds since 1970.
        let from, until: Int64
    }

    /// All of the hours together, and the first minute that has anything.
    struct Hours: Sendable {
        let total: TelemetrySeries.Part
        let first: Int64
    }

    private let known = Mutex<[Key: Hours]>([:])

    package init() {}

    /// - Parameters:
    ///   - from: the beginning of the first of them, in seconds since 1970.
    ///   - until: the end of the last of them, in seconds since 1970.
    ///   - read: gets them; nil where there was nothing, which is asked for again.
    func hours(
        _ filters: [TelemetryDimension: String], from: Int64, until: Int64, _ read: () async throws -> Hours?
    ) async throws -> Hours? {
        let key = Key(filters: filters, from: from, until: until)
        if let known = known.withLock({ $0[key] }) { return known }
        guard let read = try await read() else { return nil }
        known.withLock { known in
            // A rule of many minutes is still at the hour before.
            known = known.filter { $0.key.until >= until - 2 * TelemetryFile.Step.hour.rawValue }
            if known.count >= AlertRule.most { known.removeAll() }
            known[key] = read
        }
        return read
    }
}
