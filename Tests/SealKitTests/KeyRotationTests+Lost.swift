import SealEnvelope
import SealLab
import Testing

@testable import SealKit

/// New keys that the server may have, or may not: the seed behind them is given up only where it cannot have them.
extension KeyRotationTests {
    /// The server has taken the new keys, its answer was lost, and what failed at the end was something else.
    @Test(arguments: [
        SealKitError.Code.networkUnavailable, .serviceUnavailable, .serverRejectedRequest, .operationCancelled,
    ])
    func aSeedThatMayHaveArrivedIsKept(_ code: SealKitError.Code) async throws {
        let world = try await World()
        let network = LossyTransport(try HTTPTransport(server: world.ann.server.origin), losing: "accounts/", [])
        let device = try world.ann.through(network, pacing: FakePacing().pacing)
        _ = try await device.own.allRecordZones()
        // The challenge, the new key, and the next challenge.
        let error = SealKitError(code, "the test's proxy says so")
        network.lose(
            code == .operationCancelled
                ? [.nothing, .late(.cancelledChange)]
                : [.nothing, .answer] + Array(repeating: .refusal(error), count: 10))
        #expect(await failure { try await device.rotateKeys(world.kept) } == code)
        #expect(world.kept.seeds.count == 2)
        network.lose([])
        try await device.finishKeyRotation()
        try await world.check(device)
        #expect(try await device.account.isGood(try #require(world.kept.shown.last)))
    }

    @Test func aSecondTryThatTheUserEndsTakesNothingBack() async throws {
        let world = try await World()
        let (device, _) = try await world.rotatedInVain(losing: .answer)
        let ended = await failure {
            try await device.rotateKeys(world.kept) { _ async throws(SealKitError) in
                throw SealKitError(.operationCancelled, "the user closed the dialog")
            }
        }
        #expect(ended == .operationCancelled)
        #expect(world.kept.seeds.count == 2)
        try await device.finishKeyRotation()
        try await world.check(device)
        // The next seed is again one that nobody has.
        let third = await failure {
            try await device.rotateKeys(world.kept) { _ async throws(SealKitError) in
                throw SealKitError(.operationCancelled, "the user closed the dialog")
            }
        }
        #expect(third == .operationCancelled)
        #expect(world.kept.seeds.count == 2)
        #expect(!device.account.hasUntoldKeys)
    }

    /// Keys that the server was not told of are no account that could be deleted; the one with the keys before them is
    /// there.
    @Test func anAccountWhoseKeysAreOnTheirWayIsNotSaidToBeGone() async throws {
        let world = try await World()
        let network = LossyTransport(
            try HTTPTransport(server: world.ann.server.origin), losing: "accounts/rotate",
            Array(repeating: .request, count: 12))
        #expect(await failure { try await world.ann.through(network).rotateKeys(world.kept) } == .networkFailure)
        let again = try world.ann.restarted(world.kept)
        #expect(
            await failure { try await again.account.delete(trust: again.container.core.trust) } == .notAuthenticated)
        try await again.rotateKeys(world.kept)
        try await world.check(again)
        try await again.account.delete(trust: again.container.core.trust)
        #expect(try await again.account.status() == .noAccount)
    }

    /// Whoever gives the account new keys puts out what was new; the device is told of nothing that is gone.
    @Test func newKeysSettleWhichDevicesAreNew() async throws {
        let world = try await World()
        _ = try await world.ann.account.devices()
        let thief = try world.ann.device("thief", trust: try TrustStore())
        _ = try await thief.devices()
        #expect(try await world.ann.account.devices().map(\.isNew) == [false, true])
        try await world.ann.rotateKeys(world.kept)
        #expect(try await world.ann.account.newDevices().isEmpty)
        #expect(await failure { _ = try await thief.devices() } == .keysReplaced)
    }

    /// Something on the way has sent the request twice, and the client hears what the second was told.
    @Test func aRequestThatWasSentTwiceIsNoRefusal() async throws {
        let world = try await World()
        let used = SealKitError(.notAuthenticated, "The challenge has been used before.")
        let network = LossyTransport(
            try HTTPTransport(server: world.ann.server.origin), losing: "accounts/rotate", [.late(used)])
        let device = try world.ann.through(network, pacing: FakePacing().pacing)
        try await device.rotateKeys(world.kept)
        #expect(world.kept.seeds.count == 2)
        try await world.check(device)
    }

    /// A refusal says that nothing has happened, unless an earlier try may have.
    @Test func aSeedThatWasRefusedIsGivenUp() async throws {
        let world = try await World()
        let refusal = LossyTransport.Loss.refusal(SealKitError(.notAuthenticated, "the device's clock is wrong"))
        let network = LossyTransport(
            try HTTPTransport(server: world.ann.server.origin), losing: "accounts/rotate", [refusal])
        let device = try world.ann.through(network, pacing: FakePacing().pacing)
        #expect(await failure { try await device.rotateKeys(world.kept) } == .notAuthenticated)
        #expect(world.kept.seeds.count == 1)
        #expect(!device.account.hasUntoldKeys)
        network.lose([.answer, refusal])
        #expect(await failure { try await device.rotateKeys(world.kept) } == .notAuthenticated)
        #expect(world.kept.seeds.count == 2)
        try await device.finishKeyRotation()
        try await world.check(device)
    }
}
