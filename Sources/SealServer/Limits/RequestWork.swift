import SealService
import SealWire

/// Counts one request's work against whoever sent it. It travels in the request's context.
struct WorkMeter: Sendable {
    let services: Services
    let subject: RateLimiter.Subject

    /// Throws `requestRateLimited`.
    func count(_ rate: RateClass, _ amount: Int) throws(ServerError) {
        guard let kind = rate.kind, let rule = services.limits.rule(of: kind) else { return }
        try services.limiter.count(kind, subject, amount: amount, rule: rule, now: services.clock())
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
