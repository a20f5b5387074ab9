import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What may be stored, and what is said about it.
@Suite(.timeLimit(.minutes(60))) struct QuotaTests {
    private func limits(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
        var limits = ServerLimits()
        change(&limits)
        return limits
    }

    private func usage(_ person: Person) async throws -> Sealkit_V1_StorageUsageResponse {
        try await person.client.call("/1/accounts/usage", nil, as: Sealkit_V1_StorageUsageResponse.self)
    }

    /// The sums are what counting again gives.
    private func checkSums(_ server: RunningServer) async throws {
        #expect(try await server.services.database.read { try StorageUsage.hasDrifted(in: $0) } == false)
    }

    private func data(_ name: String, _ count: Int, after saved: SavedRecord? = nil) -> Write {
        var write = saved.map { Write(after: $0, nil) } ?? Write(name, nil)
        write.fields = [("bytes", .plain(.data([UInt8](repeating: 7, count: count))))]
        return write
    }

    /// What the rows of a table count together.
    private func billed(_ table: String, _ server: RunningServer) async throws -> Int64 {
        let rule = try #require(BilledTable.all.first { $0.name == table }).billing
        return try await server.services.database.read { connection in
            let lengths =
                rule.values.map { "COALESCE(LENGTH(\($0)), 0)" }
                + (rule.amounts.isEmpty ? [] : ["COALESCE(\(rule.amounts.joined(separator: ", ")))"])
            return try connection.first(
                "SELECT CAST(COALESCE(SUM(\((["\(rule.overhead)"] + lengths).joined(separator: " + "))), 0) AS BIGINT) AS bytes FROM \(table)"
            ) {
                try $0.int64("bytes")
            } ?? 0
        }
    }

    /// What a record of `data(_:_:)` counts.
    private func size(_ count: Int, _ server: RunningServer) async throws -> Int64 {
        let stored = try await server.services.database.read { connection in
            try connection.rows("SELECT LENGTH(fields) AS bytes FROM record WHERE deleted = 0") {
                try $0.int64("bytes")
            }
        }
        return (stored.first { $0 >= Int64(count) && $0 < Int64(count) + 100 } ?? 0) + Billing.recordOverhead
    }

    @Test func whatIsStoredIsCountedAsItIsStored() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let fresh = try await usage(anna)
            // Its login key, device and identity.
            #expect(fresh.records == 0)
            #expect(fresh.bytes > 1_500)
            #expect(fresh.bytes < 5_000)
            #expect(fresh.containers.isEmpty)
            let zone = try await anna.makeZone()
            let other = try await anna.makeZone("other")
            func records() async throws -> Int64 { try await billed("record", server) }
            var saved = try await anna.save([data("a", 1_000), data("b", 2_000)], in: zone)
            _ = try await anna.save([data("c", 3_000)], in: other)
            let sizes = [try await size(1_000, server), try await size(2_000, server), try await size(3_000, server)]
            var now = try await usage(anna)
            #expect(now.records == 3)
            #expect(now.bytesLimit == 10 << 30)
            #expect(try await records() == sizes.reduce(0, +))
            #expect(now.bytes > 6_000 + 3 * 1_024)
            #expect(now.bytes < 30_000)
            #expect(now.containers.count == 1 && now.containers[0].container == TestClient.container)
            #expect(now.containers[0].environment == "development")
            #expect(now.containers[0].zones == 2)
            #expect(
                now.containers[0].records == 3 && now.containers[0].bytes < now.bytes && now.containers[0].bytes > 9_000
            )

            // Longer, deleted, and made again after a tombstone.
            saved[0] = try await anna.save([data("a", 5_000, after: saved[0])], in: zone)[0]
            now = try await usage(anna)
            let longer = try await size(5_000, server)
            #expect(now.records == 3)
            #expect(try await records() == sizes[1] + sizes[2] + longer)
            let tombstone = try await anna.save([Write(after: saved[0], kind: .delete)], in: zone)[0]
            now = try await usage(anna)
            #expect(now.records == 2)
            // Its tombstone stays.
            #expect(try await records() == sizes[1] + sizes[2] + Billing.recordOverhead)
            try await checkSums(server)
            var again = Write(after: tombstone, "again")
            again.tag = ""
            #expect(try await anna.codes([again], in: zone) == [nil])
            #expect(try await usage(anna).records == 3)
            // A save that is refused counts nothing.
            #expect(
                try await anna.codes([data("new", 10), data("b", 10)], in: zone) == [
                    .batchRequestFailed, .serverRecordChanged,
                ])
            #expect(try await usage(anna).records == 3)
            try await checkSums(server)

            // A zone takes all that it held along.
            guard case .deleted = try await anna.deleteZone(zone).outcome else { throw TestFailure("not deleted") }
            now = try await usage(anna)
            #expect(now.records == 1)
            #expect(now.containers[0].zones == 1)
            #expect(try await records() == sizes[2])
            try await checkSums(server)
            // Nobody else's business.
            #expect(
                try await refusal {
                    try await anna.client.call(
                        "/1/accounts/usage", nil, as: Sealkit_V1_StorageUsageResponse.self, token: "x")
                } == .sessionExpired)
        }
    }

    /// What is left in a share of records that leave it counts; as it may take them out of somebody's sight, up to
    /// twice the quota.
    @Test func recordsThatLeaveAShareAreBilledUpToTwiceTheQuota() async throws {
        let quota: Int64 = 100_000
        try await RunningServer.with(serverLimits: limits { $0.storageQuota = quota }) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let items = (0..<10).map { Write("i\($0)", nil, parent: "list") }
            let saved = try await anna.save([Write("list", nil)] + items, in: zone)
            let list = try SavedRecord(try await anna.lookup(["list"], in: zone).results[0].record)
            let (share, _, _) = try await anna.makeShare(of: list, in: zone)
            let inside = try await anna.save(
                saved.dropFirst().map { HierarchyTests.move($0, from: zone, to: share, parent: "list") })
            let none = [ErrorCode?](repeating: nil, count: 5)
            #expect(inside.map(\.result.code) == none + none)
            let room = quota - Int64(try await usage(anna).bytes)
            #expect(room > 10_000)
            #expect(try await anna.codes([data("full", Int(room) - 2_000)], in: zone) == [nil])
            func move(_ records: [SavedRecord], out: Bool) async throws -> [SavedRecord] {
                try await anna.save(
                    records.map {
                        HierarchyTests.move(
                            $0, from: out ? share : zone, to: out ? zone : share, parent: out ? nil : "list")
                    })
            }
            let left = try await move(Array(inside.prefix(5)), out: true)
            #expect(left.map(\.result.code) == none)
            #expect(Int64(try await usage(anna).bytes) > quota)
            let refused = try await refusal { _ = try await anna.codes([data("more", 1_000)], in: zone) }
            #expect(refused == .quotaExceeded)
            // As if there had been very many of them.
            try await server.services.database.write(at: .everything) {
                try $0.execute("UPDATE storage_usage SET bytes = bytes + $1 WHERE owner = 0", [.integer(quota)])
            }
            let further = try await refusal { _ = try await move(Array(inside.suffix(5)), out: true) }
            #expect(further == .quotaExceeded)
            // On their way back they take along what was left of them.
            #expect(try await move(left, out: false).map(\.result.code) == none)
        }
    }

    /// What an account has is no identity's: nothing is looked up for it.
    @Test(.withDatabaseFile) func whatAnAccountHasIsBilledWithoutALookUp() async throws {
        try await RunningServer.with { server in
            let read = try await server.services.database.write(at: .everything) { connection in
                let page = try connection.first("SELECT rootpage FROM sqlite_schema WHERE name = 'identity'") {
                    try $0.int64("rootpage")
                }
                return try BilledTable.all.filter { table in
                    try connection.rows("EXPLAIN DELETE FROM \(table.name)") {
                        (code: try $0.text("opcode"), page: try $0.int64("p2"))
                    }.contains { $0.code == "OpenRead" && $0.page == page }
                }.map(\.name)
            }
            // That of identities is read by whatever is done with it.
            let accounts =
                BilledTable.all.filter { $0.holder == "account" && $0.name != "identity" }.map(\.name) + ["server_key"]
            #expect(Set(read).isDisjoint(with: accounts), "\(read)")
            #expect(read.contains("record"), "\(read)")
        }
    }

    @Test func assetsCountWhileARecordHasThem() async throws {
        let assets = AssetTests()
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var made = try await anna.makeSharedZone()
            try await anna.share(&made, with: bert)
            let zone = made
            let (fresh, own) = (try await usage(anna).bytes, try await usage(bert).bytes)
            let first = try await assets.upload(bert, [UInt8](repeating: 1, count: 9_000), in: zone)
            // From its beginning on, to the zone's owner, though another has sent it.
            let announced = try await usage(anna).bytes
            #expect(announced == fresh + 9_000 + UInt64(Billing.rowOverhead))
            let saved = try await bert.save([try assets.write("x", blob: first)], in: zone)[0]
            #expect(saved.result.code == nil)
            let before = try await usage(anna)
            #expect(before.records == 1)
            #expect(before.bytes > announced)
            #expect(before.bytes < announced + 3_000)
            // The answer that is kept for who has sent it.
            let kept = try await usage(bert).bytes
            #expect(kept > own)
            #expect(kept < own + 2_000)
            let blobs = try await billed("blob", server)
            #expect(blobs == 9_000 + Billing.rowOverhead)
            // Another asset in its place; the same one kept; then none.
            let second = try await assets.upload(anna, [UInt8](repeating: 1, count: 4_000), in: zone)
            let next = try await anna.save([try assets.write("x", blob: second, after: saved)], in: zone)[0]
            #expect(next.result.code == nil)
            #expect(try await billed("blob", server) == 4_000 + Billing.rowOverhead)
            let same = try await anna.save([try assets.write("x", blob: second, after: next)], in: zone)[0]
            #expect(try await billed("blob", server) == 4_000 + Billing.rowOverhead)
            try await checkSums(server)
            _ = try await anna.save([Write(after: same, kind: .delete)], in: zone)
            #expect(try await billed("blob", server) == 0)
            try await checkSums(server)
        }
    }

    @Test func storageHasALimitThatBindsWhatGrows() async throws {
        try await RunningServer.with(serverLimits: limits { $0.storageQuota = 60_000 }) { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var made = try await anna.makeSharedZone()
            try await anna.share(&made, with: bert)
            let zone = made
            let first = try await anna.save([data("a", 3_000), data("b", 3_000)], in: zone)
            let other = try await anna.makeZone("other")
            #expect(try await usage(anna).bytesLimit == 60_000)
            _ = try await anna.save([data("filler", 48_000 - Int(try await usage(anna).bytes))], in: zone)
            let used = Int64(try await usage(anna).bytes)
            let overhead = try await size(3_000, server) - 3_000
            // To the last byte.
            let room = Int(60_000 - used - overhead)
            do {
                _ = try await anna.save([data("c", room + 1)], in: zone)
                Issue.record("more than the quota was stored")
            } catch let refusal as Refusal {
                #expect(refusal.status == 413)
                #expect(refusal.code == .quotaExceeded)
                #expect(refusal.failure.reason.contains("60000 bytes"))
                #expect(refusal.failure.remedy.contains("Delete"))
            }
            #expect(try await anna.lookup(["c"], in: zone).results[0].code == .unknownItem)
            #expect(Int64(try await usage(anna).bytes) == used)
            let full = try await anna.save([data("c", room)], in: zone)
            #expect(full[0].result.code == nil)
            // And the answer of this save, which is kept for a day.
            let full60 = try await usage(anna).bytes
            #expect(full60 > 60_000)
            #expect(full60 < 61_000)
            // The owner pays, and has to act: a participant is told so, and no number.
            do {
                _ = try await bert.save([Write("d")], in: zone)
                Issue.record("a participant stored more than the owner's quota")
            } catch let refusal as Refusal {
                #expect(refusal.code == .quotaExceeded)
                #expect(refusal.failure.reason.contains("owner"))
                #expect(refusal.failure.remedy.contains("owner has to"))
                #expect(!refusal.failure.reason.contains("60000"))
            }
            // In whichever zone; but the participant's own zones are its own affair.
            #expect(try await refusal { try await anna.save([Write("e")], in: other) } == .quotaExceeded)
            let another = try await anna.modifyZones(saving: [("another", try anna.opening("another"))])[0]
            #expect(another.failure.errorCode == .quotaExceeded)
            let own = try await bert.makeZone("own")
            #expect(try await bert.codes([Write("e")], in: own) == [nil])
            // An upload that could not be attached does not begin.
            let assets = AssetTests()
            let upload = try await assets.send(
                anna, .PUT, Hex.encode(randomBytes(16)), in: zone, .bytes(ByteBuffer(repeating: 1, count: 100)))
            #expect(upload.code == .quotaExceeded)
            #expect(upload.status == 413)
            // What frees room, or takes none, goes through; then there is room again.
            #expect(try await anna.codes([data("a", 3_000, after: first[0])], in: zone) == [nil])
            #expect(try await anna.codes([Write(after: full[0], kind: .delete)], in: zone) == [nil])
            #expect(try await bert.codes([Write("d")], in: zone) == [nil])
            try await checkSums(server)
        }
    }

    /// An operator may set a quota below what somebody has: what frees room, or takes no more, goes through.
    @Test func whoIsOverALoweredQuotaCanMakeRoom() async throws {
        let (folder, clock) = (TemporaryFolder(), TestClock())
        let kept = Mutex<(anna: Person, bert: Person, zone: TestZone, other: TestZone, saved: [SavedRecord])?>(nil)
        try await RunningServer.with(folder: folder, clock: clock) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let made = try await anna.makeSharedZone()
            let other = try await anna.makeZone("other")
            let saved = try await anna.save([data("a", 9_000), data("b", 9_000), data("c", 9_000)], in: made)
            _ = try await anna.save([data("d", 9_000)], in: other)
            kept.withLock { $0 = (anna, bert, made, other, saved) }
        }
        let limits = limits { $0.storageQuota = 10_000 }
        try await RunningServer.with(folder: folder, clock: clock, serverLimits: limits) { server in
            let known = kept.withLock { $0 }
            var (anna, bert, zone, other, saved) = try #require(known)
            (anna.client.server, bert.client.server) = (server, server)
            let (owner, shared, before) = (anna, zone, try await usage(anna).bytes)
            #expect(before > 40_000)
            try await expectRefusal(.quotaExceeded) {
                try await owner.save([data("a", 9_001, after: saved[0])], in: shared)
            }
            try await expectRefusal(.quotaExceeded) { try await owner.save([Write("new")], in: shared) }
            // Nothing more than there was; then somebody else, who takes room.
            try await anna.updateLinks(zone)
            let invitation = try anna.invitation(to: bert, in: zone)
            let next = anna.appendRequest(
                try anna.next(on: zone, invitations: [invitation.draft]), to: zone, links: [invitation.link])
            try await expectRefusal(.quotaExceeded) { try await owner.send(next, to: shared) }
            #expect(try await usage(anna).bytes == before)
            #expect(try await anna.codes([data("a", 1_000, after: saved[0])], in: zone) == [nil])
            #expect(try await anna.codes([Write(after: saved[1], kind: .delete)], in: zone) == [nil])
            guard case .deleted = try await anna.deleteZone(other).outcome else { throw TestFailure("not deleted") }
            let after = try await usage(anna).bytes
            #expect(after < before - 24_000)
            #expect(after > 10_000)
            try await checkSums(server)
        }
    }

    @Test func zonesHaveARecordLimit() async throws {
        try await RunningServer.with(serverLimits: limits { $0.recordsPerZone = 3 }) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let saved = try await anna.save([Write("a"), Write("b")], in: zone)
            #expect(try await refusal { try await anna.save([Write("c"), Write("d")], in: zone) } == .quotaExceeded)
            #expect(try await anna.codes([Write("c")], in: zone) == [nil])
            #expect(try await refusal { try await anna.save([Write("d")], in: zone) } == .quotaExceeded)
            // Changing what is there is free; one that goes makes room in the same request.
            #expect(try await anna.codes([Write(after: saved[0])], in: zone) == [nil])
            #expect(try await anna.codes([Write(after: saved[1], kind: .delete), Write("d")], in: zone) == [nil, nil])
            let other = try await anna.makeZone("other")
            #expect(try await anna.codes([Write("a")], in: other) == [nil])
        }
    }

    @Test func usersHaveAZoneLimit() async throws {
        try await RunningServer.with(serverLimits: limits { $0.zonesPerUser = 2 }) { server in
            let anna = try await Person.ready(server)
            let first = try await anna.makeZone("a")
            _ = try await anna.makeZone("b")
            let refused = try await anna.modifyZones(saving: [("c", try anna.opening("c"))])
            guard case .failure(let failure) = refused[0].outcome else { throw TestFailure("a third zone") }
            #expect(failure.errorCode == .quotaExceeded)
            #expect(failure.reason.contains("2 zones"))
            #expect(!failure.remedy.isEmpty)
            // One that is there already is no new one; a closed one makes room, also for itself.
            guard case .zone = try await anna.modifyZones(saving: [("a", try anna.opening("a"))])[0].outcome else {
                throw TestFailure("its own zone")
            }
            _ = try await anna.deleteZone(first)
            guard case .zone = try await anna.modifyZones(saving: [("c", try anna.opening("c"))])[0].outcome else {
                throw TestFailure("no room after a deletion")
            }
        }
    }

    @Test func whatBelongsToNoAccountHasAQuotaOfItsOwn() async throws {
        var quotas = Quotas()
        (quotas.storage, quotas.publicStorage) = (10, 20)
        #expect(throws: ServerError.self) { try quotas.checkStorage(11, isPublic: false, isOwner: true) }
        try quotas.checkStorage(20, isPublic: true, isOwner: false)
        #expect { try quotas.checkStorage(21, isPublic: true, isOwner: false) } throws: { error in
            (error as? ServerError)?.reason.contains("public database") == true
        }
        try Quotas(limits { ($0.storageQuota, $0.publicStorageQuota) = (0, 0) }).checkStorage(
            .max, isPublic: true, isOwner: true)
    }

    @Test func sumsThatHaveDriftedAreCountedAgain() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([data("a", 1_000), data("b", 2_000)], in: zone)
            func total() async throws -> [Int64] {
                try await server.services.database.read { connection in
                    let account = try connection.first("SELECT id FROM account WHERE id > 0") { try $0.int64("id") }
                    return try StorageUsage.total(of: account ?? 0, in: connection).map { [$0.records, $0.bytes] } ?? []
                }
            }
            let right = try await total()
            #expect(right.first == 2)
            for damage in [
                "UPDATE storage_usage SET bytes = bytes + 1 WHERE owner = 0",
                "UPDATE storage_usage SET records = 7 WHERE owner <> 0",
                "DELETE FROM storage_usage",
            ] {
                try await server.services.database.write(at: .everything) { try $0.execute(damage) }
                let hasDrifted = try await server.services.database.read { try StorageUsage.hasDrifted(in: $0) }
                #expect(hasDrifted)
                try await server.services.jobs.run(.recount)
                try await checkSums(server)
                #expect(try await total() == right)
            }
        }
    }
}
