import SealClient
import SealEnvelope
import SealPrimitives
import Testing

/// Which login key is in use, while an account takes a new one.
@Suite(.timeLimit(.minutes(60))) struct KeyGenerationsTests {
    private static func seed(_ byte: UInt8) throws -> AccountSeed {
        try AccountSeed(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    private static func key(_ byte: UInt8) throws -> VerificationKey { try seed(byte).loginKey().verificationKey }

    private static func attempts(_ keys: KeyGenerations) -> [VerificationKey] {
        keys.loginAttempts.map(\.verificationKey)
    }

    @Test func `There is no account without a seed`() {
        #expect(throws: SealError.invalidIdentity) { try KeyGenerations([]) }
    }

    @Test func `A new key signs nothing until the server knows it`() throws {
        let (first, second) = (try Self.key(1), try Self.key(2))
        var keys = try KeyGenerations([Self.seed(1)])
        try keys.add(Self.seed(2))
        #expect(keys.hasUntold)
        #expect(keys.seeds.count == 1)
        #expect(keys.all.count == 2)
        #expect(keys.loginKey.verificationKey == first)
        #expect(Self.attempts(keys) == [second, first])
        keys.isKnown(second)
        #expect(!keys.hasUntold)
        #expect(keys.loginKey.verificationKey == second)
        #expect(Self.attempts(keys) == [second])
        #expect(keys.toldKeys == [first, second])
        #expect(keys.rootKey == first)
    }

    @Test func `A key that may have arrived is not given up, unless there is another in its place`() throws {
        var keys = try KeyGenerations([Self.seed(1)])
        try keys.add(Self.seed(2))
        let tellings = [keys.beginTelling(), keys.beginTelling()]
        #expect(tellings == [false, true])
        let isDropped = keys.dropUntold(becauseOf: false)
        #expect(!isDropped)
        #expect(keys.hasUntold)
        let isReplaced = keys.dropUntold(becauseOf: true)
        #expect(isReplaced)
        #expect(!keys.hasUntold)
        #expect(keys.all.count == 1)
        try keys.add(Self.seed(3))
        _ = keys.beginTelling()
        keys.wasRefused()
        let isRefused = keys.dropUntold(becauseOf: false)
        #expect(isRefused)
    }

    @Test func `A server that denies the newest key brings no account back to those before`() throws {
        let (first, second) = (try Self.key(1), try Self.key(2))
        var keys = try KeyGenerations([Self.seed(1), Self.seed(2)])
        keys.noneIsKnown()
        #expect(keys.isNewestUnknown)
        #expect(Self.attempts(keys) == [second])
        keys.isKnown(first)
        #expect(keys.isNewestUnknown)
        #expect(keys.loginKey.verificationKey == second)
        keys.isKnown(second)
        #expect(!keys.isNewestUnknown)
        // Of one key alone none is before it.
        var single = try KeyGenerations([Self.seed(1)])
        single.noneIsKnown()
        #expect(!single.isNewestUnknown)
    }

    @Test func `There is one rotation at a time`() throws {
        var keys = try KeyGenerations([Self.seed(1)])
        let beginnings = [keys.beginRotation(), keys.beginRotation()]
        #expect(beginnings == [true, false])
        keys.endRotation()
        let isFree = keys.beginRotation()
        #expect(isFree)
    }
}
