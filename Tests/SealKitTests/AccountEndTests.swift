import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// Deleting an account, as those see it who shared with it.
@Suite(.timeLimit(.minutes(60))) struct AccountEndTests {
    @Test func sharesEndSignedAndTheOthersGoOn() async throws {
        let (ann, bob, eve) = (try await Person(), try await Person(), try await Person())
        // Ann's zone, with Bob; a hierarchy of hers, with Bob; Bob's zone, with Ann and Eve.
        let hers = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let tree = try await ann.makeZone()
        let root = try await ann.own.save(ann.note(in: tree, "root", name: "root"))
        var share = Share(rootRecord: root)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        try await bob.join(try await ann.own.save(share, rootRecord: root).share.url)
        let his = try await SharedZone(of: bob, with: [(ann, .readWrite), (eve, .readWrite)])
        let note = ann.note(in: his.id(for: ann), "from Ann", name: "hers")
        try await ann.shared.save(note)
        let unshared = try await ann.makeZone()
        try await ann.own.save(ann.note(in: unshared, "private"))

        let seen = try await bob.shared.databaseChanges()
        #expect(seen.modifications.count == 2)
        _ = try await bob.shared.recordZoneChanges(inZoneWith: hers.id(for: bob))
        let epoch = try await bob.epoch(of: his.zoneID)

        let store = MemoryKeyStore(try ann.account.secrets)
        let device = try #require(
            try await Account.load(from: store) { _ throws(SealKitError) in
                try HTTPTransport(server: ann.server.origin)
            })
        try await device.delete(trust: ann.container.core.trust)
        #expect(try await store.load() == nil)

        // The participants are told, and believe it: it is signed.
        let told = try await bob.shared.databaseChanges(since: seen.changeToken)
        #expect(Set(told.deletions.map(\.zoneID.zoneName)) == [hers.zoneID.zoneName, tree.zoneName])
        #expect(told.deletions.allSatisfy { $0.reason == .unshared })
        #expect(await failure { _ = try await bob.shared.recordZone(for: hers.id(for: bob)) } == .zoneNotFound)
        #expect(try await bob.container.audit().violations.isEmpty)

        // In Bob's zone she has left: her name and her record stay, and whoever writes next opens a new key.
        let view = try await his.view(of: eve)
        #expect(view.roster.members[ann.container.core.userID()] == nil)
        let kept: String? = try await bob.own.record(for: Record.ID(recordName: "hers", zoneID: his.zoneID))
            .encryptedValues["body"]
        #expect(kept == "from Ann")
        try await bob.own.save(bob.note(in: his.zoneID, "after her"))
        #expect(try await bob.epoch(of: his.zoneID) == epoch + 1)

        // Her other devices are nobody any more; deleting once more is no error.
        #expect(await failure { _ = try await ann.own.allRecordZones() } == .notAuthenticated)
        #expect(try await ann.account.status() == .noAccount)
        try await ann.account.delete()
        #expect(await failure { _ = try await bob.participant(ann) } == .unknownItem)
    }

    /// New keys have left it behind: there is nobody any more to enrol it from, and its keys go like those of others.
    @Test func aDeviceThatWasLeftBehindIsToldAndGoes() async throws {
        let ann = try await Person()
        let store = MemoryKeyStore(try ann.account.secrets)
        let behind = try #require(
            try await Account.load(
                from: store, transport: try HTTPTransport(server: ann.server.origin), pacing: .real))
        try await ann.rotateKeys(KeptKeys(ann))
        #expect(await failure { _ = try await behind.devices() } == .keysReplaced)
        #expect(await failure { try await behind.delete() } == .keysReplaced)
        try await ann.account.delete()
        #expect(await failure { _ = try await behind.devices() } == .notAuthenticated)
        #expect(try await behind.status() == .noAccount)
        try await behind.delete()
        #expect(try await store.load() == nil)
    }

    @Test func anAccountThatNeverWasIsNotDeleted() async throws {
        let server = try ServerProcess.shared.get()
        var random = SystemRandom()
        let stranger = try Account(
            seeds: [AccountSeed(random: &random)], transport: HTTPTransport(server: server.origin))
        #expect(await failure { try await stranger.delete() } == .unknownItem)
    }

    /// A server that hides where the account has a share cannot make its keys sign for another name.
    @Test func aServerThatNamesAForeignIdentityIsRefused() async throws {
        let ann = try await Person()
        let network = try HostileNetwork(ann.server)
        let device = try ann.through(network)
        network.rewrite("accounts/me", Sealkit_V1_AccountResponse.self) {
            $0.identities = ["org.example.notes/_\(String(repeating: "0", count: 32))"]
        }
        #expect(await failure { try await device.account.delete() } == .serverRejectedRequest)
        #expect(try await ann.account.status() == .available)
    }

    @Test func theCommandAsksAndDeletes() async throws {
        let server = try ServerProcess.shared.get()
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("key.json").path
        func run(_ arguments: String...) async throws -> Command {
            try await Command.finished(ServerProcess.executable, arguments + ["--key-file", file])
        }
        #expect(try await run("account", "create", "--server", server.origin).status == 0)
        #expect(try await run("zone", "create", "Notes").status == 0)
        let asked = try await run("account", "delete")
        #expect(asked.status == 65)
        #expect(asked.errors.contains("--yes"))
        #expect(try await run("account", "status").status == 0)
        let deleted = try await run("account", "delete", "--yes")
        #expect(deleted.status == 0, "\(deleted.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        #expect(try await run("account", "status").status == 77)

        // One that was in use by its name: the default one is in use again.
        let home = ["HOME": folder.url.path, "SEALKIT_KEY_FILE": "", "SEALKIT_ACCOUNT": ""]
        for arguments in [
            ["account", "create", "--server", server.origin, "--account", "work"], ["account", "use", "work"],
            ["account", "delete", "--yes"],
        ] {
            let done = try await Command.finished(ServerProcess.executable, arguments, environment: home)
            #expect(done.status == 0, "\(done.errors)")
        }
        let after = try await Command.finished(ServerProcess.executable, ["account", "whoami"], environment: home)
        #expect(after.status == 77)
        #expect(after.errors.contains("account.json"))
    }
}
