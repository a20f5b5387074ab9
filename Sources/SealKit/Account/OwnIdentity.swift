import SealEnvelope
import SealPrimitives
import SealStatements
import Synchronization

/// One's own keys in one container, of every generation of the account's seed.
struct OwnIdentity: Sendable {
    /// Oldest first; never empty.
    let generations: [IdentityKeys]
    let chain: IdentityChain
    /// The newest.
    let keys: IdentityKeys

    /// - Throws: `invalidIdentity` for no seed.
    init(_ seeds: [AccountSeed], container: String) throws(SealError) {
        var generations: [IdentityKeys] = []
        var chain: IdentityChain?
        for seed in seeds {
            let keys = try seed.identityKeys(container: container, using: XWingHPKE.self)
            // The time is part of the statement: a fixed one makes every device of the account state the same bytes.
            if let known = chain, let last = generations.last {
                chain = try keys.nextIdentity(after: known, signedBy: last, time: 0)
            } else {
                chain = try keys.firstIdentity(time: 0)
            }
            generations.append(keys)
        }
        guard let chain, let keys = generations.last else { throw .invalidIdentity }
        (self.generations, self.chain, self.keys) = (generations, chain, keys)
    }

    /// The keys that a roster knows this account by now: what it takes an entry from.
    func keys(in roster: Roster) -> IdentityKeys {
        guard let known = roster.members[chain.userID]?.identity.signed.count, known <= generations.count else {
            return keys
        }
        return generations[known - 1]
    }

    /// The generations that a roster which this account is a member of has not been told; nil when it knows them all.
    func untold(in roster: Roster) -> [SignedIdentity]? {
        guard !roster.isClosed, let known = roster.members[chain.userID]?.identity.signed.count,
            known < chain.signed.count
        else { return nil }
        return Array(chain.signed.dropFirst(known))
    }

    /// Opens what was sealed to any of the generations, the newest first.
    /// - Throws: what the oldest fails with.
    func open<T>(_ body: (IdentityKeys) throws(SealError) -> T) throws(SealError) -> T {
        for keys in generations.dropFirst().reversed() {
            if let opened = try? body(keys) { return opened }
        }
        return try body(generations[0])
    }

    /// Whether the keys that a roster has of this account are its own: an older device must hear that there are newer
    /// ones, and a thief's must not pass for them.
    /// - Throws: `keysReplaced`, `integrityFailure`.
    func check(_ roster: Roster) throws(SealKitError) {
        guard let known = roster.knownIdentity(of: chain.userID), !chain.continues(known) else { return }
        guard known.continues(chain) else {
            throw SealKitError(
                .integrityFailure,
                "the roster of \(roster.scope.zoneName) has keys of this account that none of its devices has made",
                remedy:
                    "somebody had its former keys: renew them with rotateKeys(trust:show:), and tell those you share with"
            )
        }
        throw SealKitError.keysReplaced
    }
}

extension SealKitError {
    static let keysReplaced = SealKitError(
        .keysReplaced, "another device has given this account new keys, which this one does not have",
        remedy: "enrol this device again from one that has them, or recover the account on it")
}

/// The identity as the account's seeds give it now: made again when the account has taken a new one.
final class OwnIdentities: Sendable {
    private let current: Mutex<OwnIdentity>
    private let account: Account
    private let container: String
    let userID: UserID

    init(_ account: Account, container: String) throws(SealKitError) {
        let own = try verifying("this account's identity") { () throws(SealError) in
            try OwnIdentity(account.seeds, container: container)
        }
        (self.account, self.container, userID) = (account, container, own.chain.userID)
        current = Mutex(own)
    }

    var now: OwnIdentity {
        let seeds = account.seeds
        return current.withLock { own in
            // Generations of one account follow one another: their number tells which there are.
            if own.generations.count != seeds.count, let next = try? OwnIdentity(seeds, container: container) {
                own = next
            }
            return own
        }
    }
}
