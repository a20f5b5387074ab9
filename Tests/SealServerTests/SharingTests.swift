import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit
@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct SharingTests {
    func withTwo(_ body: @Sendable (Person, Person, TestZone, RunningServer) async throws -> Void) async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            try await body(anna, bert, try await anna.makeSharedZone(), server)
        }
    }

    @Test func aKnownPersonAcceptsReadsAndWrites() async throws {
        try await withTwo { anna, bert, made, _ in
            var zone = made
            _ = try await anna.save([Write("a")], in: zone)
            let invitation = try anna.invitation(to: bert, in: zone)
            let before = try await anna.zoneChanges().token
            let answer = try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            #expect(answer.scope.sequence == 2)
            #expect(answer.position == 4)
            #expect(try await anna.zoneChanges(before).modifications[0].shared)
            // Invited, not accepted: nothing can be read, written or listed.
            let open = zone
            #expect(try await refusal { try await bert.lookup(["a"], in: open) } == .zoneNotFound)
            #expect(try await refusal { try await bert.save([Write("x")], in: open) } == .zoneNotFound)
            #expect(try await bert.zones(shared: true).isEmpty)
            #expect(try await bert.fetchRoster(open).failure.errorCode == .zoneNotFound)

            let metadata = try await bert.metadata(invitation.routingID)
            #expect(metadata.container == TestClient.container)
            #expect(metadata.environment == "development")
            #expect(metadata.zone.ownerName == anna.name)
            #expect(metadata.entries.count == 3)
            #expect(!metadata.alreadyMember)
            #expect(metadata.invitationID == Data(invitation.keys.id.bytes))
            #expect(metadata.preview == Data([4, 5]))
            let key = try Grants<XWingHPKE>.open(
                [UInt8](metadata.grant.sealed), epoch: zone.roster.currentEpoch, invitation: invitation.keys,
                keys: bert.keys)
            #expect(key.keyID == zone.key.keyID)

            try await bert.accept(invitation, in: &zone)
            #expect(try await bert.metadata(invitation.routingID).alreadyMember)
            #expect(try await bert.zones(shared: true).map(\.zoneID.ownerName) == [anna.name])
            #expect(try await bert.zoneChanges(shared: true).modifications.map(\.zoneID.zoneName) == ["notes"])
            #expect(try await bert.zoneChanges().modifications.isEmpty)
            let record = try await bert.lookup(["a"], in: zone).results[0].record
            _ = try bert.open(record, in: zone)
            #expect(try await bert.codes([Write(after: try SavedRecord(record)), Write("b")], in: zone) == [nil, nil])
            let tail = try await bert.fetchRoster(zone)
            #expect(tail.entries.count == 4)
            #expect(tail.grants.count == 1)
            #expect(tail.grants[0].subject == Data(bert.user.id.bytes))
            _ = try Grants<XWingHPKE>.open(
                [UInt8](tail.grants[0].sealed), epoch: zone.roster.currentEpoch, as: bert.user, keys: bert.keys)
            let end = try await anna.fetchRoster(zone, after: 2)
            #expect(end.entries.count == 1 && end.grants[0].subject == Data(anna.user.id.bytes))
            // Positions are places in the feed that the records share.
            let positions = tail.entries.map(\.position)
            let records = try await anna.changes(in: zone).records.map(\.position)
            #expect(Set(positions).isDisjoint(with: records))
            #expect(positions == positions.sorted())
        }
    }

    @Test func aReaderCannotWrite() async throws {
        try await withTwo { anna, bert, made, _ in
            var zone = made
            try await anna.share(&zone, with: bert, .readOnly)
            let shared = zone
            #expect(try await refusal { try await bert.save([Write("x")], in: shared) } == .permissionFailure)
            #expect(try await bert.lookup(["x"], in: shared).results[0].code == .unknownItem)
            #expect(
                try await refusal {
                    try await bert.send(
                        bert.appendRequest(bert.next(on: shared, rotating: true), to: shared), to: shared)
                } == .permissionFailure)
            #expect(
                try await refusal {
                    try await bert.client.call(
                        bert.path("links/fetch", shared: true),
                        Sealkit_V1_LinksRequest.with { $0.zone = shared.id(for: bert) },
                        as: Sealkit_V1_LinksResponse.self)
                } == .permissionFailure)
            // Raised: now it may. Lowered again: no more, at once.
            try await anna.append(try anna.next(on: zone, [.setPermission(bert.user, .readWrite)]), to: &zone)
            #expect(try await bert.codes([Write("x")], in: zone) == [nil])
            let before = zone
            try await anna.append(
                try anna.next(on: zone, [.setPermission(bert.user, .readOnly)], rotating: true), to: &zone)
            #expect(try await refusal { try await bert.save([Write("y")], in: before) } == .permissionFailure)
        }
    }

    @Test func whoWasRemovedSeesThatAndNoMore() async throws {
        try await withTwo { anna, bert, made, _ in
            var zone = made
            try await anna.share(&zone, with: bert)
            _ = try await bert.save([Write("a")], in: zone)
            let token = try await bert.zoneChanges(shared: true).token
            let before = zone
            try await anna.remove(bert, from: &zone)
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            #expect(try await refusal { try await bert.lookup(["a"], in: before) } == .zoneNotFound)
            #expect(try await refusal { try await bert.save([Write("b")], in: before) } == .zoneNotFound)
            #expect(try await refusal { try await bert.changes(in: before) } == .zoneNotFound)
            let gone = try await bert.zoneChanges(token, shared: true)
            #expect(gone.deletions.map(\.reason) == [4])
            #expect(gone.modifications.isEmpty)
            // The roster up to the entry that ended it, and no grant.
            let tail = try await bert.fetchRoster(before)
            #expect(tail.entries.count == 5)
            #expect(tail.grants.isEmpty)
            #expect(try await anna.fetchRoster(zone).entries.count == 6)
            // Invited again: back.
            try await anna.share(&zone, with: bert)
            #expect(try await bert.zoneChanges(gone.token, shared: true).modifications.count == 1)
            #expect(try await bert.lookup(["a"], in: zone).results[0].code == nil)
            // The zone goes: for the owner deleted, for participants not shared any more.
            let (mine, theirs) = (try await anna.zoneChanges().token, try await bert.zoneChanges(shared: true).token)
            #expect(try await anna.deleteZone(zone).deleted)
            #expect(try await anna.zoneChanges(mine).deletions.map(\.reason) == [1])
            #expect(try await bert.zoneChanges(theirs, shared: true).deletions.map(\.reason) == [4])
            #expect(try await bert.fetchRoster(zone).entries.count == 9)
        }
    }

    @Test func leavingMakesRotationDue() async throws {
        try await withTwo { anna, bert, made, server in
            var zone = made
            let carl = try await Person.ready(server)
            try await anna.share(&zone, with: bert)
            try await anna.share(&zone, with: carl)
            try await bert.append(bert.author.plain(.leave, on: zone.roster, time: 5), to: &zone)
            let due = zone
            #expect(try await refusal { try await anna.save([Write("a")], in: due) } == .rotationDue)
            #expect(try await refusal { try await bert.lookup(["a"], in: due) } == .zoneNotFound)
            #expect(try await bert.zoneChanges(shared: true).deletions.map(\.reason) == [4])
            // Any member who may write rotates.
            try await carl.append(try carl.next(on: zone, rotating: true), to: &zone)
            #expect(try await anna.codes([Write("a")], in: zone) == [nil])
            let grants = try await anna.fetchRoster(zone).grants
            #expect(grants.map(\.epoch) == [0, 1])
        }
    }

    @Test func entriesAreComparedAndAppended() async throws {
        try await withTwo { anna, bert, made, _ in
            var zone = made
            try await anna.share(&zone, with: bert)
            let shared = zone
            let rotation = try anna.next(on: zone, rotating: true)
            func code(
                _ person: Person, _ draft: RosterAuthor<XWingHPKE>.Draft,
                _ change: ((inout Sealkit_V1_AppendRosterRequest) -> Void)? = nil
            ) async throws -> ErrorCode? {
                var request = person.appendRequest(draft, to: shared)
                change?(&request)
                let sent = request
                return try await refusal { try await person.send(sent, to: shared) }
            }
            #expect(try await code(anna, rotation) { $0.grants.removeLast() } == .integrityFailure)
            #expect(try await code(anna, rotation) { $0.grants[0].sealed[0] ^= 1 } == .integrityFailure)
            #expect(try await code(anna, rotation) { $0.grants[0].epoch = 7 } == .integrityFailure)
            #expect(try await code(anna, rotation) { $0.grants.append($0.grants[0]) } == .invalidArguments)
            #expect(try await code(anna, rotation) { $0.grants[0].subject = Data([1]) } == .invalidArguments)
            #expect(try await code(anna, rotation) { $0.entry.signature[0] ^= 1 } == .integrityFailure)
            #expect(try await code(anna, rotation) { $0.entry.entry.append(0) } == .invalidArguments)
            #expect(try await code(anna, rotation) { $0.shareRecordName = "share" } == .unknownItem)
            #expect(try await code(anna, rotation) { $0.operationID = Data([1]) } == .invalidArguments)
            #expect(try await code(bert, rotation) == .permissionFailure)
            #expect(try await code(anna, anna.author.plain(.close, on: zone.roster, time: 1)) == .invalidArguments)
            #expect(try await code(anna, try anna.next(on: zone, [.remove(bert.user)])) == .integrityFailure)
            #expect(try await code(bert, try bert.forge(on: zone, [.remove(anna.user)])) == .permissionFailure)
            #expect(
                try await code(anna, try anna.forge(on: zone, [.revoke(ID16(randomBytes(16)))])) == .invalidArguments)
            // Both rotate: one wins, the other is told to look again.
            let other = try bert.next(on: zone, rotating: true)
            let request = anna.appendRequest(rotation, to: zone)
            let first = try await anna.send(request, to: zone)
            #expect(try await anna.send(request, to: zone) == first)
            #expect(try await code(bert, other) == .rosterChanged)
        }
    }

    @Test func linksAndAddressesAreChecked() async throws {
        try await withTwo { anna, bert, made, _ in
            var zone = made
            let invitation = try anna.invitation(to: nil, in: zone)
            let draft = try anna.next(on: zone, invitations: [invitation.draft])
            let current = zone
            func code(_ links: [Sealkit_V1_Link], _ addresses: [(ID16, String)] = []) async throws -> ErrorCode? {
                let request = anna.appendRequest(draft, to: current, links: links, addresses: addresses)
                return try await refusal { try await anna.send(request, to: current) }
            }
            func link(_ change: (inout Sealkit_V1_Link) -> Void) -> Sealkit_V1_Link {
                var link = invitation.link
                change(&link)
                return link
            }
            #expect(try await code([link { $0.routingID = Data([1]) }]) == .invalidArguments)
            #expect(try await code([link { $0.invitationID = Data([1]) }]) == .invalidArguments)
            #expect(try await code([link { $0.invitationID = Data(randomBytes(16)) }]) == .invalidArguments)
            #expect(try await code([link { $0.keptSecret = Data(count: 257) }]) == .limitExceeded)
            #expect(try await code([link { $0.preview = Data(count: 65_537) }]) == .limitExceeded)
            #expect(try await code([invitation.link, invitation.link]) == .invalidArguments)
            #expect(try await code([], [(try ID16(randomBytes(16)), "a@example.org")]) == .invalidArguments)
            #expect(try await code([], [(invitation.keys.id, "nonsense")]) == .invalidArguments)
            #expect(
                try await code([
                    link { $0.invitationID = Data() },
                    link {
                        $0.invitationID = Data()
                        $0.routingID = Data(randomBytes(16))
                    },
                ]) == .invalidArguments)
            var shareWide = invitation.link
            shareWide.invitationID = Data()
            shareWide.routingID = Data(randomBytes(16))
            try await anna.append(
                draft, to: &zone, links: [invitation.link, shareWide],
                addresses: [(invitation.keys.id, "a@example.org")])
            func kept() async throws -> [Sealkit_V1_Link] {
                try await anna.client.call(
                    anna.path("links/fetch"), Sealkit_V1_LinksRequest.with { $0.zone.zoneName = "notes" },
                    as: Sealkit_V1_LinksResponse.self
                ).links
            }
            #expect(try await kept() == [shareWide, invitation.link])
            // A new share-wide link replaces the old; revoking an invitation closes its one-time link.
            var renewed = shareWide
            renewed.routingID = Data(randomBytes(16))
            try await anna.append(
                try anna.next(on: zone, [.revoke(invitation.keys.id)], rotating: true), to: &zone, links: [renewed])
            #expect(try await kept() == [renewed])
            #expect(try await refusal { try await bert.metadata([UInt8](shareWide.routingID)) } == .unknownItem)
            #expect(try await refusal { try await bert.metadata(invitation.routingID) } == .unknownItem)
            func addressed() async throws -> [[UInt8]] {
                try await anna.client.server.services.database.read { connection in
                    try connection.rows("SELECT invitation FROM placeholder_address") { try $0.bytes("invitation") }
                }
            }
            #expect(try await addressed().isEmpty)
        }
    }
}
