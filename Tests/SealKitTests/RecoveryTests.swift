import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealLab
import SealPrimitives
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Ways back into an account, what becomes of those that were changed, and what a server can show in their place.
@Suite(.timeLimit(.minutes(60))) struct RecoveryTests {
    private typealias Passphrase = Account.RecoveryPassphrase
    private let server: ServerProcess
    /// One for each test: recoveries are counted by address.
    init() throws { server = try ServerProcess(mail: false) }

    private func transport() throws -> HTTPTransport { try HTTPTransport(server: server.origin) }

    @Test func aNewRecoveryKeyMakesTheOldOneVoidAtOnce() async throws {
        let (account, first) = try await Account.create(transport: transport())
        #expect(try await account.isGood(first))
        let shown = Mutex<String?>(nil)
        let second = try await account.renewRecoveryKey { key async throws(SealKitError) in
            shown.withLock { $0 = key.text() }
        }
        #expect(shown.withLock { $0 } == second.text())
        #expect(try await !account.isGood(first))
        #expect(try await account.isGood(second))
        #expect(await failure { _ = try await Account.recover(first, transport: transport()) } == .unknownItem)
        #expect(try await Account.recover(second, transport: transport()).keys.rootKey == account.keys.rootKey)
        // Where it could not be shown, the one before stays.
        let cancelled = await failure {
            try await account.renewRecoveryKey { _ async throws(SealKitError) in
                throw SealKitError(.operationCancelled, "not now")
            }
        }
        #expect(cancelled == .operationCancelled)
        #expect(try await account.isGood(second))
        // Lost requests and answers: the last one that was shown counts, or none was.
        let network = LossyTransport(try transport(), losing: "accounts/recovery", [.answer, .request])
        let far = try Account(seeds: account.seeds, transport: network)
        let third = try await far.renewRecoveryKey()
        #expect(try await account.isGood(third))
    }

    @Test func aPassphraseBringsTheAccountBackUntilItIsChangedOrRemoved() async throws {
        let (account, key) = try await Account.create(transport: transport())
        #expect(try await account.recoveryStatus().passphraseSaved == nil)
        // Names differ from test run to test run: one server serves them all.
        let name = "ann-\(UUID().uuidString)@example.org"
        let first = try Passphrase(name: name, passphrase: "four words that nobody says")
        try await account.setRecoveryPassphrase(first)
        let typed = try Passphrase(name: " \(name.uppercased()) ", passphrase: "four words that nobody says")
        let back = try await Account.recover(typed, transport: transport())
        #expect(back.keys.rootKey == account.keys.rootKey)
        let status = try await account.recoveryStatus()
        #expect(status.passphraseSaved != nil)
        #expect(status.recoveryKeySaved != nil)

        let second = try Passphrase(name: name, passphrase: "five words that nobody says")
        #expect(await failure { _ = try await Account.recover(second, transport: transport()) } == .unknownItem)
        try await account.setRecoveryPassphrase(second)
        #expect(await failure { _ = try await Account.recover(first, transport: transport()) } == .unknownItem)
        _ = try await Account.recover(second, transport: transport())
        // Another account cannot take its place, and the printed key is a way of its own.
        let (other, _) = try await Account.create(transport: transport())
        #expect(await failure { try await other.setRecoveryPassphrase(second) } == .serverRejectedRequest)
        try await account.renewRecoveryKey()
        #expect(try await !account.isGood(key))
        try await account.removeRecoveryPassphrase()
        try await account.removeRecoveryPassphrase()
        #expect(await failure { _ = try await Account.recover(second, transport: transport()) } == .unknownItem)
        #expect(try await account.recoveryStatus().passphraseSaved == nil)
    }

    @Test func passphrasesThatCannotServe() async throws {
        for (name, passphrase) in [
            ("ann", "elevenchars"), ("", "four words that nobody says"), (" \t", "four words that nobody says"),
            (String(repeating: "n", count: 256), "four words that nobody says"),
        ] {
            #expect(await failure { _ = try Passphrase(name: name, passphrase: passphrase) } == .invalidArguments)
        }
    }

    @Test func newKeysGoIntoThePassphrasesBundleToo() async throws {
        let ann = try await Person(server)
        let passphrase = try Passphrase(name: UUID().uuidString, passphrase: "four words that nobody says")
        try await ann.account.setRecoveryPassphrase(passphrase)
        let kept = KeptKeys(ann)
        try await ann.rotateKeys(kept, passphrase: passphrase)
        #expect(try await Account.recover(passphrase, transport: transport()).seeds.count == 2)
        // Not given again, it brings nothing back: what it sealed is without the newest keys.
        try await ann.rotateKeys(kept)
        #expect(await failure { _ = try await Account.recover(passphrase, transport: transport()) } == .unknownItem)
        #expect(try await ann.account.recoveryStatus().passphraseSaved == nil)
    }

    /// Refused for certain: the seed that was kept is given up, and the account goes on by the keys that it has.
    @Test func newKeysWithAPassphraseThatIsTakenChangeNothing() async throws {
        let (ann, bob) = (try await Person(server), try await Person(server))
        let passphrase = try Passphrase(name: UUID().uuidString, passphrase: "four words that nobody says")
        try await ann.account.setRecoveryPassphrase(passphrase)
        let kept = KeptKeys(bob)
        await #expect {
            _ = try await bob.rotateKeys(kept, passphrase: passphrase)
        } throws: { error in
            guard let error = error as? SealKitError else { return false }
            return error.code == .serverRejectedRequest && error.remedy.contains("another passphrase")
        }
        #expect(kept.seeds.count == 1)
        #expect(!bob.account.hasUntoldKeys)
        let restarted = try Account(seeds: kept.seeds, transport: transport())
        #expect(try await restarted.status() == .available)
        // With another one it works, and the passphrase stays whose it was.
        let free = try Passphrase(name: UUID().uuidString, passphrase: "four words that nobody says")
        try await bob.rotateKeys(kept, passphrase: free)
        #expect(kept.seeds.count == 2)
        #expect(try await Account.recover(passphrase, transport: transport()).keys.rootKey == ann.account.keys.rootKey)
    }

    // MARK: A server that attacks

    /// Keeps what the server says of bundles, and says it again later.
    private func answering(_ path: String, with answer: any Message) throws -> RewritingTransport {
        let bytes: Data = try answer.serializedData()
        return RewritingTransport(try transport()) { called, body in called.hasSuffix(path) ? bytes : body }
    }

    private func sealed(_ key: RecoveryKey) async throws -> Sealkit_V1_RecoverResponse {
        try await Client(transport: try transport()).call(
            Endpoints.accounts.recover, Sealkit_V1_RecoverRequest.with { $0.recoveryID = Data(key.bundleID.bytes) })
    }

    @Test func anOldBundleIsNoticedByItsKeysOrByItsId() async throws {
        let ann = try await Person(server)
        let first = try await ann.account.renewRecoveryKey()
        let old = try await sealed(first)
        let kept = KeptKeys(ann)
        let second = try #require(try await ann.rotateKeys(kept))
        // Under the new key's id the old bundle does not open: its key is another.
        let swapped = try answering("accounts/recover", with: old)
        #expect(await failure { _ = try await Account.recover(second, transport: swapped) } == .integrityFailure)
        // Under its own id, which somebody types who has found the old print, it opens; its keys are in use no more.
        #expect(await failure { _ = try await Account.recover(first, transport: swapped) } == .keysReplaced)
        // While a device is there, it finds out that the printed key would bring back too little.
        let lying = try Account(seeds: kept.seeds, transport: swapped)
        #expect(try await !lying.isGood(first))
        #expect(await failure { _ = try await lying.isGood(second) } == .integrityFailure)
    }

    @Test func bundlesOfOthersAndDamagedOnesDoNotOpen() async throws {
        let (_, anns) = try await Account.create(transport: transport())
        let (_, bobs) = try await Account.create(transport: transport())
        let (mine, theirs) = (try await sealed(anns), try await sealed(bobs))
        var random = SystemRandom()
        let seeds = (0..<65).map { _ in AccountSeed(random: &random) }
        let whole = [UInt8](mine.sealed)
        for (name, bundle) in [
            ("another's", [UInt8](theirs.sealed)), ("cut short", [UInt8](whole.dropLast())), ("empty", []),
            ("a flipped bit", whole.enumerated().map { $0.offset == 30 ? $0.element ^ 1 : $0.element }),
            ("no seed", anns.seal([], random: &random)), ("too many", anns.seal(seeds, random: &random)),
        ] {
            let lying = try answering(
                "accounts/recover", with: Sealkit_V1_RecoverResponse.with { $0.sealed = Data(bundle) })
            let code = await failure { _ = try await Account.recover(anns, transport: lying) }
            #expect(code == .integrityFailure, "\(name)")
        }
        // What it is without the lie.
        let honest = try answering("accounts/recover", with: mine)
        _ = try await Account.recover(anns, transport: honest)
    }

    /// The server leaves the newest generation out of what it says of the account, or puts another in.
    @Test func aChainThatTheServerCutsShortCountsForNothing() async throws {
        let (ann, bob) = (try await Person(server), try await Person(server))
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let before = ann.container.core.identity().chain
        try await ann.rotateKeys(KeptKeys(ann))
        try await zone.view(of: bob)
        // Bob's device has seen the new keys; a directory that answers with the former ones is found out.
        let lying = RewritingTransport(try transport()) { path, body in
            guard path.hasSuffix("directory/lookup") else { return body }
            var answer = try Sealkit_V1_LookupIdentitiesResponse(serializedBytes: body)
            for index in answer.results.indices { answer.results[index].chain = before.wire }
            return try answer.serializedData()
        }
        let device = try bob.through(lying)
        #expect(await failure { _ = try await device.participant(ann) } == .rollback)
        _ = try await bob.participant(ann)
    }
}
