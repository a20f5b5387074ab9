import Foundation
import NIOCore
import SealLab
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// A new share comes with its URL and invitations, or not at all.
extension HierarchicalShareTests {
    private func invited(_ ann: Person, _ bob: Person) async throws -> (zone: RecordZone.ID, root: Record, share: Share)
    {
        let zone = try await ann.makeZone()
        let root = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        var share = Share(rootRecord: root)
        share.title = "Groceries"
        share.addParticipant(try await ann.participant(bob, .readWrite))
        return (zone, root, share)
    }

    @Test func theURLComesInTheTransactionOfTheShare() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (_, root, share) = try await invited(ann, bob)
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "records/modify", [.answer])
        let away = try ann.through(network, pacing: FakePacing().pacing)
        let saved = try await away.own.save(share, rootRecord: root).share
        #expect(network.bodies.count == 2)
        #expect(Set(network.bodies).count == 1)
        #expect(network.calls.contains { $0.hasSuffix("rosters/append") } == false)
        #expect(saved.participants.map(\.acceptanceStatus) == [.accepted, .pending])
        _ = try await bob.join(saved.url)
    }

    /// The connection is gone right after the save: whoever looks next finds the share as it was meant to be.
    @Test func whatComesAfterTheSaveIsNotNeeded() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, root, share) = try await invited(ann, bob)
        let cut = CuttingTransport(try HTTPTransport(server: ann.server.origin), after: "records/modify")
        let away = try ann.through(cut, pacing: FakePacing().pacing)
        let code = await failure { _ = try await away.own.save(share, rootRecord: root) }
        #expect(code == .networkFailure)
        // Another device, which has seen nothing of it.
        let device = try ann.onFreshDevice()
        let found = try await device.own.record(for: root.recordID)
        let known = try await device.own.share(
            withID: Record.ID(recordName: try #require(found.share?.recordName), zoneID: zone))
        #expect(known.title == "Groceries")
        #expect(known.participants.map(\.permission) == [.readWrite, .readWrite])
        _ = try await bob.join(known.url)
        // And the first one goes on with what it has: the root gives its share.
        let again = try await ann.own.save(share, rootRecord: found).share
        #expect(again.url == known.url)
        #expect(again.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
    }

    @Test func publicSharesAndPlaceholdersToo() async throws {
        let (ann, carol) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let saved = try await ann.own.modifyRecords(
            saving: [ann.note(in: zone, "a", name: "a"), ann.note(in: zone, "b", name: "b")]).saveResults
        let (a, b) = (Record.ID(recordName: "a", zoneID: zone), Record.ID(recordName: "b", zoneID: zone))
        let roots = (try #require(try saved[a]?.get()), try #require(try saved[b]?.get()))
        var open = Share(rootRecord: roots.0)
        open.publicPermission = .readOnly
        var closed = Share(rootRecord: roots.1)
        let once = Share.Participant.oneTimeURLParticipant(permission: .readWrite)
        closed.addParticipant(once)
        // Two at once, in one batch.
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "records/modify", [])
        let results = try await ann.through(network).own.modifyRecords(
            saving: [roots.0, roots.1], shares: [open, closed]
        ).shareResults
        #expect(network.bodies.count == 1)
        let (first, second) = (
            try #require(try results[open.recordID]?.get()), try #require(try results[closed.recordID]?.get())
        )
        let joined = try await carol.join(first.url)
        _ = try await carol.join(second.oneTimeURL(for: once.participantID))
        let feed = try await carol.shared.recordZoneChanges(inZoneWith: joined)
        #expect(names(feed).isSuperset(of: ["a", "b"]))
    }

    /// What is wrong with the invitations is said before anything is stored.
    @Test func invitationsThatAreNotGoodLeaveNothingBehind() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (_, root, share) = try await invited(ann, bob)
        var wrong = share
        wrong.publicPermission = .readOnly
        let refused = wrong
        let code = await failure { _ = try await ann.own.save(refused, rootRecord: root) }
        #expect(code == .invalidArguments)
        #expect(try await ann.own.record(for: root.recordID).share == nil)
        let none = await failure { _ = try await ann.own.share(withID: share.recordID) }
        #expect(none == .unknownItem)
        #expect(try await ann.own.save(share, rootRecord: root).share.url != nil)
    }
}

/// Lets requests through up to one of a kind, and nothing after it.
private final class CuttingTransport: Transport {
    private let next: any Transport
    private let suffix: String
    private let isCut = LockedValue(false)
    var origin: String { next.origin }

    init(_ next: any Transport, after suffix: String) {
        self.next = next
        self.suffix = suffix
    }

    private func check() throws(SealKitError) {
        if isCut.value { throw SealKitError(.networkFailure, "the connection is gone") }
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        try check()
        let response = try await next.post(path, body: body, token: token)
        if path.hasSuffix(suffix) { isCut.change { $0 = true } }
        return response
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try check()
        return try await next.get(path, token: token)
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        try check()
        return try await next.upload(path, length: length, parts: parts, token: token)
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try check()
        try await next.download(path, range: range, token: token, consume: consume)
    }
}
