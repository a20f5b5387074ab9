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

/// That everything that is stored is billed, and that whoever is over the limit can still take something away.
@Suite(.timeLimit(.minutes(60))) struct BillingTests {
    private func bytes(_ person: Person) async throws -> Int64 {
        Int64(try await person.client.call("/1/accounts/usage", nil, as: Sealkit_V1_StorageUsageResponse.self).bytes)
    }

    private func checkSums(_ server: RunningServer, line: Int = #line) async throws {
        let hasDrifted = try await server.services.database.read { try StorageUsage.hasDrifted(in: $0) }
        #expect(!hasDrifted, "line \(line)")
    }

    private func limits(storage: Int64) -> ServerLimits {
        var limits = ServerLimits()
        limits.storageQuota = storage
        return limits
    }

    /// The operator's list of all containers' tokens, too, has an end.
    @Test func managementTokensAreListedInPages() async throws {
        try await RunningServer.with { server in
            let management = try Management(server)
            try await server.services.database.write(at: .everything) { connection in
                for index in 0..<1_050 {
                    try connection.execute(
                        "INSERT INTO management_token (container, id, name, token_hash, created) VALUES ($1, $2, 'n', $3, $4)",
                        [
                            .text("org.example.c\(index % 20)"), .text(Hex.encode(ServerBytes.of(Int64(index)))),
                            .blob(ServerBytes.of(Int64(index))),
                            .integer(Int64(index % 7)),
                        ])
                }
            }
            var (ids, request, pages) = (Set<String>(), Sealkit_V1_ListManagementTokensRequest(), 0)
            while true {
                let answer = try await management.client.call(
                    "/1/management-tokens/list", request, as: Sealkit_V1_ListManagementTokensResponse.self,
                    token: management.token)
                #expect(answer.tokens.count <= 1_000)
                for token in answer.tokens { #expect(ids.insert(token.id).inserted) }
                pages += 1
                guard answer.moreComing, let last = answer.tokens.last else { break }
                request.after = last
            }
            #expect(ids.count == 1_050)
            #expect(pages == 2)
        }
    }

    @Test func eachThingThatIsKeptCounts() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var last = try await bytes(anna)
            /// At least so much more than before.
            func grows(by least: Int64, line: Int = #line) async throws {
                let now = try await bytes(anna)
                #expect(now >= last + least, "line \(line): \(now - last)")
                last = now
                try await checkSums(server, line: line)
            }
            var zone = try await anna.makeSharedZone()
            try await grows(by: 3_000)
            // Tombstones: made and deleted, and the answers to both.
            let saved = try await anna.save((0..<50).map { Write("r\($0)") }, in: zone)
            try await grows(by: 50 * 1_024)
            _ = try await anna.save(saved.map { Write(after: $0, kind: .delete) }, in: zone)
            let deleted = try await bytes(anna)
            #expect(deleted > last - 50 * 200)
            last = deleted
            try await checkSums(server)
            // Roster entries, grants, links with their previews.
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            try await grows(by: 1_500)
            var invitation = try anna.invitation(to: bert, in: zone)
            invitation.link.preview = Data(count: 40_000)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            try await grows(by: 40_000)
            // What others write is its owner's.
            try await bert.accept(invitation, in: &zone)
            // The member's grant takes the place of the invitation's.
            try await grows(by: 600)
            _ = try await bert.save([Write("by bert")], in: zone)
            try await grows(by: 1_024)
            // Of a user and an account.
            var subscription = Sealkit_V1_Subscription.database("long")
            subscription.notificationInfo.alertBody = String(repeating: "x", count: 1_500)
            try await anna.subscribe(subscription)
            try await grows(by: 2_000)
            _ = try await anna.client.onAnotherDevice().login()
            try await grows(by: 512)
            let bundle = Sealkit_V1_RecoveryBundle.with {
                $0.recoveryID = Data(randomBytes(16))
                $0.sealed = Data(count: 9_000)
            }
            _ = try await anna.client.call("/1/accounts/recovery", bundle, as: Sealkit_V1_AccountResponse.self)
            try await grows(by: 9_000)
            // A zone that is gone leaves its roster.
            let before = zone
            #expect(try await anna.deleteZone(zone).deleted)
            let gone = try await bytes(anna)
            #expect(gone < last)
            #expect(gone > 8 * 700)
            try await checkSums(server)
            // Kept answers go after a day.
            server.clock.advance(seconds: 2 * 86_400)
            try await server.sweep(now: server.clock.now)
            #expect(try await bytes(anna) < gone - 8 * 512)
            try await checkSums(server)
            // And with an account its sums, but for the roster that somebody else has seen.
            _ = try await AccountDeletionTests().delete(anna.client)
            try await checkSums(server)
            try await AccountDeletionTests().waitUntilErased(server)
            try await checkSums(server)
            #expect(try await bert.fetchRoster(before).entries.count > 5)
        }
    }

    @Test("An account that is full stores more of any kind: refused, but for what takes something away.")
    func attack88_aFullAccount() async throws {
        try await RunningServer.with(serverLimits: limits(storage: 60_000)) { server in
            let anna = try await Person.ready(server)
            let (bert, carl) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            try await anna.share(&zone, with: carl)
            let open = try anna.invitation(to: nil, in: zone)
            try await anna.append(try anna.next(on: zone, invitations: [open.draft]), to: &zone, links: [open.link])
            let small = try await anna.save([Write("small")], in: zone)[0]
            var filler = Write("filler", nil)
            filler.fields = [
                ("bytes", .plain(.data([UInt8](repeating: 7, count: 58_700 - Int(try await bytes(anna))))))
            ]
            let full = try await anna.save([filler], in: zone)[0]
            #expect(full.result.code == nil)
            while true {
                let made = zone
                let code = try await refusal {
                    var next = made
                    let one = try anna.invitation(to: nil, in: next)
                    try await anna.append(
                        try anna.next(on: next, invitations: [one.draft]), to: &next, links: [one.link])
                }
                if code == .quotaExceeded { break }
                #expect(code == nil)
                let tail = try await anna.fetchRoster(zone, after: zone.roster.sequence)
                for entry in tail.entries { try zone.roster.append(SignedRosterEntry(entry)) }
            }
            let now = zone
            // Nothing more of whatever kind.
            let added = try await refusal { try await anna.save([Write("new")], in: now) }
            #expect(added == .quotaExceeded)
            #expect(
                try await anna.modifyZones(saving: [("more", try anna.opening("more"))])[0].failure.errorCode
                    == .quotaExceeded)
            var long = open.link
            long.preview = Data(count: 3_000)
            let update = Sealkit_V1_UpdateLinksRequest.with {
                $0.zone = now.id(for: anna)
                $0.links = [long]
            }
            let lengthened = try await refusal {
                try await anna.client.call(anna.path("links/update"), update, as: Sealkit_V1_UpdateLinksResponse.self)
            }
            #expect(lengthened == .quotaExceeded)
            // A rotation, a removal, an invitation taken back, a right lowered, and leaving.
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            try await anna.append(
                try anna.next(on: zone, [.setPermission(carl.user, .readOnly)], rotating: true), to: &zone)
            try await anna.append(try anna.next(on: zone, [.revoke(open.keys.id)], rotating: true), to: &zone)
            try await anna.remove(bert, from: &zone)
            try await carl.append(carl.author.plain(.leave, on: zone.roster, time: 5), to: &zone)
            // What was given by it is not: the entry is refused as a whole.
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            let shared = zone
            let mixed = try await refusal {
                var next = shared
                let again = try anna.invitation(to: bert, in: next)
                try await anna.append(
                    try anna.next(on: next, [.block(carl.user)], invitations: [again.draft], rotating: true), to: &next,
                    links: [again.link])
            }
            #expect(mixed == .quotaExceeded)
            AttackOutcome.refused("quotaExceeded")
            #expect(try await anna.codes([Write(after: small, kind: .delete)], in: zone) == [nil])
            try await checkSums(server)
            #expect(try await anna.deleteZone(zone).deleted)
            try await checkSums(server)
            _ = try await AccountDeletionTests().delete(anna.client)
            try await checkSums(server)
        }
    }
}
