import Foundation
import SealClient
import SealEnvelope
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// What a share's URL shows before it is accepted: who says so, and who renews it.
@Suite(.timeLimit(.minutes(60))) struct SharePreviewTests {
    @Test func aURLShowsWhoMadeItsTitleAndWhen() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        var share = Share(recordZoneID: zone)
        (share.title, share.shareType, share.thumbnailImageData) = (
            "Garden plans", "org.example.list", Data([1, 2, 3])
        )
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let start = Date()
        share = try await ann.own.save(share)
        let url = try #require(share.url)
        let preview = try #require(try await bob.container.shareMetadata(for: url).preview)
        #expect(preview.title == "Garden plans")
        #expect(preview.shareType == "org.example.list")
        #expect(preview.thumbnailImageData == Data([1, 2, 3]))
        #expect(preview.authorRecordID.recordName == ann.name)
        #expect(preview.authorRole == .owner)
        #expect(preview.date >= start.addingTimeInterval(-1))
        #expect(preview.date <= Date().addingTimeInterval(1))
        // A participant sees it too, and what an administrator changed is the administrator's word.
        try await bob.join(url)
        try await ann.promote(bob, in: zone)
        let joined = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
        try await bob.edit(joined) { $0.title = "Vegetables" }
        let carol = try await Person()
        try await ann.edit(zone) { $0.addParticipant(try await ann.participant(carol)) }
        let renewed = try #require(try await carol.container.shareMetadata(for: url).preview)
        #expect(renewed.title == "Vegetables")
        #expect(renewed.authorRecordID.recordName == bob.name)
        #expect(renewed.authorRole == .administrator)
        #expect(renewed.date >= preview.date)
    }

    @Test func aTitleWhoseAuthorLostTheRoleIsNotShownUntilItIsRenewed() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite), (carol, .readOnly)])
        let url = try #require(share.url)
        try await bob.join(url)
        try await ann.promote(bob, in: zone)
        let joined = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
        try await bob.edit(joined) { $0.title = "Vegetables" }
        // Whoever leaves takes its word along.
        try await bob.shared.leaveShare(of: joined)
        let metadata = try await carol.container.shareMetadata(for: url)
        #expect(metadata.preview == nil)
        #expect(metadata.title.isEmpty)
        #expect(metadata.thumbnailImageData == nil)
        // That keeps nobody from accepting.
        #expect(try await carol.container.accept(metadata).zoneName == zone.zoneName)
        // The owner's device finds it when it next maintains the zone; fetching the share leaves it as it is.
        #expect(try await ann.own.share(for: zone).title == "Vegetables")
        #expect(try await carol.container.shareMetadata(for: url).preview == nil)
        let maintenance = try await ann.own.maintain(zone)
        #expect(maintenance.outcomes.map(\.work) == [.renewingPreviews])
        #expect(maintenance.outcomes.map(\.count) == [1])
        #expect(maintenance.isComplete)
        let renewed = try #require(try await carol.container.shareMetadata(for: url).preview)
        #expect(renewed.title == "Vegetables")
        #expect(renewed.authorRecordID.recordName == ann.name)
    }

    /// An administrator renews the URLs that it has; what another one shows is older, and no rollback for that.
    @Test func eachURLShowsWhatItsMakersRenew() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, first) = try await ann.share(with: [(bob, .readWrite), (carol, .readOnly)])
        let share = try await ann.edit(zone) { $0.addParticipant(.oneTimeURLParticipant(permission: .readOnly)) }
        let once = try #require(share.oneTimeURLs.values.first)
        let url = try #require(first.url)
        try await bob.join(url)
        try await ann.promote(bob, in: zone)
        try await bob.edit(RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)) { $0.title = "Vegetables" }
        #expect(try await carol.container.shareMetadata(for: url).title == "Vegetables")
        #expect(try await carol.container.shareMetadata(for: once).title == "Garden plans")
        #expect(try await carol.container.shareMetadata(for: url).title == "Vegetables")
    }

    /// Somebody changes the share between a device's look at the roster and its look at the URLs: what they show is
    /// newer than it.
    @Test func aTitleThatIsNewerThanTheRosterStays() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        try await ann.promote(bob, in: zone)
        let joined = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
        let (device, network) = try ann.behindAttacker()
        let isDone = LockedValue(false)
        network.lie { path, _, _ in
            guard path.hasSuffix("rosters/fetch"), !isDone.value else { return }
            isDone.change { $0 = true }
            try await bob.edit(joined) { share in
                share.title = "Vegetables"
                share.addParticipant(.oneTimeURLParticipant(permission: .readOnly))
            }
        }
        #expect(try await device.own.maintain(zone).outcomes.isEmpty)
        #expect(isDone.value)
        #expect(network.sent(to: "links/update").isEmpty)
    }

    @Test func demotingAnAdministratorRenewsItsTitleAtOnce() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite), (carol, .readOnly)])
        let url = try #require(share.url)
        try await bob.join(url)
        try await ann.promote(bob, in: zone)
        try await bob.edit(RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)) { $0.title = "Vegetables" }
        try await ann.edit(zone) { share in
            var participant = try #require(share.participant(bob))
            participant.role = .privateUser
            share.addParticipant(participant)
        }
        let preview = try #require(try await carol.container.shareMetadata(for: url).preview)
        #expect(preview.title == "Vegetables")
        #expect(preview.authorRecordID.recordName == ann.name)
    }

    @Test func whatWasNotRenewedIsFoundByTheNextSave() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readOnly)])
        let url = try #require(share.url)
        // A save that breaks off between the record and the URLs leaves these as they were.
        let view = try await ann.container.core.keeper(of: ann.container.core.scope(of: zone)).refresh()
        let before = try await ShareLinks.stored(ann.own, view: view).links
        try await ann.edit(zone) { $0.title = "Vegetables" }
        let back = Sealkit_V1_UpdateLinksRequest.with {
            $0.zone = view.scope.zoneIDOnWire
            $0.links = before.map { link in .with { ($0.routingID, $0.preview) = (link.routingID, link.preview) } }
        }
        let _: Sealkit_V1_UpdateLinksResponse = try await ann.container.core.call(
            .private, Endpoints.sharing.updateLinks, back)
        #expect(try await ann.own.share(for: zone).title == "Vegetables")
        #expect(try await bob.container.shareMetadata(for: url).title == "Garden plans")
        try await ann.edit(zone) { _ in }
        #expect(try await bob.container.shareMetadata(for: url).title == "Vegetables")
    }

    @Test func whoeverHasNoAccountYetSeesWhoMadeTheTitleBeforeAccepting() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await LinkAttacks.Placeholder(server)
        // An account is made where the URL leads to; before the address is proven the share shows nothing at all.
        let carol = try await Person(server)
        #expect(
            await failure { _ = try await carol.container.shareMetadata(for: place.url) }
                == .participantMayNeedVerification)
        _ = try await place.token(carol)
        let preview = try #require(try await carol.container.shareMetadata(for: place.url).preview)
        #expect(preview.title == "Garden plans")
        #expect(preview.authorRecordID.recordName == place.ann.name)
        #expect("\(preview)".contains("Garden") == false)
    }

    @Test func whatAURLShowsHasALimit() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var share = Share(recordZoneID: zone)
        share.thumbnailImageData = Data(count: Limits.previewBytes)
        let large = share
        #expect(await failure { try await ann.own.save(large) } == .limitExceeded)
        share.thumbnailImageData = Data([1, 2, 3])
        share = try await ann.own.save(share)
        #expect(
            await failure {
                try await ann.edit(zone) { share in
                    (share.title, share.thumbnailImageData) = ("Vegetables", Data(count: Limits.previewBytes))
                }
            } == .limitExceeded)
        let after = try await ann.share(of: zone)
        #expect(after.title.isEmpty)
        #expect(after.thumbnailImageData == Data([1, 2, 3]))
        let root = ann.note(in: try await ann.makeZone(), "root", name: "root")
        var ofRecords = Share(rootRecord: root)
        ofRecords.title = String(repeating: "a", count: Limits.previewBytes)
        let long = ofRecords
        #expect(await failure { _ = try await ann.own.save(long, rootRecord: root) } == .limitExceeded)
        #expect(await failure { _ = try await ann.own.record(for: root.recordID) } == .unknownItem)
    }

    @Test func whatIsRefusedOfAShareLeavesNothingOfIt() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        #expect(
            await failure {
                try await ann.edit(zone) { share in
                    var participant = try #require(share.participant(bob))
                    participant.permission = .none
                    share.addParticipant(participant)
                    share.title = "Vegetables"
                }
            } == .invalidArguments)
        #expect(try await ann.share(of: zone).title == "Garden plans")
        // A zone that was not shared for that is free for shares of records.
        let other = try await ann.makeZone()
        var refused = Share(recordZoneID: other)
        refused.addParticipant(try await ann.participant(bob, .none))
        let first = refused
        #expect(await failure { try await ann.own.save(first) } == .invalidArguments)
        let root = ann.note(in: other, "root", name: "root")
        _ = try await ann.own.save(Share(rootRecord: root), rootRecord: root)
    }

    @Test(
        "An administrator of a public share stores a thumbnail that no URL has room for: whom the owner removes goes.")
    func aThumbnailThatIsTooLargeKeepsNobodyIn() async throws {
        let (ann, bob, eve) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(share.url)
        try await ann.promote(bob, in: zone)
        let open = try await ann.edit(zone) { $0.publicPermission = .readOnly }
        try await eve.join(open.url)
        let id = Record.ID(recordName: Share.recordName, zoneID: joined)
        var record = try #require(try await bob.shared.shareRecord(id))
        record.encryptedValues["thumbnailImageData"] = pattern(70_000)
        try await bob.shared.save(record)

        let after = try await ann.edit(zone) { $0.removeParticipant(try #require($0.participant(eve))) }
        #expect(after.participant(eve) == nil)
        #expect(after.isURLRenewed)
        let shown = try await eve.container.shareMetadata(for: try #require(after.url))
        #expect(shown.title == "Garden plans")
        #expect(shown.thumbnailImageData == nil)
        // It is shown so from then on, and is not made anew with each save.
        let (device, network) = try ann.behindAttacker()
        try await device.edit(zone) { _ in }
        #expect(network.sent(to: "links/update").isEmpty)
    }

    /// Somebody who came by a one-time URL leaves while the share is renamed, and takes that URL along.
    @Test func aURLThatGoesMeanwhileKeepsNoOtherFromTheNewTitle() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, _) = try await ann.share(with: [(carol, .readOnly)])
        let single = Share.Participant.oneTimeURLParticipant()
        let share = try await ann.edit(zone) { $0.addParticipant(single) }
        let joined = try await bob.join(share.oneTimeURL(for: single.participantID))
        let network = MeanwhileTransport(try HTTPTransport(server: ann.server.origin), "links/update") {
            try await bob.shared.leaveShare(of: joined)
        }
        let saved = try await ann.through(network).edit(zone) { share in
            share.title = "Vegetables"
            share.allowsAccessRequests = true
        }
        #expect(saved.title == "Vegetables")
        #expect(saved.allowsAccessRequests)
        #expect(saved.participant(bob) == nil)
        #expect(try await carol.container.shareMetadata(for: try #require(share.url)).title == "Vegetables")
    }

    /// Before the first call whose path ends so, somebody else does something.
    private final class MeanwhileTransport: PassingTransport {
        let next: any Transport
        private let suffix: String
        private let meanwhile: @Sendable () async throws -> Void
        private let isDone = LockedValue(false)

        init(_ next: HTTPTransport, _ suffix: String, _ meanwhile: @escaping @Sendable () async throws -> Void) {
            (self.next, self.suffix, self.meanwhile) = (next, suffix, meanwhile)
        }

        func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
            if path.hasSuffix(suffix), !isDone.value {
                isDone.change { $0 = true }
                do { try await meanwhile() } catch { throw SealKitError(.internalError, "\(error)") }
            }
            return try await next.post(path, body: body, token: token)
        }
    }
}
