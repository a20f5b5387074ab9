import SealEnvelope
import SealPrimitives
import SealStatements
import Synchronization

/// An account's seeds, which grow when it takes new ones, and the login keys that they give.
///
/// A device keeps a new seed before the server hears of it. Until the server has it, it is *untold*: nothing is signed
/// with it. Only the process that made it knows that. After a restart the newest seed is the one in use, whatever the
/// server says: one that denies it must not bring an account back to keys that somebody else may have.
final class AccountKeys: Sendable {
    private struct Content {
        /// Oldest first, with their login keys; never empty.
        var seeds: [AccountSeed]
        var loginKeys: [SigningKey]
        /// All but those that this process has made and not told.
        var told: Int
        /// The server may have been told of the rest: its answer did not come, or said nothing about it.
        var mayBeTold = false
        /// The server has said that it does not know the newest.
        var isNewestUnknown = false
        var isRotating = false
    }

    private let content: Mutex<Content>
    /// Of generation 0: the same account has the same, whatever keys it has now.
    let rootKey: VerificationKey

    /// - Throws: `invalidArguments` when there is no seed.
    init(_ seeds: [AccountSeed]) throws(SealKitError) {
        let loginKeys = try verifying("the account's login key") { () throws(SealError) in
            var keys: [SigningKey] = []
            for seed in seeds { keys.append(try seed.loginKey()) }
            return keys
        }
        guard let root = loginKeys.first else {
            throw SealKitError(.invalidArguments, "an account has at least one seed")
        }
        rootKey = root.verificationKey
        content = Mutex(Content(seeds: seeds, loginKeys: loginKeys, told: seeds.count))
    }

    /// Those in use, oldest first.
    var seeds: [AccountSeed] { content.withLock { Array($0.seeds[..<$0.told]) } }
    /// What the device keeps.
    var all: [AccountSeed] { content.withLock(\.seeds) }
    var hasUntold: Bool { content.withLock { $0.told < $0.seeds.count } }

    var mayBeTold: Bool { content.withLock(\.mayBeTold) }

    /// The newest in use.
    var loginKey: SigningKey { content.withLock { $0.loginKeys[$0.told - 1] } }
    /// Of the seeds in use.
    var toldKeys: [VerificationKey] { content.withLock { $0.loginKeys[..<$0.told].map(\.verificationKey) } }
    /// Of all seeds, from the newest on.
    var loginKeys: [SigningKey] { content.withLock { $0.loginKeys.reversed() } }

    /// The server has said that it does not know the newest of several keys: one before them may be in use.
    var isNewestUnknown: Bool { content.withLock { $0.isNewestUnknown && $0.seeds.count > 1 } }

    /// The server knows this key.
    func isKnown(_ key: VerificationKey) {
        content.withLock { content in
            guard let index = content.loginKeys.firstIndex(where: { $0.verificationKey == key }) else { return }
            content.told = max(content.told, index + 1)
            if content.told == content.seeds.count { content.mayBeTold = false }
            if index == content.seeds.count - 1 { content.isNewestUnknown = false }
        }
    }

    func newestIsUnknown() { content.withLock { $0.isNewestUnknown = true } }

    /// A new seed, which the server is still to be told of.
    func add(_ seed: AccountSeed) throws(SealKitError) {
        let key = try verifying("the new login key") { () throws(SealError) in try seed.loginKey() }
        content.withLock { content in
            content.seeds.append(seed)
            content.loginKeys.append(key)
            content.mayBeTold = false
        }
    }

    /// The server is being told of the untold seed.
    /// - Returns: whether that may have happened before.
    func beginTelling() -> Bool {
        content.withLock { content in
            defer { content.mayBeTold = true }
            return content.mayBeTold
        }
    }

    /// The server has refused it, and it was the first time.
    func wasRefused() { content.withLock { $0.mayBeTold = false } }

    /// What this process has made comes to nothing: it was not wanted after all, or refused.
    /// - Parameter another: the server has another key in its place, so that it can never have this one.
    /// - Returns: whether it was dropped: what the server may have is not.
    func dropUntold(becauseOf another: Bool) -> Bool {
        content.withLock { content in
            guard another || !content.mayBeTold else { return false }
            content.seeds.removeSubrange(content.told...)
            content.loginKeys.removeSubrange(content.told...)
            content.mayBeTold = false
            return true
        }
    }

    /// One rotation at a time.
    /// - Throws: `constraintViolation` while there is another.
    func beginRotation() throws(SealKitError) {
        let isFirst = content.withLock { content in
            defer { content.isRotating = true }
            return !content.isRotating
        }
        guard isFirst else {
            throw SealKitError(
                .constraintViolation, "this account is being given new keys already", remedy: "wait for the end of that"
            )
        }
    }

    func endRotation() { content.withLock { $0.isRotating = false } }
}
