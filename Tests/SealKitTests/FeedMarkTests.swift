import Foundation
import GRDB
import SealClient
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Up to where a feed counts as read (R-SEEN-4): by verified rosters of its zone alone, and without a gap.
@Suite(.timeLimit(.minutes(60))) struct FeedMarkTests {
    private typealias Record = SealKit.Record

    private let it: HierarchicalShareTests.Shared
    init() async throws { it = try await HierarchicalShareTests().shared() }

    /// The first epoch of a scope in the zone that something may be missing of, as Ann's device has noted.
    private func mark(_ share: Record.ID? = nil) async throws -> UInt32? {
        let zone = try it.ann.container.core.scope(of: it.zone)
        let scope = share.map { zone.ofShare($0.recordName) } ?? zone
        return try await it.ann.container.core.trust.feed(zone: zone.id, incarnation: 1, ScopePlace(scope.id, 1))?
            .caughtUpEpoch
    }

    /// Of Bob's, under the key and the head of now.
    private func backDated() async throws -> Sealkit_V1_Record {
        let share = Record.ID(recordName: it.share.recordID.recordName, zoneID: it.joined)
        let bobs = try await it.bob.shared.keeper(ofShare: share).refresh()
        var statement = Forgery.statement(by: it.bob, bobs, name: "late")
        statement.parent = "list"
        return try Forgery.record(
            statement, [("body", .encrypted(.string("late")))], by: it.bob, key: try bobs.currentKey())
    }

    private func removeBob() async throws -> ZoneView {
        var share = try await it.ann.own.share(withID: it.share.recordID)
        share.removeParticipant(try #require(share.participant(it.bob)))
        try await it.ann.own.save(share)
        let view = try await it.ann.own.keeper(ofShare: it.share.recordID).refresh()
        #expect(view.roster.currentEpoch.number == 1)
        return view
    }

    // MARK: Of shares

    @Test func aShareThatNoPageNamesIsReadPastWithItsZone() async throws {
        let forged = try await backDated()
        let first = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone)
        #expect(try await mark(it.share.recordID) == 0)
        let present = try await removeBob()
        let next = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone, since: first.changeToken)
        #expect(next.modifications.isEmpty, "no page names the share")
        #expect(try await mark(it.share.recordID) == 1)
        let (ann, network) = try it.ann.behindAttacker()
        network.show([forged], citing: [present])
        await expectRefused(.rollback) {
            _ = try await ann.own.record(for: Record.ID(recordName: "late", zoneID: it.zone))
        }
    }

    /// What the device comes to know while the server is asked says nothing of the answer.
    @Test func aShareCountsAsItWasKnownWhenTheFeedWasAskedFor() async throws {
        let first = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone)
        let (ann, network) = try it.ann.behindAttacker()
        network.lie { path, _, _ in
            guard path.hasSuffix("records/changes") else { return }
            _ = try await self.removeBob()
        }
        let next = try await ann.own.recordZoneChanges(inZoneWith: it.zone, since: first.changeToken)
        #expect(try await mark(it.share.recordID) == 0)
        _ = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone, since: next.changeToken)
        #expect(try await mark(it.share.recordID) == 1)
    }

    @Test func aStoreFromBeforeSharesWereNotedLearnsHowFarTheyHaveCome() async throws {
        let first = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone)
        _ = try await removeBob()
        try await it.ann.container.core.trust.writing {
            try $0.execute(sql: "DELETE FROM shareMark; UPDATE share SET marked = 0")
        }
        let restarted = try it.ann.through(HTTPTransport(server: it.ann.server.origin))
        _ = try await restarted.own.recordZoneChanges(inZoneWith: it.zone, since: first.changeToken)
        #expect(try await mark(it.share.recordID) == 1)
    }

    // MARK: By heads

    @Test(arguments: [0, UInt64.max]) func aHeadOfAnotherZoneSaysNothing(_ sequence: UInt64) async throws {
        try await it.ann.own.rotateKeys(of: it.zone)
        let (ann, network) = try it.ann.behindAttacker()
        network.rewrite("records/changes", Sealkit_V1_RecordChangesResponse.self) { answer in
            answer.scopes.append(
                .with {
                    $0.zone.zoneName = "elsewhere"
                    $0.zone.ownerName = "nobody"
                    $0.sequence = sequence
                })
        }
        _ = try await ann.own.recordZoneChanges(inZoneWith: it.zone)
        #expect(try await mark() == 1)
    }

    @Test(arguments: [0, UInt64.max]) func anAnswerThatNamesTwoHeadsOfARosterIsRefused(_ sequence: UInt64) async throws
    {
        try await it.ann.own.rotateKeys(of: it.zone)
        let (ann, network) = try it.ann.behindAttacker()
        network.rewrite("records/changes", Sealkit_V1_RecordChangesResponse.self) { answer in
            var second = answer.scopes[0]
            second.sequence = sequence
            answer.scopes.append(second)
        }
        await expectRefused(.integrityFailure) { _ = try await ann.own.recordZoneChanges(inZoneWith: it.zone) }
        #expect(try await mark() ?? 0 == 0, "nothing of it counts")
    }

    // MARK: Without a gap

    /// It was ended before it had kept where it read to.
    @Test func anAppThatComesBackToAnEarlierPlaceReadsOnWithoutAGap() async throws {
        let (ann, zone) = (it.ann, it.zone)
        let kept = try await ann.own.recordZoneChanges(inZoneWith: zone)
        try await ann.own.save(ann.note(in: zone, "one"))
        _ = try await ann.own.recordZoneChanges(inZoneWith: zone, since: kept.changeToken)
        try await ann.own.save(ann.note(in: zone, "two"))
        let again = try await ann.own.recordZoneChanges(inZoneWith: zone, since: kept.changeToken)
        #expect(again.modifications.count == 2)
        try await ann.own.rotateKeys(of: zone)
        _ = try await ann.own.recordZoneChanges(inZoneWith: zone, since: again.changeToken)
        #expect(try await mark() == 1)
    }

    // MARK: Sealing again

    @Test func whatIsSlippedIntoAShareIsNotSealedAgain() async throws {
        let forged = try await backDated()
        _ = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone)
        _ = try await removeBob()
        let deceived = try it.ann.through(slipping(forged))
        let result = try await deceived.own.rekey(it.zone)
        let late = Record.ID(recordName: "late", zoneID: it.zone)
        #expect(result.failures.mapValues(\.code) == [late: .rollback])
        let status = try await it.ann.own.keyStatus(of: it.zone, shareRecordName: it.share.recordID.recordName)
        #expect(status.staleRecordCount == 0)
    }

    /// The app reads a part of the feed while `rekey` reads all of it.
    @Test func whatTheAppReadsMeanwhileIsNoGap() async throws {
        let forged = try await backDated()
        let first = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone)
        for name in ["one", "two"] { try await it.ann.own.save(it.ann.note(in: it.zone, name, name: name)) }
        _ = try await removeBob()
        let app = it.ann
        let isFirst = Countdown(1)
        let deceived = try it.ann.through(
            slipping(forged) { [zone = it.zone] path in
                guard path.hasSuffix("records/changes"), isFirst.isLeft() else { return }
                let part = try await app.own.recordZoneChanges(
                    inZoneWith: zone, since: first.changeToken, resultsLimit: 1)
                #expect(part.moreComing)
            })
        let result = try await deceived.own.rekey(it.zone)
        let late = Record.ID(recordName: "late", zoneID: it.zone)
        #expect(result.failures.mapValues(\.code) == [late: .rollback])
    }

    @Test func whereAReadingCountsForNothingNothingIsSealedAgain() async throws {
        _ = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone)
        _ = try await removeBob()
        let trust = it.ann.container.core.trust
        let (deceived, network) = try it.ann.behindAttacker()
        network.lie { path, _, _ in
            // As if the app had gone on from there often enough by then.
            guard path.hasSuffix("records/changes") else { return }
            try await trust.writing { try $0.execute(sql: "DELETE FROM feedPlace") }
        }
        await expectRefused(.serverRejectedRequest) { _ = try await deceived.own.rekey(it.zone) }
        #expect(network.sent(to: "records/modify").isEmpty)
    }

    /// Shows a record as one of the share's that are under an older key.
    private func slipping(
        _ forged: Sealkit_V1_Record, _ then: @escaping @Sendable (String) async throws -> Void = { _ in }
    ) throws -> RewritingTransport {
        try RewritingTransport(HTTPTransport(server: it.ann.server.origin)) { path, body in
            try await then(path)
            guard path.hasSuffix("records/stale") else { return body }
            var answer = try Sealkit_V1_StaleRecordsResponse(serializedBytes: body)
            guard !answer.records.isEmpty, answer.scopes.contains(where: { !$0.shareRecordName.isEmpty }) else {
                return body
            }
            var slipped = forged
            slipped.position = (answer.records.map(\.position).max() ?? 0) + 1
            answer.records.append(slipped)
            return try answer.serializedData()
        }
    }
}
