import Synchronization

/// Remembers who has had enough codes, so that asking again and again reaches neither the database nor its one writer:
/// what is refused costs a look into memory, however many ask.
package final class SendingRefusals: Sendable {
    private let until = Mutex<[SendingLimits.Subject: Int64]>([:])
    private let capacity: Int

    /// No rule's window is longer. A time further ahead is from before a clock was set back.
    private static let longest: Int64 = 86_400_000_000

    package init(capacity: Int = 65_536) { self.capacity = capacity }

    /// Throws `requestRateLimited`. Which subject it was is not said: that others ask for codes to an address is their
    /// business.
    package func check(_ subjects: [SendingLimits.Subject], now: Int64) throws(ServerError) {
        let latest = until.withLock { until -> Int64? in
            var latest: Int64?
            for subject in subjects {
                guard let time = until[subject] else { continue }
                if time > now, time - now <= Self.longest {
                    latest = max(latest ?? 0, time)
                } else {
                    until[subject] = nil
                }
            }
            return latest
        }
        if let latest { throw .rateLimited(until: latest, now: now) }
    }

    /// - Parameter blocked: what the database said.
    package func note(_ blocked: [SendingLimits.Subject: Int64], now: Int64) {
        until.withLock { until in
            if until.count + blocked.count > capacity { until = until.filter { $0.value > now } }
            // Still full: those who are forgotten are asked about once more in the database.
            if until.count + blocked.count > capacity { until = [:] }
            until.merge(blocked) { max($0, $1) }
        }
    }
}
