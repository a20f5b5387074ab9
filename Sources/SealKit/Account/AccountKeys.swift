import SealClient
import SealEnvelope
import SealPrimitives
import Synchronization

/// An account's keys, shared by all that act for it: see `KeyGenerations`.
final class AccountKeys: Sendable {
    private let generations: Mutex<KeyGenerations>
    /// Of generation 0: the same account has the same, whatever keys it has now.
    let rootKey: VerificationKey

    /// - Throws: `invalidArguments` when there is no seed.
    init(_ seeds: [AccountSeed]) throws(SealKitError) {
        guard !seeds.isEmpty else { throw SealKitError(.invalidArguments, "an account has at least one seed") }
        let made = try verifying("the account's login key") { () throws(SealError) in try KeyGenerations(seeds) }
        rootKey = made.rootKey
        generations = Mutex(made)
    }

    /// Those in use, oldest first.
    var seeds: [AccountSeed] { generations.withLock(\.seeds) }
    /// What the device keeps.
    var all: [AccountSeed] { generations.withLock(\.all) }
    var hasUntold: Bool { generations.withLock(\.hasUntold) }
    var mayBeTold: Bool { generations.withLock(\.mayBeTold) }
    /// The newest in use.
    var loginKey: SigningKey { generations.withLock(\.loginKey) }
    /// Of the seeds in use.
    var toldKeys: [VerificationKey] { generations.withLock(\.toldKeys) }
    /// Of all seeds, from the newest on.
    var loginKeys: [SigningKey] { generations.withLock(\.loginKeys) }
    var loginAttempts: [SigningKey] { generations.withLock(\.loginAttempts) }
    var isNewestUnknown: Bool { generations.withLock(\.isNewestUnknown) }

    func isKnown(_ key: VerificationKey) { generations.withLock { $0.isKnown(key) } }
    func noneIsKnown() { generations.withLock { $0.noneIsKnown() } }

    /// A new seed, which the server is still to be told of.
    func add(_ seed: AccountSeed) throws(SealKitError) {
        try verifying("the new login key") { () throws(SealError) in
            try generations.withLock { generations throws(SealError) in try generations.add(seed) }
        }
    }

    /// The server is being told of the untold seed.
    /// - Returns: whether that may have happened before.
    func beginTelling() -> Bool { generations.withLock { $0.beginTelling() } }
    func wasRefused() { generations.withLock { $0.wasRefused() } }
    /// - Returns: whether it was dropped.
    func dropUntold(becauseOf another: Bool) -> Bool { generations.withLock { $0.dropUntold(becauseOf: another) } }

    /// One rotation at a time.
    /// - Throws: `constraintViolation` while there is another.
    func beginRotation() throws(SealKitError) {
        guard generations.withLock({ $0.beginRotation() }) else {
            throw SealKitError(
                .constraintViolation, "this account is being given new keys already", remedy: "wait for the end of that"
            )
        }
    }

    func endRotation() { generations.withLock { $0.endRotation() } }
}
