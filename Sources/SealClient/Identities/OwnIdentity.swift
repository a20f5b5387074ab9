public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// One's own keys in one container, of every generation of the account's seed.
public struct OwnIdentity: Sendable {
    /// Oldest first; never empty.
    public let generations: [IdentityKeys]
    public let chain: IdentityChain
    /// The newest.
    public let keys: IdentityKeys

    /// - Parameter seeds: of all generations, oldest first.
    /// - Throws: `invalidIdentity` for no seed.
    public init<H: HybridEncryption>(_ seeds: [AccountSeed], container: String, using: H.Type) throws(SealError) {
        var generations: [IdentityKeys] = []
        var chain: IdentityChain?
        for seed in seeds {
            let keys = try seed.identityKeys(container: container, using: H.self)
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
    public func keys(in roster: Roster) -> IdentityKeys {
        guard let known = roster.members[chain.userID]?.identity.signed.count, known <= generations.count else {
            return keys
        }
        return generations[known - 1]
    }

    /// The generations that a roster which this account is a member of has not been told; nil when it knows them all.
    public func untold(in roster: Roster) -> [SignedIdentity]? {
        guard !roster.isClosed, let known = roster.members[chain.userID]?.identity.signed.count,
            known < chain.signed.count
        else { return nil }
        return Array(chain.signed.dropFirst(known))
    }

    /// Opens what was sealed to any of the generations, the newest first.
    /// - Throws: what the oldest fails with.
    public func open<T>(_ body: (IdentityKeys) throws(SealError) -> T) throws(SealError) -> T {
        for keys in generations.dropFirst().reversed() {
            if let opened = try? body(keys) { return opened }
        }
        return try body(generations[0])
    }

    /// Whether the keys that a roster has of this account are its own: an older device must hear that there are newer
    /// ones, and a thief's must not pass for them.
    /// - Throws: `keysReplaced`, `foreignKeys`.
    public func check(_ roster: Roster) throws(ClientError) {
        guard let known = roster.knownIdentity(of: chain.userID), !chain.continues(known) else { return }
        throw known.continues(chain) ? .keysReplaced : .foreignKeys
    }
}
