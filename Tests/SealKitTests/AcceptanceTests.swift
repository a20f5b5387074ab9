import Foundation
import SealLab
import Testing

@testable import SealKit

/// Shares that are accepted more than once, and by what has changed since.
@Suite(.timeLimit(.minutes(60))) struct AcceptanceTests {
    @Test func whatAnotherDeviceHasAcceptedIsAccepted() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readWrite)])
        let url = try #require(share.url)
        let tablet = try bob.onFreshDevice()
        let (one, two) = (
            try await bob.container.shareMetadata(for: url), try await tablet.container.shareMetadata(for: url)
        )
        let joined = try await bob.container.accept(one)
        for metadata in [two, two, one] { #expect(try await tablet.container.accept(metadata) == joined) }
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        #expect(try await tablet.shared.record(for: id).encryptedValues["body"] == "from the owner")
        #expect(try await ann.share(of: zone).participants.count == 2)
    }

    @Test func whatWasAcceptedWithoutAnAnswerIsAccepted() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (_, note, share) = try await ann.share(with: [(bob, .readWrite)])
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "share/accept",
            [.late(SealKitError(.operationCancelled, "the app was suspended"))])
        let device = try bob.through(network)
        let metadata = try await device.container.shareMetadata(for: try #require(share.url))
        #expect(await failure { try await device.container.accept(metadata) } == .operationCancelled)
        let joined = try await device.container.accept(metadata)
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        #expect(try await device.shared.record(for: id).encryptedValues["body"] == "from the owner")
    }

    /// The owner changes the permission between the code and the acceptance: the token is of the invitation before.
    @Test func anAddressThatIsProvenNeedsNoTokenOfTheInvitation() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await LinkAttacks.Placeholder(server)
        let (carol, dave) = (try await Person(server), try await Person(server))
        let token = try await place.token(carol)
        try await place.ann.edit(place.zone) { share in
            var placeholder = try #require(share.participants.last)
            placeholder.permission = .readOnly
            share.addParticipant(placeholder)
        }
        let metadata = try await carol.container.shareMetadata(for: place.url)
        // Somebody else's it is still not.
        #expect(await failure { try await dave.container.accept(metadata, token: token) } != nil)
        try await carol.container.accept(metadata, token: token)
        #expect(try await place.ann.share(of: place.zone).participant(carol)?.permission == .readOnly)
    }
}
