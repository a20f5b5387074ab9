import SealService
import SealWire

/// Counts one request's work against whoever sent it. It travels in the request's context.
struct WorkMeter: Sendable {
    let rates: RequestRates
    let subject: RateLimiter.Subject

    /// Throws `requestRateLimited`.
    func count(_ rate: RateClass, _ amount: Int) throws(ServerError) {
        guard let kind = rate.kind else { return }
        try rates.count(kind, subject, amount: amount)
    }
}

extension RateClass {
    /// Nil for what is counted with the request.
    fileprivate var kind: RateLimiter.Kind? {
        switch self {
        case .write: .write
        case .read: .read
        case .sharing: .sharing
        case .request: nil
        }
    }
}
