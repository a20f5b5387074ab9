import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// Branches of a roster that have come of a restored server.
extension RestoredServerTests {
    @Test func theOwnerEndsAForkWithAnOpening() async throws {
        try await restored {
            try await Self.shared($0)
        } lost: { server, kept in
            let anna = kept.anna.at(server)
            var zone = kept.zone
            for _ in 0..<3 { try await anna.append(try anna.next(on: zone, rotating: true), to: &zone) }
            return (zone, try await anna.fetchRoster(zone).entries)
        } after: { server, kept, lost in
            let (anna, bert) = (kept.anna.at(server), kept.bert.at(server))
            var zone = kept.zone
            _ = try await anna.save([Write("kept")], in: zone)
            try await anna.append(
                try anna.next(on: zone, [.setPermission(bert.user, .readOnly)], rotating: true), to: &zone)
            let branch = Array(lost.1.dropFirst(Int(kept.zone.roster.nextSequence)))
            let given = { (person: Person, entries: [Sealkit_V1_SignedEntry], abandoned: [Sealkit_V1_SignedEntry]) in
                Sealkit_V1_RestoreRosterRequest.with {
                    $0.zone = zone.id(for: person)
                    $0.entries = entries
                    $0.abandoned = abandoned
                }
            }
            // The branches have parted: neither is the other's tail.
            let forked = try await refusal { try await bert.restore(given(bert, branch, [])) }
            #expect(forked == .rosterChanged)
            var random = SystemRandom()
            let lives = Incarnations(zone: 2, scope: 2)
            let head = RosterChange.AbandonedHead(sequence: lost.0.roster.sequence, hash: lost.0.roster.head)
            let open = try anna.author.open(
                zone.roster.scope, following: zone.roster, encryptionScope: .perRecord, incarnations: lives,
                abandoned: head,
                identity: anna.chain, time: 9, random: &random)
            // A branch that is another one, or has a gap before it, is not kept beside it.
            for wrong in [Array(branch.dropFirst()), Array(branch.dropLast())] {
                let refused = try await refusal { try await anna.restore(given(anna, [open.entry.wire], wrong)) }
                #expect(refused == .invalidArguments)
            }
            #expect(try await anna.changes(in: zone).records.count == 1)
            var request = given(anna, [open.entry.wire], branch)
            request.grants = open.grants.map(\.wire)
            _ = try await anna.restore(request)
            try zone.roster.append(open.entry)
            #expect(try await anna.fetchRoster(zone).grants.count == 1)
            #expect(try await anna.changes(in: zone).records.isEmpty)
            // Its members are out, and read the log up to there; whoever has a part of the other branch is given the
            // rest.
            #expect(try await bert.zones(shared: true).isEmpty)
            var wanted = Sealkit_V1_RosterRequest()
            wanted.zone = zone.id(for: anna)
            wanted.after = kept.zone.roster.sequence + 1
            wanted.head = Data(lost.0.roster.hashes[Int(kept.zone.roster.sequence) + 1].bytes)
            let fetch = Sealkit_V1_FetchRostersRequest.with { $0.rosters = [wanted] }
            let tail = try await anna.client.call(
                anna.path("rosters/fetch"), fetch, as: Sealkit_V1_FetchRostersResponse.self
            ).rosters[0]
            #expect(tail.abandoned.map(\.entry) == branch.dropFirst().map(\.entry))
        }
    }
}
