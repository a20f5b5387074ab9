import Foundation
import GRDB
import Testing

@testable import SealKit

/// The form of what a device has verified.
@Suite(.timeLimit(.minutes(60))) struct TrustStoreTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    @Test func aStoreIsMadeOnceAndOpenedByManyAtOnce() async throws {
        let file = temporary.url.appendingPathComponent("trust")
        await withTaskGroup(of: SealKitError.Code?.self) { group in
            for _ in 0..<8 { group.addTask { await failure { _ = try TrustStore(file: file) } } }
            for await code in group { #expect(code == nil) }
        }
        let steps = try await DatabaseQueue(path: file.path).read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(steps == TrustStore.version)
        #expect(TrustStore.version > 1)
        _ = try TrustStore(file: file)
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
