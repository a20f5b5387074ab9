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

/// What giving entries back is not good for.
extension RestoredServerTests {
    @Test func strangersAreToldOfNoScopeWhateverTheySend() async throws {
        try await RunningServer.with { server in
            let (anna, stranger) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            let root = try await anna.save([Write("root")], in: zone)[0]
            let share = try await anna.makeShare(of: root, in: zone).share
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            // Of the stranger's own making, and what somebody who was in may have handed over.
            var own = try await stranger.makeZone("own")
            for _ in 0..<6 { try await stranger.append(try stranger.next(on: own, rotating: true), to: &own) }
            let made = try await stranger.fetchRoster(own).entries
            let real = try await anna.fetchRoster(zone).entries
            let ofShare = share.roster
            let offers: [[Sealkit_V1_SignedEntry]] = [
                [made[0]], made, Array(made.dropFirst()), [made[6]], real, Array(real.dropFirst()), [real[0]],
                real + [made[real.count]],
                [real[0], made[1]],
            ]
            func told(_ zoneName: String, _ share: String, _ entries: [Sealkit_V1_SignedEntry]) async throws
                -> Sealkit_V1_Failure?
            {
                var request = Sealkit_V1_RestoreRosterRequest()
                (request.zone.zoneName, request.zone.ownerName, request.shareRecordName) = (zoneName, anna.name, share)
                request.entries = entries
                do {
                    try await stranger.restore(request)
                    return nil
                } catch let refusal as Refusal {
                    return refusal.failure
                }
            }
            let nowhere = try await told("elsewhere", "", made)
            #expect(nowhere?.errorCode == .zoneNotFound)
            for (index, entries) in offers.enumerated() {
                for (zoneName, name) in [
                    (zone.name, ""), (zone.name, ofShare.scope.shareRecordName), (zone.name, "nothing"),
                    ("elsewhere", "nothing"),
                ] {
                    let answer = try await told(zoneName, name, entries)
                    #expect(answer == nowhere, "\(zoneName) \(name) \(index)")
                }
            }
            // Somebody in one share of the zone is told of no other one, nor of the zone's own roster.
            var open = share
            let invitation = try await anna.share(&open, with: stranger)
            #expect(!invitation.link.routingID.isEmpty)
            let other = try await anna.save([Write("other")], in: zone)[0]
            let second = try await anna.makeShare(of: other, "second", in: zone).share
            for entries in offers {
                let (there, not) = (
                    try await told(zone.name, "second", entries), try await told(zone.name, "nothing", entries)
                )
                #expect(there == not)
                #expect(there?.errorCode == .unknownItem)
                let zoneItself = try await told(zone.name, "", entries)
                #expect(zoneItself == nowhere)
            }
            #expect(second.roster.sequence == 1)
        }
    }

    @Test func epochsThatWereNeverThereCountWhoeverBringsThem() async throws {
        var limits = AbuseLimits()
        limits.epochOpening = RateLimiter.Rule(count: 3, window: 3_600_000_000)
        try await RunningServer.with(limits: limits) { server in
            let (anna, bert, carl) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            var zone = try await anna.makeSharedZone()
            for person in [bert, carl] { try await anna.share(&zone, with: person) }
            try await anna.append(try anna.next(on: zone, [.setRole(bert.user, .administrator)]), to: &zone)
            // Bert signs more epochs than he may open in an hour, and sends none.
            var entries: [Sealkit_V1_SignedEntry] = []
            var ahead = zone
            for _ in 0..<6 {
                let draft = try bert.next(on: ahead, rotating: true)
                try ahead.roster.append(draft.entry)
                if let key = draft.epochKey { ahead.key = key }
                entries.append(draft.entry.wire)
            }
            func give(_ range: Range<Int>, by person: Person) async throws -> ErrorCode? {
                let request = Sealkit_V1_RestoreRosterRequest.with {
                    $0.zone = zone.id(for: person)
                    $0.entries = Array(entries[range])
                }
                return try await refusal { try await person.restore(request) }
            }
            let before = zone.roster.sequence
            for person in [bert, carl] { #expect(try await give(0..<6, by: person) == .limitExceeded) }
            #expect(try await anna.fetchRoster(zone).headSequence == before)
            #expect(try await give(0..<2, by: carl) == nil)
            #expect(try await give(2..<4, by: bert) == .requestRateLimited)
            #expect(try await give(2..<3, by: bert) == nil)
            // All of it together with what is sent as it is opened.
            for person in [bert, carl] { #expect(try await give(3..<4, by: person) == .requestRateLimited) }
            #expect(try await anna.fetchRoster(zone).headSequence == before + 3)
            #expect(try await give(3..<6, by: anna) == nil)
            #expect(try await anna.fetchRoster(zone).headSequence == before + 6)
        }
    }
}
