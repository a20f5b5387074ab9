import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct AccessRequestTests {
    @Test func aStrangerAsksIsApprovedAndJoins() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share()
        let url = try #require(share.url)
        #expect(!share.allowsAccessRequests)
        try await ann.edit(zone) { $0.allowsAccessRequests = true }
        try await bob.container.requestShareAccess(url, contact: "Bob, bob@example.org")
        // Asking does not let in.
        #expect(await failure { try await bob.join(url) } == .unknownItem)

        let asked = try await ann.share(of: zone)
        let requester = try #require(asked.requesters.first)
        #expect(asked.requesters.count == 1)
        #expect(requester.contact == "Bob, bob@example.org")
        #expect(requester.userIdentity.userRecordID?.recordName == bob.name)
        #expect("\(requester)".contains("example") == false)
        let participant = try await ann.container.shareParticipant(
            for: requester.participantLookupInfo, permission: .readWrite)
        let approved = try await ann.edit(zone) { $0.addParticipant(participant) }
        #expect(approved.requesters.isEmpty)
        #expect(approved.participant(bob)?.isApprovedRequester == true)
        #expect(approved.participant(bob)?.acceptanceStatus == .pending)
        #expect(
            await failure { try await bob.container.requestShareAccess(url, contact: "again") }
                == .participantAlreadyInvited)
        let joined = try await bob.join(url)
        try await bob.shared.save(bob.note(in: joined, "let in"))
        #expect(try await ann.share(of: zone).participant(bob)?.isApprovedRequester == true)
        #expect(
            await failure { try await bob.container.requestShareAccess(url, contact: "again") } == .invalidArguments)
        // Removed, it may ask again, and did not yet.
        let removed = try await ann.edit(zone) { $0.removeParticipant(try #require($0.participant(bob))) }
        #expect(removed.requesters.isEmpty)
        try await bob.container.requestShareAccess(url, contact: "sorry")
        #expect(try await ann.share(of: zone).requesters.map(\.contact) == ["sorry"])
    }

    /// What the owner takes back before saving has not happened.
    @Test func whoIsUnblockedBeforeTheShareIsSavedWasNeverBlocked() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share()
        let url = try #require(share.url)
        try await ann.edit(zone) { $0.allowsAccessRequests = true }
        try await bob.container.requestShareAccess(url, contact: "Bob")
        let saved = try await ann.edit(zone) { share in
            share.blockRequesters(share.requesters)
            share.unblockIdentities(share.blockedIdentities)
        }
        #expect(saved.blockedIdentities.isEmpty)
        try await bob.container.requestShareAccess(url, contact: "Bob again")
    }

    /// Off, for blocked people, and for shares that are none: the same words.
    @Test func whereNobodyMayAskNobodyLearnsOfTheShare() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share()
        let url = try #require(share.url)
        func answer(_ url: String) async -> String {
            do {
                try await bob.container.requestShareAccess(url, contact: "Bob")
                return "asked"
            } catch {
                return "\(error)"
            }
        }
        let parsed = try ShareURL(url)
        let scope = try ann.container.core.scope(of: zone)
        var random = SystemRandom()
        let unknown = ShareURL(
            origin: parsed.origin, routingID: ID16(random: &random), secret: parsed.secret, scopeID: scope.id)
        let absent = await answer(unknown.text())
        let off = await answer(url)
        #expect(off == absent)
        #expect(off.contains("unknownItem"))
        try await ann.edit(zone) { $0.allowsAccessRequests = true }
        #expect(await answer(url) == "asked")
        let blocked = try await ann.edit(zone) { $0.blockRequesters($0.requesters) }
        #expect(blocked.requesters.isEmpty)
        #expect(blocked.blockedIdentities.map(\.userRecordID.recordName) == [bob.name])
        #expect(await answer(url) == off)
        try await ann.edit(zone) { $0.unblockIdentities($0.blockedIdentities) }
        #expect(await answer(url) == "asked")
        // Off again: who waited is not kept.
        try await ann.edit(zone) { $0.allowsAccessRequests = false }
        #expect(await answer(url) == off)
        let on = try await ann.edit(zone) { $0.allowsAccessRequests = true }
        #expect(on.requesters.isEmpty)
    }

    @Test func whoIsDeniedMayAskAgain() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(carol, .readWrite)])
        try await carol.join(share.url)
        try await ann.promote(carol, in: zone)
        let url = try #require(share.url)
        try await ann.edit(zone) { $0.allowsAccessRequests = true }
        try await bob.container.requestShareAccess(url, contact: "Bob")
        // An administrator sees who, and answers; what was said is for the owner.
        let carols = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
        let seen = try await carol.share(of: carols)
        #expect(seen.requesters.map(\.userIdentity.userRecordID?.recordName) == [bob.name])
        #expect(seen.requesters.map(\.contact) == [""])
        #expect(seen.allowsAccessRequests)
        let denied = try await carol.edit(carols) { $0.denyRequesters($0.requesters) }
        #expect(denied.requesters.isEmpty)
        #expect(denied.blockedIdentities.isEmpty)
        try await bob.container.requestShareAccess(url, contact: "Bob, once more")
        #expect(try await ann.share(of: zone).requesters.map(\.contact) == ["Bob, once more"])
    }

    /// The invitation that answered a request ran out, and the owner's device took it back: whoever asks anew waits
    /// anew, and is let in.
    @Test func whoseInvitationIsOverAsksAnew() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share()
        let url = try #require(share.url)
        try await ann.edit(zone) { $0.allowsAccessRequests = true }
        try await bob.container.requestShareAccess(url, contact: "Bob")
        func approve(until expiry: Date?) async throws -> Share {
            let requester = try #require(try await ann.share(of: zone).requesters.first)
            var participant = try await ann.container.shareParticipant(
                for: requester.participantLookupInfo, permission: .readWrite)
            participant.expirationDate = expiry
            return try await ann.edit(zone) { [participant] in $0.addParticipant(participant) }
        }
        let day = 86_400.0
        let invited = try await approve(until: Date(timeIntervalSinceNow: day))
        #expect(invited.participant(bob)?.isApprovedRequester == true)
        #expect(invited.requesters.isEmpty)
        #expect(
            await failure { try await bob.container.requestShareAccess(url, contact: "early") }
                == .participantAlreadyInvited)

        let over = try await WallClock.$offset.withValue(Int64(2 * day) * 1_000_000) {
            try await ann.own.maintain(zone)
            return try await ann.share(of: zone)
        }
        #expect(over.participant(bob) == nil)
        #expect(over.requesters.isEmpty)
        #expect(over.allowsAccessRequests)
        #expect(await failure { try await bob.join(url) } == .unknownItem)
        try await bob.container.requestShareAccess(url, contact: "Bob, again")
        #expect(await failure { try await bob.join(url) } == .unknownItem)
        let asked = try await ann.share(of: zone)
        #expect(asked.requesters.map(\.contact) == ["Bob, again"])
        #expect(asked.participant(bob) == nil)
        let again = try await approve(until: nil)
        #expect(again.participant(bob)?.isApprovedRequester == true)
        #expect(again.requesters.isEmpty)
        let joined = try await bob.join(url)
        let saved = try await bob.shared.save(bob.note(in: joined, "let in"))
        let id = Record.ID(recordName: saved.recordID.recordName, zoneID: zone)
        #expect(try await ann.own.record(for: id).encryptedValues["body"] == "let in")
        for person in [ann, bob] { #expect(try await person.container.violations().isEmpty) }
    }

    @Test func whoMayJoinAnywayNeedNotAsk() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share()
        let url = try #require(share.url)
        try await ann.edit(zone) { share in
            share.allowsAccessRequests = true
            share.publicPermission = .readOnly
        }
        #expect(
            await failure { try await bob.container.requestShareAccess(url, contact: "Bob") }
                == .participantAlreadyInvited)
        #expect(
            await failure { try await bob.container.requestShareAccess(String(url.dropLast(3)), contact: "Bob") }
                == .invalidArguments)
        let long = String(repeating: "x", count: 5_000)
        try await ann.edit(zone) { $0.publicPermission = .none }
        #expect(await failure { try await bob.container.requestShareAccess(url, contact: long) } == .invalidArguments)
    }

    /// Whoever answers in the place of the owner is not told who asks.
    @Test func theContactIsSealedToTheOwnerOfTheURLAlone() async throws {
        let (ann, bob, eve) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share()
        try await ann.edit(zone) { $0.allowsAccessRequests = true }
        let evesChain = eve.container.core.identity().chain
        let hostile = RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
            guard path.hasSuffix("/share/owner") else { return body }
            var answer = try Sealkit_V1_ShareOwnerResponse(serializedBytes: body)
            answer.owner = evesChain.wire
            answer.zone.ownerName = evesChain.userID.recordName
            return try answer.serializedData()
        }
        let deceived = try bob.through(hostile)
        let url = try #require(share.url)
        #expect(
            await failure { try await deceived.container.requestShareAccess(url, contact: "Bob") } == .invalidArguments)
        // The answer as it was: the same way asks.
        try await bob.container.requestShareAccess(url, contact: "Bob")
    }
}
