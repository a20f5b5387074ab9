import Foundation
import SealLab
import Testing

@testable import SealKit

/// Shares as records: with fields of the app's own, and wherever records come out.
@Suite(.timeLimit(.minutes(60))) struct ShareFieldTests {
    @Test func theAppsOwnFieldsAreKeptAndSealed() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let shared = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let (away, network) = try ann.behindAttacker()
        var share = try await away.own.share(for: shared.zoneID)
        share.title = "Our notes"
        share.encryptedValues["colour"] = "canary-green"
        share.encryptedValues["order"] = 7
        share = try await away.own.save(share)
        #expect(share.encryptedValues["colour"] == "canary-green")
        #expect(share.encryptedValues["order"] == 7)
        #expect(network.everything.range(of: Data("canary".utf8)) == nil)

        // Others have it, and a title that another device changes leaves it as it is.
        let seen = try await bob.shared.share(for: shared.id(for: bob))
        #expect(seen.encryptedValues["colour"] == "canary-green")
        #expect(seen.title == "Our notes")
        var other = try await ann.onFreshDevice().own.share(for: shared.zoneID)
        other.title = "Notes"
        other.encryptedValues["order"] = nil as Int?
        other = try await ann.onFreshDevice().own.save(other)
        #expect(other.encryptedValues.allKeys() == ["colour"])
        #expect(other.title == "Notes")
        let titleOnly = try await bob.shared.share(for: shared.id(for: bob))
        #expect(titleOnly.title == "Notes")
        #expect(titleOnly.encryptedValues["colour"] == "canary-green")
    }

    @Test func aFieldUnderAShareOwnNameIsRefused() async throws {
        let ann = try await Person()
        let shared = try await SharedZone(of: ann)
        var share = try await ann.own.share(for: shared.zoneID)
        share.encryptedValues["title"] = "Another title"
        let refused = share
        #expect(await failure { _ = try await ann.own.save(refused) } == .invalidArguments)
        #expect(try await ann.own.share(for: shared.zoneID).title.isEmpty)
    }

    @Test func aNewShareOfARecordTakesThemAlong() async throws {
        let ann = try await Person()
        let root = ann.note(in: try await ann.makeZone(), "root", name: "root")
        var share = Share(rootRecord: root)
        share.encryptedValues["colour"] = "green"
        let saved = try await ann.own.save(share, rootRecord: root).share
        #expect(saved.encryptedValues["colour"] == "green")
    }

    /// Wherever the share's record comes out, it gives the share, and nothing is asked of the server for that.
    @Test func aRecordFromAFeedIsAShare() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let shared = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "nothing", [])
        let device = try ann.through(network)
        var share = try await device.own.share(for: shared.zoneID)
        share.title = "Our notes"
        share.encryptedValues["colour"] = "green"
        try await device.own.save(share)
        let changes = try await device.own.recordZoneChanges(inZoneWith: shared.zoneID)
        let record = try #require(try changes.modificationResultsByID[share.recordID]?.get().record)
        #expect(record.recordType == Share.recordType)
        let before = network.calls.count
        let described = try await device.own.share(describedBy: record)
        #expect(network.calls.count == before)
        #expect(described.title == "Our notes")
        #expect(described.encryptedValues["colour"] == "green")
        #expect(described.recordID == share.recordID)
        #expect(described.rootRecordID == nil)
        #expect(described.participants.map(\.participantID) == share.participants.map(\.participantID))
        #expect(described.currentUserParticipant?.role == .owner)

        // Saved again, it takes nobody out and no right away.
        var changed = described
        changed.title = "Notes"
        let saved = try await device.own.save(changed)
        #expect(saved.title == "Notes")
        #expect(saved.participants.count == 2)
        #expect(saved.url == share.url)

        let note = try await ann.own.save(ann.note(in: shared.zoneID, "x"))
        #expect(await failure { _ = try await ann.own.share(describedBy: note) } == .invalidArguments)
    }

    /// Fetched without its description, the record does not pass for a share without one.
    @Test func whatWasNotFetchedIsNoEmptyTitle() async throws {
        let ann = try await Person()
        let shared = try await SharedZone(of: ann)
        var share = try await ann.own.share(for: shared.zoneID)
        share.title = "Our notes"
        share = try await ann.own.save(share)
        let record = try #require(
            try await ann.own.records(for: [share.recordID], desiredKeys: [])[share.recordID]
        ).get()
        #expect(try await ann.own.share(describedBy: record).title == "Our notes")
    }

    @Test func metadataHasTheShare() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let shared = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        var share = try await ann.own.share(for: shared.zoneID)
        share.title = "Our notes"
        share = try await ann.own.save(share)
        let metadata = try await bob.container.shareMetadata(for: shared.url)
        #expect(metadata.share.title == metadata.title)
        #expect(metadata.share.title == "Our notes")
        #expect(metadata.share.participants.map(\.participantID) == share.participants.map(\.participantID))
        #expect(metadata.share.participants.map(\.permission) == share.participants.map(\.permission))
        #expect(metadata.share.recordID.recordName == Share.recordName)
        #expect(metadata.share.url == nil)
    }
}
