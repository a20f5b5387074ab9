import Foundation
import SealLab
import Testing

@testable import SealKit

/// Feeds whose records come with files over a network that is gone in the middle.
@Suite(.timeLimit(.minutes(60))) struct FeedAssetTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    /// Three records with files, and a device that gets the first of them.
    private func interrupted(
        _ ann: Person
    ) async throws -> (zone: RecordZone.ID, reader: Person, network: LossyTransport) {
        let zone = try await ann.makeZone()
        for number in 0..<3 {
            try await ann.saveFile("\(number)", in: zone, bytes: 1_000 + number, folder: temporary.url)
        }
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/assets/",
            [.nothing, .nothing] + Array(repeating: .request, count: 100))
        return (zone, try ann.onFreshDevice().through(network, pacing: FakePacing().pacing), network)
    }

    /// With a token past them nobody would ask for the others again.
    @Test func aNetworkThatIsGoneEndsThePage() async throws {
        let ann = try await Person()
        let (zone, reader, network) = try await interrupted(ann)
        let code = await failure { _ = try await reader.own.recordZoneChanges(inZoneWith: zone) }
        #expect(code == .networkFailure)
        let many = try await reader.own.recordZoneChanges(inZonesWith: [zone: .init()])
        #expect(many[zone]?.failureCode == .networkFailure)
        network.lose([])
        let changes = try await reader.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.count == 3)
        #expect(changes.modifications.allSatisfy { $0.result.isSuccess })
    }

    /// What concerns one record's file is that record's alone.
    @Test func aFileThatIsGoneFailsItsRecord() async throws {
        let ann = try await Person()
        let (zone, reader, network) = try await interrupted(ann)
        network.lose([.nothing, .nothing, .refusal(SealKitError(.assetNotAvailable, "it is gone"))])
        let changes = try await reader.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.map { $0.result.failureCode } == [nil, .assetNotAvailable, nil])
    }
}
