import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// What clients of CloudKit rely on in shared databases, named by its number in `Semantics.md`.
extension HierarchyTests {
    @Test func `47 a participant deletes the share and only the share goes`() async throws {
        try await withShare { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            let token = try await bert.zoneChanges(shared: true).token
            let before = try await anna.changes(in: shared.zone)
            // A participant's deletion of the share is its leaving.
            let leave = bert.author.plain(.leave, on: share.roster, time: 5)
            _ = try await bert.send(bert.appendRequest(leave, to: share), to: share)
            // Its copies go by the deletion of the zone from its shared database.
            #expect(
                try await bert.zoneChanges(token, shared: true).deletions.map(\.zoneID.zoneName) == [shared.zone.name])
            let gone = try await refusal { _ = try await bert.changes(in: share) }
            #expect(gone == .zoneNotFound)
            // The owner's records, share and root among them, are as they were.
            let after = try await anna.changes(in: shared.zone)
            #expect(after.records.map(\.statement) == before.records.map(\.statement))
            #expect(names(after) == ["list", "item", "note", "share"])
            #expect(try await anna.shares(in: shared.zone).map(\.rootRecordName) == ["list"])
        }
    }

    @Test func `51 a permission lowered on the server wins over the client's`() async throws {
        try await withShare { shared in
            let (anna, bert, zone) = (shared.anna, shared.bert, shared.zone)
            var edit = Write(after: shared.item, "Bert's")
            edit.parent = "list"
            let pending = edit
            var share = shared.share
            try await anna.append(
                try anna.next(on: share, [.setPermission(bert.user, .readOnly)], rotating: true), to: &share)
            // What Bert's device still believes does not count, and what it gets instead is the server's record.
            let old = shared.share
            let refused = try await refusal { _ = try await bert.codes([pending], in: old) }
            #expect(refused == .permissionFailure)
            let now = share
            let again = try await refusal { _ = try await bert.codes([pending], in: now) }
            #expect(again == .permissionFailure)
            let found = try await bert.lookup(["item"], in: now).results[0]
            #expect(found.code == nil)
            #expect(try bert.verified(found.record, in: now).revision == shared.item.revision)
            // Where the record went meanwhile: unknownItem, and the local copy goes.
            let moved = try await anna.save([Self.move(shared.item, from: now, to: zone, parent: nil)])
            #expect(moved.map(\.result.code) == [nil])
            #expect(try await bert.lookup(["item"], in: now).results.map(\.code) == [.unknownItem])
        }
    }

    @Test func `53 metadata names the container and the root`() async throws {
        try await withShare { shared in
            let (anna, server) = (shared.anna, shared.server)
            let carl = try await Person.ready(server)
            var share = shared.share
            let invitation = try anna.invitation(to: carl, in: share)
            try await anna.append(
                try anna.next(on: share, invitations: [invitation.draft]), to: &share, links: [invitation.link])
            let metadata = try await carl.metadata(invitation.routingID)
            #expect(metadata.container == TestClient.container)
            #expect(metadata.shareRecordName == "share")
            #expect(metadata.zone.zoneName == shared.zone.name)
            #expect(metadata.zone.ownerName == anna.user.recordName)
            // The root's id is in the verified roster that comes with it; the record itself is the participant's alone.
            let roster = try Roster(
                replaying: metadata.entries.map { SignedRosterEntry($0) }, scope: share.roster.scope)
            #expect(roster?.rootRecordName == "list")
            let before = share
            let early = try await refusal { _ = try await carl.lookup(["list"], in: before) }
            #expect(early == .zoneNotFound)
            try await carl.accept(invitation, in: &share)
            let joined = share
            #expect(try await carl.lookup(["list"], in: joined).results.map(\.code) == [nil])
        }
    }

    @Test func `54 the owner's name routes to the private or the shared database`() async throws {
        try await withShare { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            // Bert has a zone of the same name; without an owner's name it is his own.
            let own = try await bert.makeZone(shared.zone.name)
            #expect(try await bert.codes([Write("mine")], in: own) == [nil])
            #expect(names(try await bert.changes(in: own)) == ["mine"])
            #expect(names(try await bert.changes(in: share)) == ["list", "share", "item"])
            #expect(try await bert.zoneChanges().modifications.map(\.zoneID.zoneName) == [shared.zone.name])
            #expect(
                try await bert.zoneChanges(shared: true).modifications.map(\.zoneID.ownerName) == [anna.user.recordName]
            )
            // In its own private database another's zone is none, and in the shared one one's own.
            var request = Sealkit_V1_LookupRecordsRequest()
            request.recordNames = ["list"]
            request.zone = share.id(for: bert)
            let others = request
            let wrong = try await refusal {
                _ = try await bert.client.call(
                    bert.path("records/lookup"), others, as: Sealkit_V1_LookupRecordsResponse.self)
            }
            #expect(wrong == .zoneNotFound)
            request.zone = shared.zone.id(for: anna)
            let annas = request
            let code = try await refusal {
                _ = try await anna.client.call(
                    anna.path("records/lookup", shared: true), annas, as: Sealkit_V1_LookupRecordsResponse.self)
            }
            #expect(code == .zoneNotFound)
        }
    }

    /// A participant's child goes from a shared list into a list of its own: a deletion in one zone and a new record in
    /// another.
    @Test func `55 moving a child between private and shared parents is a deletion and a save`() async throws {
        try await withShare { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            let own = try await bert.makeZone("mine")
            #expect(try await bert.codes([Write("my list")], in: own) == [nil])
            let theirs = try await bert.changes(in: share).token
            let mine = try await bert.changes(in: own).token
            var gone = Write(after: shared.item, kind: .delete)
            gone.parent = "list"
            // Either may come first, and between them the record is in both or in neither: the two feeds know nothing
            // of each other.
            #expect(try await bert.codes([Write("item", parent: "my list")], in: own) == [nil])
            #expect(names(try await bert.changes(in: own, since: mine)) == ["item"])
            #expect(try await bert.changes(in: share, since: theirs).records.isEmpty)
            #expect(try await bert.codes([gone], in: share) == [nil])
            let told = try await bert.changes(in: share, since: theirs).records
            #expect(told.map(\.recordName) == ["item"])
            let areGone = told.allSatisfy(\.deleted)
            #expect(areGone)
            #expect(try await anna.lookup(["item"], in: shared.zone).results.map(\.code) == [.unknownItem])
            // And back: there it goes on after its deletion.
            let item = try SavedRecord(try await bert.lookup(["item"], in: own).results[0].record)
            var leaving = Write(after: item, kind: .delete)
            leaving.parent = "my list"
            #expect(try await bert.codes([leaving], in: own) == [nil])
            let tombstone = try SavedRecord(try await bert.lookup(["item"], in: share).results[0].serverRecord)
            var back = Write(after: tombstone)
            (back.parent, back.tag, back.creator) = ("list", "", bert.user)
            #expect(try await bert.codes([back], in: share) == [nil])
            #expect(names(try await anna.changes(in: shared.zone)) == ["list", "share", "item", "note"])
        }
    }

    @Test func `56 the feed's deletion of a shared zone removes all of it`() async throws {
        try await withShare { shared in
            let (anna, bert, share) = (shared.anna, shared.bert, shared.share)
            let token = try await bert.zoneChanges(shared: true).token
            let feed = try await bert.changes(in: share)
            #expect(names(feed) == ["list", "share", "item"])
            var left = share
            try await anna.append(try anna.next(on: left, [.remove(bert.user)], rotating: true), to: &left)
            let told = try await bert.zoneChanges(token, shared: true)
            #expect(told.modifications.isEmpty)
            #expect(told.deletions.map(\.zoneID.zoneName) == [shared.zone.name])
            #expect(told.deletions.map(\.reason) == [4])
            // Nothing of it is left to ask for, not even by the token of before.
            for since in [feed.token, .init()] {
                let code = try await refusal { _ = try await bert.changes(in: share, since: since) }
                #expect(code == .zoneNotFound)
            }
            let looked = try await refusal { _ = try await bert.lookup(["list"], in: share) }
            #expect(looked == .zoneNotFound)
            #expect(try await bert.zoneChanges(told.token, shared: true).deletions.isEmpty)
        }
    }
}
