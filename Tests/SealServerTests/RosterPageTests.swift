import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit
@testable import SealServer
@testable import SealService
@testable import SealStorage

/// How long rosters may become, and how they are read.
@Suite(.timeLimit(.minutes(60))) struct RosterPageTests {
    private func limits(entries: Int) -> AbuseLimits {
        var limits = AbuseLimits()
        limits.rosterEntries = entries
        return limits
    }

    @Test func aFullRosterTakesNobodyInAndLetsEverybodyGo() async throws {
        try await RunningServer.with(limits: limits(entries: 5)) { server in
            let anna = try await Person.ready(server)
            let (bert, carl) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            let seat = try anna.invitation(to: carl, in: zone)
            try await anna.append(try anna.next(on: zone, invitations: [seat.draft]), to: &zone, links: [seat.link])
            let full = zone
            #expect(full.roster.nextSequence == 5)
            let accepted = try await refusal {
                var next = full
                try await carl.accept(seat, in: &next)
            }
            let raised = try await refusal {
                var next = full
                try await anna.append(try anna.next(on: next, [.setRole(bert.user, .administrator)]), to: &next)
            }
            #expect(accepted == .limitExceeded)
            #expect(raised == .limitExceeded)
            try await anna.append(try anna.next(on: zone, [.revoke(seat.keys.id)], rotating: true), to: &zone)
            try await bert.append(bert.author.plain(.leave, on: zone.roster, time: 5), to: &zone)
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            #expect(try await anna.codes([Write("a")], in: zone) == [nil])
            // What an honest server has refused is not given back to it either.
            let invitation = try anna.invitation(to: bert, in: zone)
            let draft = try anna.next(on: zone, invitations: [invitation.draft])
            let restore = Sealkit_V1_RestoreRosterRequest.with {
                $0.zone = full.id(for: anna)
                $0.entries = [draft.entry.wire]
            }
            let given = try await refusal {
                try await anna.client.call(
                    anna.path("rosters/restore"), restore, as: Sealkit_V1_RestoreRosterResponse.self)
            }
            #expect(given == .limitExceeded)
            #expect(try await anna.deleteZone(zone).deleted)
            var closed = zone
            try closed.roster.append(SignedRosterEntry(try await anna.fetchRoster(zone).entries.last ?? .init()))
            let again = try await anna.modifyZones(saving: [
                (zone.name, try anna.opening(zone.name, following: closed.roster))
            ])[0]
            #expect(again.failure.errorCode == .limitExceeded)
        }
    }

    /// A branch that was given up is given out as far as an answer has room, and goes on after what the device has
    /// then.
    @Test("Branches that were given up, however long and many, come in answers that have room for them.")
    func attack94_abandonedBranches() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            func hash(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: Digest.byteCount) }
            let hashes = (1...6).map(hash)
            try await server.services.database.write(at: .everything) { connection in
                for (index, hash) in hashes.enumerated() {
                    try connection.execute(
                        """
                        INSERT INTO abandoned_entry (owner, zone, share, branch, sequence, hash, entry, signature)
                        SELECT owner, zone, 0, $1, $2, $3, $4, $5 FROM zone WHERE name = $6
                        """,
                        [
                            .blob(hashes[5]), .integer(Int64(index + 1)), .blob(hash),
                            .data(Data(count: 400_000 + index)), .data(Data(count: 64)), .text(zone.name),
                        ])
                }
            }
            func lengths(after number: Int) async throws -> [Int] {
                let wanted = Sealkit_V1_RosterRequest.with {
                    $0.zone = zone.id(for: anna)
                    $0.after = zone.roster.sequence
                    $0.head = Data(hash(number))
                }
                return try await anna.client.call(
                    anna.path("rosters/fetch"), Sealkit_V1_FetchRostersRequest.with { $0.rosters = [wanted] },
                    as: Sealkit_V1_FetchRostersResponse.self
                ).rosters[0].abandoned.map(\.entry.count)
            }
            #expect(try await lengths(after: 1) == [400_001, 400_002])
            #expect(try await lengths(after: 3) == [400_003, 400_004])
            #expect(try await lengths(after: 5) == [400_005])
        }
        AttackOutcome.held("a mebibyte at a time")
    }

    @Test func aLongRosterComesInPages() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            // Given back as a restored server gets them: the quickest way to many entries.
            var entries: [Sealkit_V1_SignedEntry] = []
            for _ in 0..<1_100 {
                let draft = try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))])
                try zone.roster.append(draft.entry)
                entries.append(draft.entry.wire)
            }
            for start in stride(from: 0, to: entries.count, by: 500) {
                let part = Array(entries[start..<min(start + 500, entries.count)])
                let request = Sealkit_V1_RestoreRosterRequest.with {
                    $0.zone = .with { $0.zoneName = "notes" }
                    $0.entries = part
                }
                _ = try await anna.client.call(
                    anna.path("rosters/restore"), request, as: Sealkit_V1_RestoreRosterResponse.self)
            }
            let first = try await anna.fetchRoster(zone)
            #expect(first.entries.count == 1_000)
            #expect(first.moreComing)
            #expect(first.grants.isEmpty)
            #expect(first.headSequence == 1_101)
            let second = try await anna.fetchRoster(zone, after: 999)
            #expect(second.entries.count == 102)
            #expect(!second.moreComing)
            #expect(second.grants.count == 1)
            #expect(!second.moreGrants)
            let all = try Roster(
                replaying: (first.entries + second.entries).map { SignedRosterEntry($0) }, scope: zone.roster.scope)
            #expect(all?.head == zone.roster.head)
            // And to whoever has a URL.
            let invitation = try anna.invitation(to: bert, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            let start = try await bert.metadata(invitation.routingID)
            #expect(start.entries.count == 1_000)
            #expect(start.moreComing)
            #expect(start.invitationID.isEmpty)
            let request = Sealkit_V1_ShareMetadataRequest.with {
                $0.routingID = Data(invitation.routingID)
                $0.firstSequence = 1_000
            }
            let end = try await bert.client.call(
                "/1/share/metadata", request, as: Sealkit_V1_ShareMetadataResponse.self)
            #expect(end.entries.count == 103)
            #expect(!end.moreComing)
            #expect(end.invitationID == Data(invitation.keys.id.bytes))

            // Grants of many epochs: the newest first, then those before.
            let shared = zone
            try await server.services.database.write(at: .everything) { connection in
                let row = try connection.first("SELECT owner, zone FROM zone WHERE name = 'notes'") {
                    [try $0.int64("owner"), try $0.int64("zone")]
                }
                for epoch in 1...3_000 {
                    try connection.execute(
                        "INSERT INTO epoch_grant (owner, zone, share, kind, subject, epoch, sealed) VALUES ($1, $2, 0, $3, $4, $5, $6)",
                        (row ?? []).map { .integer($0) } + [
                            .integer(Int64(GrantSubject.member(shared.owner).kind)), .blob(shared.owner.id.bytes),
                            .integer(Int64(epoch)),
                            .blob([UInt8](repeating: 1, count: 1_200)),
                        ])
                }
            }
            var (epochs, before) = ([UInt32](), UInt32(0))
            var pages = 0
            while true {
                let wanted = Sealkit_V1_RosterRequest.with {
                    $0.zone = shared.id(for: anna)
                    $0.after = shared.roster.sequence
                    $0.grantsBefore = before
                }
                let answer = try await anna.client.call(
                    anna.path("rosters/fetch"), Sealkit_V1_FetchRostersRequest.with { $0.rosters = [wanted] },
                    as: Sealkit_V1_FetchRostersResponse.self)
                let page = answer.rosters[0]
                let size = try page.serializedData().count
                #expect(size < 1_200_000)
                #expect(page.grants.map(\.epoch) == page.grants.map(\.epoch).sorted())
                epochs = page.grants.map(\.epoch) + epochs
                pages += 1
                guard page.moreGrants, let oldest = page.grants.first?.epoch else { break }
                before = oldest
            }
            #expect(pages == 4)
            #expect(epochs == Array(0...3_000))
        }
    }
}
