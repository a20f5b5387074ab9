import SealClient
import SealPrimitives
import SealStatements
import Synchronization

/// The identity as the account's seeds give it now: made again when the account has taken a new one.
final class OwnIdentities: Sendable {
    private let current: Mutex<OwnIdentity>
    private let account: Account
    private let container: String
    let userID: UserID

    init(_ account: Account, container: String) throws(SealKitError) {
        let own = try verifying("this account's identity") { () throws(SealError) in
            try OwnIdentity(account.seeds, container: container, using: XWingHPKE.self)
        }
        (self.account, self.container, userID) = (account, container, own.chain.userID)
        current = Mutex(own)
    }

    var now: OwnIdentity {
        let seeds = account.seeds
        return current.withLock { own in
            // Generations of one account follow one another: their number tells which there are.
            if own.generations.count != seeds.count,
                let next = try? OwnIdentity(seeds, container: container, using: XWingHPKE.self)
            {
                own = next
            }
            return own
        }
    }
}
