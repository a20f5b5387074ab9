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

    /// With a token past them nobody would ask for the others again; and what came before them is no worse for it.
    @Test(arguments: [false, true]) func aNetworkThatIsGoneEndsThePage(isOneOfMany: Bool) async throws {
        let ann = try await Person()
        let (zone, reader, network) = try await interrupted(ann)
        @Sendable func changes(since token: ServerChangeToken?) async throws -> Database.RecordZoneChanges {
            guard isOneOfMany else { return try await reader.own.recordZoneChanges(inZoneWith: zone, since: token) }
            let results = try await reader.own.recordZoneChanges(
                inZonesWith: [zone: .init(previousServerChangeToken: token)])
            return try #require(results[zone]).get()
        }
        let first = try await changes(since: nil)
        #expect(first.modifications.map(\.recordID.recordName) == ["0"])
        #expect(first.modifications.allSatisfy { $0.result.isSuccess })
        #expect(first.moreComing)
        for _ in 0..<2 {
            network.lose(Array(repeating: .request, count: 100))
            let error = await #expect(throws: SealKitError.self) { _ = try await changes(since: first.changeToken) }
            #expect(error?.code == .networkFailure)
            #expect(error?.reason.contains("record 1") == true)
        }
        network.lose([])
        let rest = try await changes(since: first.changeToken)
        #expect(rest.modifications.map(\.recordID.recordName) == ["1", "2"])
        #expect(rest.modifications.allSatisfy { $0.result.isSuccess })
        #expect(!rest.moreComing)
    }

    /// What concerns one record's file is that record's alone.
    @Test(arguments: [SealKitError.Code.assetNotAvailable, .internalError])
    func aFileThatIsGoneFailsItsRecord(code: SealKitError.Code) async throws {
        let ann = try await Person()
        let (zone, reader, network) = try await interrupted(ann)
        network.lose([.nothing, .nothing, .refusal(SealKitError(code, "it is gone"))])
        let changes = try await reader.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.map { $0.result.failureCode } == [nil, code, nil])
    }

    /// Where none comes it is no matter of one file.
    @Test func aServerThatReadsNoFileKeepsThePlace() async throws {
        let ann = try await Person()
        let (zone, reader, network) = try await interrupted(ann)
        network.lose(Array(repeating: .refusal(SealKitError(.internalError, "it cannot be read")), count: 100))
        let error = await #expect(throws: SealKitError.self) {
            _ = try await reader.own.recordZoneChanges(inZoneWith: zone)
        }
        #expect(error?.code == .internalError)
        network.lose([])
        let changes = try await reader.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.allSatisfy { $0.result.isSuccess })
    }
}
