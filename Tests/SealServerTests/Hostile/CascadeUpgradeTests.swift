import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealServer

/// References with `deleteSelf` that were stored before the server kept an index of them.
@Suite struct CascadeUpgradeTests {
    @Test func oldReferencesTakeTheirRecordsAlong() async throws {
        let folder = TemporaryFolder()
        let state = Mutex<(anna: Person, zone: TestZone, list: SavedRecord)?>(nil)
        let items = (0..<600).map { "item\($0)" }
        try await RunningServer.with(folder: folder) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let list = try await anna.save([Write("list")], in: zone)[0]
            for half in [items.prefix(300), items.suffix(300)] {
                _ = try await anna.save(half.map { Write($0).going(with: "list") }, in: zone)
            }
            _ = try await anna.save([Write("detail").going(with: "item7", "other"), Write("alone")], in: zone)
            let gone = try await anna.save([Write("gone").going(with: "list")], in: zone)[0]
            _ = try await anna.save([Write(after: gone, kind: .delete)], in: zone)
            // As a server left it that knew of no such thing.
            try await server.services.database.write { connection in
                try connection.execute("DELETE FROM delete_reference")
                try connection.execute("UPDATE record SET delete_references = 0")
                try connection.runScript(DeleteReferenceUpgrade.restart)
            }
            state.withLock { $0 = (anna, zone, list) }
        }
        let (person, zone, list) = try #require(state.withLock { $0 })
        try await RunningServer.with(folder: folder) { server in
            let anna = person.at(server)
            let isUnderWay = try await server.services.database.read { try $0.exists("SELECT 1 FROM delete_reference_upgrade") }
            #expect(!isUnderWay)
            #expect(try await anna.codes([Write(after: list, kind: .delete)], in: zone) == [nil])
            let left = try await anna.lookup(items.prefix(398) + ["detail", "alone"], in: zone).results
            let gone = left.prefix(399).filter { $0.code == .unknownItem && $0.serverRecord.hasDerived }
            #expect(gone.count == 399 && left[399].code == nil)
            let count = try await server.services.database.read { connection in
                try connection.first("SELECT COUNT(*) FROM record WHERE deleted = 0") { try $0.int64(0) }
            }
            #expect(count == 1)
        }
    }
}
