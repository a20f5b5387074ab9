import Synchronization

/// A session of which the database holds nothing, because its disk is full: so a device that the account has already
/// goes on reading. It ends with the process, with whatever ends any session of its account, and after an hour.
package final class ProvisionalSession: Sendable {
    /// One hour: long enough to look, and short, so that a client soon has one that outlives a restart.
    package static let lifetime: Int64 = 3_600_000_000
    /// Each process of a device has one of its own. The one that ends first makes room.
    package static let mostPerAccount = 20
    /// No account can be made while the disk is full, so that one needs many to fill it.
    package static let most = 20_000

    let account: Int64
    let device: Int64
    let expires: Int64
    private let ended = Atomic(false)

    init(account: Int64, device: Int64, expires: Int64) {
        (self.account, self.device, self.expires) = (account, device, expires)
    }

    /// Requests under way have it in their hands, and look.
    func end() { ended.store(true, ordering: .releasing) }

    func isInForce(now: Int64) -> Bool { expires > now && !ended.load(ordering: .acquiring) }
}

extension ProvisionalSession: Equatable {
    package static func == (one: ProvisionalSession, other: ProvisionalSession) -> Bool { one === other }
}
