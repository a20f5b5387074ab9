import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

extension ErrorCodesTests {
    // MARK: Sharing

    @Test func permissionFailure() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        var share = Share(recordZoneID: zone)
        share.addParticipant(
            try await ann.container.shareParticipant(
                forUserRecordID: bob.container.userRecordID(), permission: .readOnly))
        share = try await ann.own.save(share)
        let joined = try await bob.container.accept(try await bob.container.shareMetadata(for: try #require(share.url)))
        #expect(await failure { try await bob.shared.save(bob.note(in: joined, "x")) } == .permissionFailure)
    }

    @Test func participantMayNeedVerificationAndVerificationFailed() async throws {
        let (ann, eve) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        var share = Share(recordZoneID: zone)
        let address = "somebody-\(UUID().uuidString.prefix(8).lowercased())@example.org"
        share.addParticipant(try await ann.container.shareParticipant(forEmailAddress: address))
        share = try await ann.own.save(share)
        let url = try #require(share.oneTimeURLs.values.first)
        #expect(
            await failure { _ = try await eve.container.shareMetadata(for: url) } == .participantMayNeedVerification)
        let verification = try await eve.container.beginVerification(of: address, for: url)
        let real = try await eve.code(address)
        let wrong = real == "00000000" ? "00000001" : "00000000"
        #expect(await failure { _ = try await verification.complete(code: wrong) } == .verificationFailed)
    }

    @Test func tooManyParticipants() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var share = Share(recordZoneID: zone)
        for number in 0..<101 {
            share.addParticipant(try await ann.container.shareParticipant(forEmailAddress: "p\(number)@example.org"))
        }
        let full = share
        #expect(await failure { try await ann.own.save(full) } == .tooManyParticipants)
    }
}
