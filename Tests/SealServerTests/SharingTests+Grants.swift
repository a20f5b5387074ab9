import Foundation
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

extension SharingTests {
    private struct Row: Equatable {
        let kind: Int64
        let subject: [UInt8]
        let epoch: Int64
    }

    private func grants(_ server: RunningServer) async throws -> [Row] {
        try await server.services.database.read { connection in
            try connection.rows("SELECT kind, subject, epoch FROM epoch_grant ORDER BY kind, subject, epoch") {
                Row(kind: try $0.int64("kind"), subject: try $0.bytes("subject"), epoch: try $0.int64("epoch"))
            }
        }
    }

    private func epochs(of person: Person, _ server: RunningServer) async throws -> [Int64] {
        try await grants(server).filter { $0.kind == 1 && $0.subject == person.user.id.bytes }.map(\.epoch)
    }

    /// Somebody comes and leaves: now any member who may write opens an epoch.
    private func makeRotationDue(_ zone: inout TestZone, of owner: Person, _ server: RunningServer) async throws {
        let guest = try await Person.ready(server)
        try await owner.share(&zone, with: guest)
        try await guest.append(guest.author.plain(.leave, on: zone.roster, time: 5), to: &zone)
    }

    @Test func membersKeepTheGrantsOfAllEpochs() async throws {
        try await withTwo { anna, bert, made, server in
            var zone = made
            let placeholder = try anna.invitation(to: nil, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [placeholder.draft]), to: &zone, links: [placeholder.link],
                addresses: [(placeholder.keys.id, "carl@example.org")])
            try await anna.share(&zone, with: bert)
            for _ in 0..<2 {
                try await makeRotationDue(&zone, of: anna, server)
                try await bert.append(try bert.next(on: zone, rotating: true), to: &zone)
            }
            // A participant's epochs take nothing away: each grant still opens its own epoch.
            for person in [anna, bert] {
                let sent = try await person.fetchRoster(zone).grants
                #expect(sent.map(\.epoch) == [0, 1, 2])
                for (grant, epoch) in zip(sent, zone.roster.epochs) {
                    #expect(grant.subject == Data(person.user.id.bytes))
                    _ = try Grants<XWingHPKE>.open(
                        [UInt8](grant.sealed), epoch: epoch, as: person.user, keys: person.keys)
                }
            }
            #expect(try await anna.fetchRoster(zone, after: zone.roster.sequence).grants.count == 3)
            // An invitation has its newest only.
            #expect(
                try await grants(server).filter { $0.kind == 2 } == [
                    Row(kind: 2, subject: placeholder.keys.id.bytes, epoch: 2)
                ])
            // The removed lose all of theirs, and get none of the past ones back when they return.
            try await anna.remove(bert, from: &zone)
            #expect(try await epochs(of: bert, server).isEmpty)
            #expect(try await epochs(of: anna, server) == [0, 1, 2, 3])
            try await anna.share(&zone, with: bert)
            #expect(try await bert.fetchRoster(zone).grants.map(\.epoch) == [3])
            // So do those who leave, and revoked invitations.
            try await bert.append(bert.author.plain(.leave, on: zone.roster, time: 5), to: &zone)
            #expect(try await epochs(of: bert, server).isEmpty)
            try await anna.append(try anna.next(on: zone, [.revoke(placeholder.keys.id)], rotating: true), to: &zone)
            #expect(try await grants(server).allSatisfy { $0.kind == 1 && $0.subject == anna.user.id.bytes })
            // A closed zone has none.
            #expect(try await anna.deleteZone(zone).deleted)
            #expect(try await grants(server).isEmpty)
        }
    }

    @Test func aRosterIsAskedForOnce() async throws {
        try await withTwo { anna, _, zone, _ in
            func code(_ zones: [(String, String)]) async throws -> ErrorCode? {
                let request = Sealkit_V1_FetchRostersRequest.with { request in
                    request.rosters = zones.map { zone in
                        .with {
                            $0.zone.zoneName = zone.0
                            $0.zone.ownerName = zone.1
                            $0.fromStart = true
                        }
                    }
                }
                return try await refusal {
                    try await anna.client.call(
                        anna.path("rosters/fetch"), request, as: Sealkit_V1_FetchRostersResponse.self)
                }
            }
            let distinct = try await code([("notes", ""), ("other", "")])
            #expect(distinct == nil)
            #expect(try await code([("notes", ""), ("notes", "")]) == .invalidArguments)
            #expect(try await code([("notes", ""), ("notes", anna.name)]) == .invalidArguments)
            #expect(try await code((0..<101).map { ("z\($0)", "") }) == .limitExceeded)
        }
    }

    @Test func participantsOpenSoManyEpochsAnHour() async throws {
        var limits = AbuseLimits()
        limits.epochOpening = RateLimiter.Rule(count: 2, window: 3_600_000_000)
        try await RunningServer.with(limits: limits) { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            try await makeRotationDue(&zone, of: anna, server)
            let old = zone
            try await bert.append(try bert.next(on: zone, rotating: true), to: &zone)
            // A lost race does not count, nor does a repeated operation.
            #expect(
                try await refusal {
                    try await bert.send(bert.appendRequest(bert.next(on: old, rotating: true), to: old), to: old)
                }
                    == .rosterChanged)
            try await makeRotationDue(&zone, of: anna, server)
            let draft = try bert.next(on: zone, rotating: true)
            let request = bert.appendRequest(draft, to: zone)
            let answer = try await bert.send(request, to: zone)
            #expect(try await bert.send(request, to: zone) == answer)
            try zone.roster.append(draft.entry)
            zone.key = try #require(draft.epochKey)

            try await makeRotationDue(&zone, of: anna, server)
            let now = zone
            do {
                _ = try await bert.send(bert.appendRequest(bert.next(on: now, rotating: true), to: now), to: now)
                Issue.record("a third epoch was opened")
            } catch let refusal as Refusal {
                #expect(refusal.code == .requestRateLimited)
                #expect(refusal.failure.retryAfter == 1_800)
            }
            #expect(try await anna.fetchRoster(zone).entries.count == Int(zone.roster.sequence) + 1)
            #expect(try await epochs(of: bert, server) == [0, 1, 2])
            // The owner is counted by itself, and only where nobody is put out; other zones have their own count.
            for _ in 0..<2 { try await anna.append(try anna.next(on: zone, rotating: true), to: &zone) }
            let full = zone
            #expect(
                try await refusal {
                    try await anna.send(anna.appendRequest(anna.next(on: full, rotating: true), to: full), to: full)
                }
                    == .requestRateLimited)
            var other = try await anna.makeSharedZone("other")
            try await anna.share(&other, with: bert)
            try await makeRotationDue(&other, of: anna, server)
            try await bert.append(try bert.next(on: other, rotating: true), to: &other)
            server.clock.advance(seconds: 3_600)
            try await makeRotationDue(&zone, of: anna, server)
            try await bert.append(try bert.next(on: zone, rotating: true), to: &zone)
        }
    }
}
