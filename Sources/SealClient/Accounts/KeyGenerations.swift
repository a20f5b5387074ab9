public import SealEnvelope
public import SealPrimitives

/// An account's seeds, which grow when it takes new ones, and which of the login keys that they give is in use.
///
/// A device keeps a new seed before the server hears of it. Until the server has it, it is *untold*: nothing is signed
/// with it. Only the process that made it knows that. After a restart the newest seed is the one in use, whatever the
/// server says: one that denies it must not bring an account back to keys that somebody else may have.
public struct KeyGenerations: Sendable {
    /// What the device keeps, oldest first; never empty.
    public private(set) var all: [AccountSeed]
    private var keys: [SigningKey]
    /// All but those that this process has made and not told.
    private var told: Int
    /// The server may have been told of the rest: its answer did not come, or said nothing about it.
    public private(set) var mayBeTold = false
    /// The server has said that it does not know the newest.
    private var isUnknown = false
    private var isRotating = false
    /// Of generation 0: the same account has the same, whatever keys it has now.
    public let rootKey: VerificationKey

    /// - Parameter seeds: oldest first.
    /// - Throws: `invalidIdentity` for no seed.
    public init(_ seeds: [AccountSeed]) throws(SealError) {
        var keys: [SigningKey] = []
        for seed in seeds { keys.append(try seed.loginKey()) }
        guard let root = keys.first else { throw .invalidIdentity }
        (all, self.keys, told, rootKey) = (seeds, keys, seeds.count, root.verificationKey)
    }

    /// Those in use, oldest first.
    public var seeds: [AccountSeed] { Array(all[..<told]) }
    public var hasUntold: Bool { told < all.count }
    /// The newest in use.
    public var loginKey: SigningKey { keys[told - 1] }
    /// Of the seeds in use.
    public var toldKeys: [VerificationKey] { keys[..<told].map { $0.verificationKey } }
    /// Of all seeds, from the newest on.
    public var loginKeys: [SigningKey] { keys.reversed() }
    /// What a login is tried with, one after the other. A key that this process has made and told may have arrived,
    /// though no answer came back.
    public var loginAttempts: [SigningKey] { hasUntold ? [keys[keys.count - 1], loginKey] : [loginKey] }

    /// The server has said that it does not know the newest of several keys: one before them may be in use.
    public var isNewestUnknown: Bool { isUnknown && all.count > 1 }

    /// The server knows this key.
    public mutating func isKnown(_ key: VerificationKey) {
        guard let index = keys.firstIndex(where: { $0.verificationKey == key }) else { return }
        told = max(told, index + 1)
        if told == all.count { mayBeTold = false }
        if index == all.count - 1 { isUnknown = false }
    }

    /// The server knows none of what a login was tried with.
    public mutating func noneIsKnown() { if !hasUntold { isUnknown = true } }

    /// A new seed, which the server is still to be told of.
    public mutating func add(_ seed: AccountSeed) throws(SealError) {
        let key = try seed.loginKey()
        all.append(seed)
        keys.append(key)
        mayBeTold = false
    }

    /// The server is being told of the untold seed.
    /// - Returns: whether that may have happened before.
    public mutating func beginTelling() -> Bool {
        defer { mayBeTold = true }
        return mayBeTold
    }

    /// The server has refused it, and it was the first time.
    public mutating func wasRefused() { mayBeTold = false }

    /// What this process has made comes to nothing: it was not wanted after all, or refused.
    /// - Parameter another: the server has another key in its place, so that it can never have this one.
    /// - Returns: whether it was dropped: what the server may have is not.
    public mutating func dropUntold(becauseOf another: Bool) -> Bool {
        guard another || !mayBeTold else { return false }
        all.removeSubrange(told...)
        keys.removeSubrange(told...)
        mayBeTold = false
        return true
    }

    /// One rotation at a time.
    /// - Returns: false while there is another.
    public mutating func beginRotation() -> Bool {
        defer { isRotating = true }
        return !isRotating
    }

    public mutating func endRotation() { isRotating = false }
}

extension KeyGenerations: CustomStringConvertible {
    public var description: String { "KeyGenerations" }
}
