import Foundation
import SealEnvelope
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A full disk as clients meet it. The database's file is kept from growing instead of filling a real disk: SQLite
/// tells both alike.
@Suite(.withDatabaseFile, .timeLimit(.minutes(60))) struct FullDiskTests {
    private func large(_ name: String) -> Write {
        var write = Write(name, nil)
        write.fields = [("bytes", .plain(.data([UInt8](repeating: 7, count: 80_000))))]
        return write
    }

    private func pages(of database: SQLiteDatabase) async throws -> Int {
        try #require(try await database.writerPragma("page_count").flatMap { Int($0) })
    }

    @Test func aFullDiskIsToldLeavesNothingHalfWrittenAndPasses() async throws {
        try await RunningServer.with(runsTwice: false) { server in
            let database = try #require(server.services.database as? SQLiteDatabase)
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let first = try await anna.save([Write("kept"), Write("deleted")], in: zone)
            let before = try await anna.changes(in: zone)
            let pages = try await pages(of: database)
            try await database.limitPages(to: pages + 20)

            // A save that needs more than there is: refused as a whole, atomic or not.
            for atomic in [true, false] {
                let writes =
                    [Write(after: first[0]), Write(after: first[1], kind: .delete)] + (0..<20).map { large("r\($0)") }
                let (request, _) = try anna.request(writes, in: zone, atomic: atomic)
                for _ in 0..<2 {
                    do {
                        _ = try await anna.send(request, to: zone)
                        Issue.record("the disk was not full")
                    } catch let refusal as Refusal {
                        #expect(refusal.status == 507)
                        #expect(refusal.code == .storageFull)
                        #expect(refusal.failure.retryAfter > 0)
                        #expect(!refusal.failure.remedy.isEmpty)
                    }
                }
            }
            // Small ones in the same moment are answered for themselves: stored, or refused and not stored.
            let outcomes = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
                for index in 0..<12 {
                    group.addTask {
                        let name = "s\(index)"
                        let write = index % 3 == 0 ? Write(name) : large(name)
                        let code = try await refusal { try await anna.save([write], in: zone) }
                        #expect(code == nil || code == .storageFull)
                        return (name, code == nil)
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(outcomes.values.contains(false))
            let stored = Set(outcomes.filter(\.value).keys)

            // Reads go on, and show what was acknowledged and nothing else.
            let page = try await anna.changes(in: zone)
            #expect(Set(page.records.map(\.recordName)) == stored.union(["kept", "deleted"]))
            for record in page.records { _ = try anna.open(record, in: zone) }
            #expect(try await anna.changes(in: zone, since: before.token).records.count == stored.count)
            #expect(try await anna.lookup(["kept", "r0"], in: zone).results.map(\.code) == [nil, .unknownItem])
            #expect(try await anna.fetchRoster(zone).entries.count == 1)
            // Places in the feed are given to what is stored only.
            let position = try await database.read {
                try $0.first("SELECT position FROM zone") { try $0.int64("position") }
            }
            let last = try #require(before.records.map(\.position).max())
            #expect(position == Int64(last) + Int64(stored.count))
            let check = try await database.read {
                try $0.first("PRAGMA integrity_check") { try $0.text("integrity_check") }
            }
            #expect(check == "ok")

            // Room again: the same operation goes through, once.
            try await database.limitPages(to: 1_000_000)
            let (request, _) = try anna.request([Write(after: first[0])] + (0..<20).map { large("r\($0)") }, in: zone)
            let answer = try await anna.send(request, to: zone)
            #expect(answer.map(\.code) == Array(repeating: nil, count: 21))
            #expect(try await anna.send(request, to: zone) == answer)
            #expect(try await anna.changes(in: zone).records.count == stored.count + 22)
        }
    }

    @Test func deletingMakesRoom() async throws {
        try await RunningServer.with(runsTwice: false) { server in
            let database = try #require(server.services.database as? SQLiteDatabase)
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let other = try await anna.makeZone("other")
            _ = try await anna.save((0..<10).map { large("r\($0)") }, in: other)
            let pages = try await pages(of: database)
            try await database.limitPages(to: pages + 4)
            let (request, _) = try anna.request((0..<6).map { large("n\($0)") }, in: zone)
            try await expectRefusal(.storageFull) { try await anna.send(request, to: zone) }
            #expect(try await anna.deleteZone(other).deleted)
            #expect(try await anna.send(request, to: zone).map(\.code) == Array(repeating: nil, count: 6))
            #expect(try await anna.lookup(["n0", "n5"], in: zone).results.map(\.code) == [nil, nil])
        }
    }
}
