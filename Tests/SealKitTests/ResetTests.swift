import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Giving up what is encrypted, on a device that has the keys, and after all of them were lost.
@Suite(.timeLimit(.minutes(60))) struct ResetTests {
    private func reset(_ device: Person, _ kept: KeptKeys) async throws(SealKitError) {
        try await device.account.resetEncryptedData(
            trust: device.container.core.trust, keep: { seeds async throws(SealKitError) in try kept.keep(seeds) },
            show: { key async throws(SealKitError) in kept.show(key) })
    }

    /// Runs `body` and gives the error that it fails with.
    private func error(_ body: () async throws -> Void) async -> SealKitError? {
        do { try await body() } catch { return error as? SealKitError }
        return nil
    }

    @Test func appsAreToldAndPartnersOpenANewKey() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let own = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let bobs = try await SharedZone(of: bob, with: [(ann, .readWrite)])
        let note = try await ann.own.save(ann.note(in: own.zoneID, "encrypted", name: "note"))
        let kept = KeptKeys(ann)
        let token = try await ann.own.databaseChanges().changeToken
        let stale = try await bobs.view(of: ann)
        try await reset(ann, kept)

        // The user is the same; fetches and saves say what has happened to the zone, on a recovered device as well.
        let phone = try await ann.recovered(with: try #require(kept.shown.last))
        for device in [ann, phone] {
            #expect(device.name == ann.name)
            #expect(device.account.seeds.count == 2)
            let fetched = await error { _ = try await device.own.record(for: note.recordID) }
            #expect(fetched?.code == .zoneNotFound)
            #expect(fetched?.userDidResetEncryptedDataKey == true)
            let saved = await error { try await device.own.save(device.note(in: own.zoneID, "again")) }
            #expect(saved?.code == .zoneNotFound)
            #expect(saved?.userDidResetEncryptedDataKey == true)
            let looked = await error { _ = try await device.own.recordZone(for: own.zoneID) }
            #expect(looked?.code == .zoneNotFound)
            #expect(looked?.userDidResetEncryptedDataKey == true)
        }
        let changes = try await ann.own.databaseChanges(since: token)
        #expect(changes.deletions.map(\.reason) == [.encryptedDataReset])
        #expect(changes.deletions.map(\.zoneID) == [own.zoneID])
        // A zone that was deleted in the ordinary way says nothing of the kind.
        let other = try await ann.makeZone()
        try await ann.own.deleteRecordZone(withID: other)
        let gone = await error { try await ann.own.save(ann.note(in: other, "x")) }
        #expect(gone?.code == .zoneNotFound)
        #expect(gone?.userDidResetEncryptedDataKey == false)

        // Bob is out of Ann's zone, with a signed entry to show for it; of his own she is no member, and his next write
        // opens a key that she never had.
        #expect(await failure { _ = try await bob.shared.record(for: own.recordID("note", for: bob)) } == .zoneNotFound)
        #expect(try await bobs.view(of: bob).roster.rotationDue)
        let written = try await bob.own.save(bob.note(in: bobs.zoneID, "after the reset", name: "after"))
        #expect(written.base?.statement.epoch == 1)
        let wire = try #require(try await bobs.stored(["after"]).first)
        let opened = stale.keys.values.contains { Forgery.opens(wire, with: $0) }
        #expect(!opened)

        // The app makes the zone again and uploads what it has.
        try await ann.own.save(RecordZone(zoneID: own.zoneID))
        try await ann.own.save(ann.note(in: own.zoneID, "from the local copy", name: "note"))
        #expect(try await phone.body(of: note.recordID, in: phone.own) == "from the local copy")
        // Whom Ann shares with again sees a changed contact.
        var share = Share(recordZoneID: own.zoneID)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        try await ann.own.save(share)
        let joined = try await bob.container.accept(
            try await bob.container.shareMetadata(for: try #require(try await ann.own.share(for: own.zoneID).url)))
        #expect(
            try await bob.body(of: Record.ID(recordName: "note", zoneID: joined), in: bob.shared)
                == "from the local copy")
        let contact = try await bob.container.contacts.contact(for: ann.container.userRecordID())
        #expect(contact.generation == 1)
        #expect(contact.keysChanged != nil)
        #expect(!contact.isVerified)
    }

    /// Whoever fears for the keys does not wait until somebody else's share is in order.
    @Test func aShareThatDoesNotVerifyKeepsNobodyFromNewKeys() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let own = try await ann.makeZone()
        let bobs = try await SharedZone(of: bob, with: [(ann, .readWrite)])
        _ = try await bobs.view(of: ann)
        let kept = KeptKeys(ann)
        let device = try ann.through(BrokenRosters(of: bob.name, try HTTPTransport(server: ann.server.origin)))
        #expect(await failure { try await reset(device, kept) } == .integrityFailure)
        #expect(kept.seeds.count == 2)
        #expect(device.account.generation == 1)
        let looked = await error { _ = try await device.own.recordZone(for: own) }
        #expect(looked?.userDidResetEncryptedDataKey == true)
        // The share is left once it verifies.
        try await ann.restarted(kept).finishKeyRotation()
        #expect(try await bobs.view(of: bob).roster.members.count == 1)
    }

    /// A server whose rosters of one person's zones do not verify.
    private final class BrokenRosters: PassingTransport {
        let next: any Transport
        private let owner: String

        init(of owner: String, _ next: HTTPTransport) { (self.owner, self.next) = (owner, next) }

        func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
            if path.hasSuffix("rosters/fetch"),
                let request = try? Sealkit_V1_FetchRostersRequest(serializedBytes: body),
                request.rosters.contains(where: { $0.zone.ownerName == owner })
            {
                throw SealKitError.integrity(.invalidSignature, "the roster")
            }
            return try await next.post(path, body: body, token: token)
        }
    }

    /// Cut off at every point; what was made anew meanwhile is not taken along.
    @Test(arguments: ["zones/modify", "rosters/append", "accounts/rotate"]) func cutOff(_ path: String) async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let first = try await ann.makeZone()
        let second = try await ann.makeZone()
        let bobs = try await SharedZone(of: bob, with: [(ann, .readWrite)])
        let kept = KeptKeys(ann)
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: path, Array(repeating: .request, count: 40))
        #expect(await failure { try await reset(try ann.through(network), kept) } != nil)
        let again = try ann.restarted(kept)
        if path == "accounts/rotate" {
            // The server has not heard of it: nothing is given up, and by an ordinary rotation neither.
            #expect(await failure { try await again.finishKeyRotation() } == .notAuthenticated)
            try await again.rotateKeys(kept)
            #expect(try await again.own.madeRecordZones().count == 2 && kept.seeds.count == 2)
            // Called again it goes on, with the seed that is there.
            let lost = try again.through(
                LossyTransport(
                    try HTTPTransport(server: ann.server.origin), losing: path, Array(repeating: .request, count: 40)))
            #expect(await failure { try await reset(lost, kept) } == .networkFailure)
            #expect(kept.seeds.count == 3)
            let third = try ann.restarted(kept)
            try await reset(third, kept)
            #expect(kept.seeds.count == 3)
            #expect(try await third.own.madeRecordZones().isEmpty)
            #expect(try await bobs.view(of: bob).roster.members.count == 1)
            return
        }
        if path == "zones/modify" {
            try await again.own.deleteRecordZone(withID: first)
            try await again.own.save(RecordZone(zoneID: first))
        }
        try await again.finishKeyRotation()
        let zones = try await again.own.madeRecordZones().map(\.zoneID)
        #expect(zones == (path == "zones/modify" ? [first] : []))
        #expect(!zones.contains(second))
        #expect(try await bobs.view(of: bob).roster.members.count == 1)
    }

    /// A reset that its user ended is not gone on with because the account has got new keys in another way.
    /// What one scope's server refuses is told once the rest was given up, and is gone on with.
    @Test func whatIsNotGivenUpIsGivenUpNextTime() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let own = try await ann.makeZone()
        let bobs = try await SharedZone(of: bob, with: [(ann, .readWrite)])
        let kept = KeptKeys(ann)
        let refusal = LossyTransport.Loss.refusal(SealKitError(.permissionFailure, "the test's server says so"))
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "rosters/append", [refusal])
        let device = try ann.through(network)
        let refused = await error { try await reset(device, kept) }
        #expect(refused?.code == .permissionFailure)
        let gone = await error { _ = try await device.own.recordZone(for: own) }
        #expect(gone?.code == .zoneNotFound)
        #expect(try await bobs.view(of: bob).roster.members[ann.userID] != nil)
        try await device.finishKeyRotation()
        #expect(try await bobs.view(of: bob).roster.members[ann.userID] == nil)
        #expect(try await device.container.core.trust.givenUp(of: device.account).isEmpty)
    }

    @Test func aResetThatCameToNothingIsForgotten() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let kept = KeptKeys(ann)
        let ended = await failure {
            try await ann.account.resetEncryptedData(
                trust: ann.container.core.trust, keep: { seeds async throws(SealKitError) in try kept.keep(seeds) },
                show: { _ async throws(SealKitError) in
                    throw SealKitError(.operationCancelled, "the user thought again")
                })
        }
        #expect(ended == .operationCancelled)
        #expect(kept.seeds.count == 1)
        let laptop = try ann.onFreshDevice()
        let laptops = KeptKeys(laptop)
        try await laptop.rotateKeys(laptops)
        // Enrolled again, with what it had verified.
        let phone = try ann.restarted(laptops)
        try await phone.finishKeyRotation()
        #expect(try await phone.own.madeRecordZones().map(\.zoneID) == [zone])
    }

    // MARK: After everything was lost

    @Test func aNewAccountTellsItsAppsWhatWasLostAndKeepsTheirData() async throws {
        let (lost, bob) = (try await Person(), try await Person())
        let shared = try await SharedZone(of: lost, with: [(bob, .readWrite)])
        let zones = [try await lost.makeZone(), shared.zoneID]
        let old = zones.map { RecordZone.ID(zoneName: $0.zoneName, ownerName: lost.name) }
        let accounts = try AccountProvider(lost.account, trust: lost.container.core.trust, journal: nil)
        let container = try Container(lost.container.containerIdentifier, accounts: accounts)
        _ = try await container.privateDatabase.allRecordZones()
        var changes = accounts.changes.makeAsyncIterator()

        let (account, _) = try await Account.create(transport: HTTPTransport(server: lost.server.origin))
        accounts.signIn(account, trust: try TrustStore(), replacing: [Record.ID(recordName: lost.name)])
        #expect(await changes.next() == .statusChanged(.available))
        let database = container.privateDatabase
        try await database.declareReset(of: old + [.default])
        // Told as CloudKit tells it, on every device of the new account.
        let fresh = try lost.starting(from: account.seeds, trust: nil)
        for database in [database, fresh.own] {
            let told = try await database.databaseChanges().deletions
            #expect(Set(told.map(\.zoneID)) == Set(zones))
            #expect(Set(told.map(\.reason)) == [.encryptedDataReset])
            let saved = await error { try await database.save(lost.note(in: zones[0], "from the local copy")) }
            #expect(saved?.code == .zoneNotFound)
            #expect(saved?.userDidResetEncryptedDataKey == true)
        }
        // Made again, they are left alone when it is said again.
        try await database.save(RecordZone(zoneID: zones[0]))
        try await database.save(lost.note(in: zones[0], "from the local copy", name: "note"))
        try await fresh.own.declareReset(of: zones)
        #expect(
            try await fresh.body(of: Record.ID(recordName: "note", zoneID: zones[0]), in: fresh.own)
                == "from the local copy")
        #expect(try await fresh.own.madeRecordZones().map(\.zoneID) == [zones[0]])
        // The lost account's shares are others', who still have the keys.
        try await bob.shared.save(bob.note(in: shared.id(for: bob), "still there"))
        let sharedDatabase = container.sharedDatabase
        #expect(await failure { try await sharedDatabase.declareReset(of: zones) } == .badDatabase)
        #expect(
            await failure { try await database.declareReset(of: [RecordZone.ID(zoneName: "_x")]) } == .invalidArguments)
    }

    /// Signed in in the ordinary way, another account is another user.
    @Test func anotherAccountIsAnotherUserUnlessTheAppSaysSo() async throws {
        let (one, other) = (try await Person(), try await Person())
        let accounts = try AccountProvider(one.account, trust: one.container.core.trust, journal: nil)
        var changes = accounts.changes.makeAsyncIterator()
        accounts.signIn(other.account)
        #expect(await changes.next() == .switchAccounts)
        // The same account with new keys is the same account.
        let kept = KeptKeys(other)
        try await other.rotateKeys(kept)
        accounts.signIn(try other.restarted(kept).account)
        #expect(await changes.next() == .statusChanged(.available))
    }
}
