import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

extension KeyRotationTests {
    // MARK: What the former keys are still good for

    @Test func statementsByTheFormerKeyAreRefusedInLaterEpochs() async throws {
        let world = try await World()
        let (ann, bob) = (world.ann, world.bob)
        let stolen = ann.container.core.identity().keys
        try await ann.rotateKeys(world.kept)
        let view = try await world.anns.view(of: ann)
        // The thief knows the new epoch's key, and has the server's help; signed with the new key it is good.
        let honest = try await Forgery.record(by: ann, zone: world.anns.zoneID, body: "Ann's own", view: view)
        let forged = try Forgery.resign(honest, by: stolen.signingKey) { _ in }
        for (wire, expected) in [(forged, SealKitError.Code.integrityFailure), (honest, nil)] {
            let device = try bob.starting(
                from: bob.account.seeds, trust: nil,
                transport: RewritingTransport.showing([wire], before: try HTTPTransport(server: bob.server.origin)))
            let code = await failure {
                _ = try await device.shared.record(for: world.anns.recordID("forged", for: device))
            }
            #expect(code == expected)
        }
    }

    @Test func recordsOfThePublicDatabaseStayValid() async throws {
        let ann = try await Person()
        let bob = try await Person()
        let database = ann.container.publicDatabase
        var record = Record(recordType: "Poster")
        record["text"] = "signed by the first key"
        let saved = try await database.save(record)
        try await ann.rotateKeys(KeptKeys(ann))
        let read = try await bob.container.publicDatabase.record(for: saved.recordID)
        #expect(read["text"] == "signed by the first key")
        var mine = try await database.record(for: saved.recordID)
        mine["text"] = "and now by the second"
        try await database.save(mine)
        #expect(try await bob.container.publicDatabase.record(for: saved.recordID)["text"] == "and now by the second")
    }

    /// What a device with former keys finds, should a server let it in all the same; and what a thief's fork is.
    @Test func formerKeysAndForkedOnesAreToldApartByTheRosters() async throws {
        let world = try await World()
        let phone = try world.ann.onFreshDevice()
        try await world.ann.rotateKeys(world.kept)
        let roster = try await world.anns.view(of: world.bob).roster
        try world.ann.container.core.identity().check(roster)
        #expect(throws: ClientError.keysReplaced) { try phone.container.core.identity().check(roster) }
        var random = SystemRandom()
        let forked = try world.ann.starting(from: [world.kept.seeds[0], AccountSeed(random: &random)], trust: nil)
        #expect(throws: ClientError.foreignKeys) { try forked.container.core.identity().check(roster) }
        // Nor do they take the roster over, whoever hands it to them.
        let scope = roster.scopeID
        let entries = try await world.bob.container.core.trust.entries(scope: scope)
        #expect(entries.count == roster.hashes.count)
        for (device, expected) in [(phone, SealKitError.Code.keysReplaced), (forked, .integrityFailure)] {
            // One that has seen nothing yet.
            let fresh = try device.starting(from: device.account.seeds, trust: nil)
            let keeper = try fresh.keeper(of: world.anns.zoneID)
            let code = await failure { _ = try await keeper.adopt(entries, grants: []) }
            #expect(code == expected)
            #expect(try await fresh.container.core.trust.entries(scope: scope).isEmpty)
        }
    }
}
