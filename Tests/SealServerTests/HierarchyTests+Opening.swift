import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// A share begins with its URL and its first invitations, in one transaction with its record and root.
extension HierarchyTests {
    /// A share that is still to be opened, with the entry after its opening: settings, a URL, and an invitation of
    /// Bert.
    private struct New {
        /// With both entries.
        var share: TestZone
        /// As its first records find it.
        let opened: TestZone
        var opening: Sealkit_V1_ShareOpening
        let invitation: TestInvitation
        let routingID: [UInt8]
        let writes: [PlacedWrite]
    }

    private func new(
        _ anna: Person, _ bert: Person, in zone: TestZone, rotating: Bool = false, following: Roster? = nil,
        root: SavedRecord? = nil
    ) async throws -> New {
        var list = root
        if list == nil { list = try await anna.save([Write("list")], in: zone)[0] }
        let saved = try #require(list)
        var (share, opening) = try anna.newShare("share", root: "list", in: zone, following: following)
        let opened = share
        let writes = anna.sharing(saved, as: "share", in: zone, share)
        let invitation = try anna.invitation(to: bert, in: share)
        var link = invitation.link
        link.invitationID = Data()
        let draft = try anna.next(
            on: share, [.settings(.init(linkID: Digest(randomBytes(32))))], invitations: [invitation.draft],
            rotating: rotating)
        opening.following = anna.appendRequest(draft, to: share, links: [link])
        try share.roster.append(draft.entry)
        return New(
            share: share, opened: opened, opening: opening, invitation: invitation, routingID: invitation.routingID,
            writes: writes)
    }

    @Test func aShareBeginsWithItsURLAndInvitations() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let zone = try await anna.makeZone()
            var made = try await new(anna, bert, in: zone)
            #expect(try await anna.save(made.writes, opening: [made.opening]).map(\.result.code) == [nil, nil])
            #expect(try await anna.fetchRoster(made.share).entries.count == 2)
            #expect(try await anna.shares(in: zone).map(\.scope.sequence) == [1])
            // The URL works, and so does what was sealed before: the records are of the epoch that both entries have.
            #expect(try await bert.metadata(made.routingID).shareRecordName == "share")
            try await bert.accept(made.invitation, in: &made.share)
            let share = made.share
            let feed = try await bert.changes(in: share)
            #expect(names(feed) == ["list", "share"])
            for record in feed.records { _ = try bert.open(record, in: share) }
            // The same request again gives the same answer, and nothing twice.
            #expect(try await anna.fetchRoster(share).entries.count == 3)
        }
    }

    @Test func aZoneUnderItsOwnKeysAloneHasNoShareOfARecord() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let zone = try await anna.makeZone(encryption: .perZone)
            let made = try await new(anna, bert, in: zone)
            let refused = try await refusal { _ = try await anna.save(made.writes, opening: [made.opening]) }
            #expect(refused == .invalidArguments)
            #expect(try await anna.shares(in: zone).isEmpty)
            let list = try await anna.lookup(["list"], in: zone).results[0].record
            #expect(try Statement(canonicalBytes: [UInt8](list.statement)).share == nil)
            // As a whole it is shared as any other.
            var whole = zone
            try await anna.append(
                try anna.next(on: whole, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &whole)
            // A share whose opening says otherwise is none in any zone.
            let other = try await anna.makeZone("other")
            let second = try await new(anna, bert, in: other)
            var opening = second.opening
            var entry = try RosterEntry(canonicalBytes: [UInt8](opening.open.entry), container: nil)
            guard case .open(let open)? = entry.changes.first else { throw TestFailure("no opening") }
            entry.changes = [
                .open(
                    .init(
                        scope: open.scope, incarnations: open.incarnations, encryptionScope: .perZone,
                        rootRecordName: open.rootRecordName, owner: open.owner))
            ]
            let bytes = entry.canonicalBytes()
            opening.open.entry = Data(bytes)
            opening.open.signature = Data(anna.keys.signingKey.sign(RosterEntry.signedBytes(bytes)))
            let forged = opening
            let code = try await refusal { _ = try await anna.save(second.writes, opening: [forged]) }
            #expect(code == .invalidArguments || code == .integrityFailure, "\(String(describing: code))")
        }
    }

    @Test func aRepeatedRequestOpensOnce() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let zone = try await anna.makeZone()
            let made = try await new(anna, bert, in: zone)
            let request = try anna.request(made.writes, opening: [made.opening]).request
            let first = try await anna.send(request, to: zone)
            #expect(first.map(\.code) == [nil, nil])
            #expect(try await anna.send(request, to: zone) == first)
            #expect(try await anna.fetchRoster(made.share).entries.count == 2)
            // With another URL it is another request.
            var other = request
            other.openings[0].following.links[0].routingID = Data(randomBytes(16))
            let changed = other
            let code = try await refusal { _ = try await anna.send(changed, to: zone) }
            #expect(code == .invalidArguments)
        }
    }

    /// Whatever is wrong with the entry or what comes with it: no share, no record of it, no root changed.
    @Test func whatFollowsTheOpeningIsGoodOrNothingIsStored() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let zone = try await anna.makeZone()
            let good = try await new(anna, bert, in: zone)
            let list = try SavedRecord(try await anna.lookup(["list"], in: zone).results[0].record)
            var refusals: [(String, ErrorCode, Sealkit_V1_ShareOpening)] = []
            func add(_ what: String, _ code: ErrorCode, _ change: (inout Sealkit_V1_AppendRosterRequest) throws -> Void)
                rethrows
            {
                var opening = good.opening
                try change(&opening.following)
                refusals.append((what, code, opening))
            }
            add("no entry", .invalidArguments) { $0.entry = .init() }
            add("another's signature", .integrityFailure) { $0.entry.signature[0] ^= 1 }
            add("no grant for the invitation", .integrityFailure) { $0.grants = [] }
            add("a link for no invitation", .invalidArguments) { $0.links[0].invitationID = Data(randomBytes(16)) }
            add("a routing id of another length", .invalidArguments) { $0.links[0].routingID = Data([1]) }
            add("two share-wide links", .invalidArguments) { request in
                var second = request.links[0]
                second.routingID = Data(randomBytes(16))
                request.links.append(second)
            }
            let foreign = try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))])
            add("an entry of another scope", .invalidArguments) { $0.entry = foreign.entry.wire }
            let (share, _) = try anna.newShare("share", root: "list", in: zone)
            let closing = anna.author.plain(.close, on: share.roster, time: 2)
            add("an end", .invalidArguments) { $0.entry = closing.entry.wire }
            for (what, code, opening) in refusals {
                let writes = anna.sharing(list, as: "share", in: zone, good.opened)
                let refused = try await refusal { _ = try await anna.save(writes, opening: [opening]) }
                #expect(refused == code, "\(what)")
            }
            let rotating = try await new(anna, bert, in: zone, rotating: true, root: list)
            let refused = try await refusal { _ = try await anna.save(rotating.writes, opening: [rotating.opening]) }
            #expect(refused == .invalidArguments)

            #expect(try await anna.shares(in: zone).isEmpty)
            #expect(try await anna.lookup(["share"], in: zone).results.map(\.code) == [.unknownItem])
            let root = try await anna.lookup(["list"], in: zone).results[0].record
            #expect(try anna.open(root, in: zone).statement.share == nil)
            // And the good one goes through.
            let last = try await new(anna, bert, in: zone, root: list)
            #expect(try await anna.save(last.writes, opening: [last.opening]).map(\.result.code) == [nil, nil])
        }
    }
}
