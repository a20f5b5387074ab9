import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// The form of what a device has verified.
@Suite(.timeLimit(.minutes(60))) struct TrustStoreTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    /// Again and again: where one came late, its empty file took the place of the one that others had open.
    @Test func aStoreIsMadeOnceAndOpenedByManyAtOnce() async throws {
        for round in 0..<16 {
            let file = temporary.url.appendingPathComponent("trust-\(round)")
            let stores = try await withThrowingTaskGroup(of: TrustStore.self) { group in
                for _ in 0..<8 { group.addTask { try TrustStore(file: file) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (number, store) in stores.enumerated() {
                try await store.writing { db in
                    try db.execute(
                        sql: "INSERT INTO entry (scope, sequence, bytes, signature) VALUES (x'00', ?, x'', x'')",
                        arguments: [number])
                }
            }
            for store in stores {
                let count = try await store.reading { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM entry") }
                #expect(count == stores.count)
            }
            let steps = try await DatabaseQueue(path: file.path).read {
                try Int.fetchOne($0, sql: "PRAGMA user_version")
            }
            #expect(steps == TrustStore.version)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(TrustStore.version > 1)
    }

    /// By another call, or by another process of the device, before this one: what it has added since stays.
    @Test func aBranchIsReplacedOnceAndNothingElse() async throws {
        let file = temporary.url.appendingPathComponent("trust")
        let stores = [try TrustStore(file: file), try TrustStore(file: file)]
        let scope = Digest.zero
        func entries(_ text: String) -> [SignedRosterEntry] {
            text.utf8.map { SignedRosterEntry(bytes: [$0], signature: [0]) }
        }
        func kept() async throws -> String {
            String(decoding: try await stores[1].entries(scope: scope).flatMap(\.bytes), as: UTF8.self)
        }
        try await stores[0].append(entries("ab"), scope: scope, from: 0, absences: [], share: nil)
        // Not even what this device knows of it already.
        try await stores[0].replace(entries("abc"), by: entries("axyz"), scope: scope)
        #expect(try await kept() == "axyz")
        try await stores[1].append(entries("k"), scope: scope, from: 4, absences: [], share: nil)
        for store in stores { try await store.replace(entries("abc"), by: entries("axyz"), scope: scope) }
        #expect(try await kept() == "axyzk")
        #expect(
            await failure { try await stores[1].replace(entries("abc"), by: entries("auv"), scope: scope) }
                == .rollback)
        #expect(try await kept() == "axyzk")
    }

    /// In the log that stays a share's lives have other epochs by the same numbers.
    @Test func howFarAScopeWasReadGoesWithItsBranch() async throws {
        let store = try TrustStore()
        let zone = Digest.zero
        let (scope, other) = (
            try Digest([UInt8](repeating: 7, count: 32)), try Digest([UInt8](repeating: 8, count: 32))
        )
        let places = [ScopePlace(scope, 1), ScopePlace(scope, 300), ScopePlace(other, 1)]
        let entry = SignedRosterEntry(bytes: [1], signature: [0])
        let noted = TrustStore.ShareMarks(zone: zone, name: "list", marks: [ScopePlace(scope, 2): 3])
        try await store.append([entry], scope: scope, from: 0, absences: [], share: noted)
        try await store.writing { db in for place in places { try TrustStore.noteRead(place, 5, db) } }
        func read() async throws -> [Int64?] {
            try await store.reading { db in
                try places.map { place in
                    try TrustSightings(ScopePlace(zone, 1), late: nil, db).caughtUp(in: place)
                }
            }
        }
        #expect(try await read() == [5, 5, 5])
        #expect(try await store.marks(ofSharesIn: zone).due.count == 1)
        try await store.replace([entry], by: [SignedRosterEntry(bytes: [2], signature: [0])], scope: scope)
        #expect(try await read() == [nil, nil, 5])
        #expect(try await store.marks(ofSharesIn: zone).due.isEmpty)
    }

    @Test func whereNoneCanBeMadeTheReasonIsSaid() async throws {
        let file = temporary.url.appendingPathComponent("missing/trust")
        let error = #expect(throws: SealKitError.self) { _ = try TrustStore(file: file) }
        #expect(error?.code == .internalError)
        #expect(error?.reason.contains("No such file or directory") == true)
    }

    /// Of a later version, with tables that no step of this one made, and of the builds that counted their steps.
    @Test(arguments: ["PRAGMA user_version = 1000", "PRAGMA user_version = 0", "PRAGMA user_version = 1"])
    func aStoreOfAnotherVersionIsRefusedAndStaysAsItIs(_ change: String) async throws {
        let file = temporary.url.appendingPathComponent("trust")
        _ = try TrustStore(file: file)
        let queue = try DatabaseQueue(path: file.path)
        try await queue.write { try $0.execute(sql: change) }
        func content() throws -> [String] {
            try queue.read { db in
                try String.fetchAll(db, sql: "SELECT COALESCE(sql, name) FROM sqlite_master ORDER BY name") + [
                    "\(try Int.fetchOne(db, sql: "PRAGMA user_version") ?? -1)"
                ]
            }
        }
        let before = try content()
        #expect(await failure { _ = try TrustStore(file: file) } == .incompatibleVersion)
        #expect(try content() == before)
    }

    /// In the middle of a statement, which SQLite ends with an error of its own: no word of a file that is damaged.
    @Test func whoeverIsCancelledInTheMiddleHearsThat() async throws {
        let store = try TrustStore(file: temporary.url.appendingPathComponent("trust"))
        let counting = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c"
        for isWriting in [false, true] {
            let (began, beginning) = AsyncStream<Void>.makeStream()
            let task = Task {
                await failure {
                    let body: @Sendable (GRDB.Database) throws -> Int? = { db in
                        beginning.finish()
                        return try Int.fetchOne(db, sql: counting)
                    }
                    _ = isWriting ? try await store.writing(body) : try await store.reading(body)
                }
            }
            for await _ in began {}
            try await Task.sleep(for: .milliseconds(50))
            task.cancel()
            #expect(await task.value == .operationCancelled)
        }
        #expect(try await store.reading { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }
}
