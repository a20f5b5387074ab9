import Foundation
import GRDB

/// Looks into the server's own files while it runs: whether the database is sound, and whether everything in it belongs
/// to something.
struct DatabaseCheck {
    let dataFolder: URL

    private func open(readonly: Bool = true) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(
            path: dataFolder.appendingPathComponent("sealkit.sqlite").path, configuration: configuration)
    }

    /// Makes deletions in some zones older than any feed keeps them: the next server to start has them to clear away.
    /// Only while none runs.
    func age(zones prefix: String) throws {
        try open(readonly: false).write { database in
            try database.execute(sql: Orphans.aging(zones: prefix))
        }
    }

    func count(_ query: String) throws -> Int { try open().read { try Int.fetchOne($0, sql: query) } ?? 0 }

    func run() throws {
        let known = try open().read { database -> Set<String> in
            let integrity = try String.fetchAll(database, sql: "PRAGMA integrity_check")
            try check(integrity == ["ok"], "the integrity check says: \(integrity.joined(separator: "; "))")
            try check(try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").isEmpty, "foreign keys are violated")
            for (what, query) in Orphans.queries {
                let count = try Int.fetchOne(database, sql: query) ?? -1
                try check(count == 0, "there are \(count) \(what)")
            }
            return try Set(
                String.fetchAll(database, sql: "SELECT stored FROM blob UNION SELECT stored FROM blob_garbage"))
        }
        try checkFiles(known)
    }

    /// Every file of a blob is one that the database knows, so that housekeeping reaches it; what only lies among the
    /// uploads under way is collected by its age.
    private func checkFiles(_ known: Set<String>) throws {
        let folder = dataFolder.appendingPathComponent("blobs")
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where !path.hasPrefix("staged") {
            var isFolder: ObjCBool = false
            guard
                FileManager.default.fileExists(
                    atPath: folder.appendingPathComponent(path).path, isDirectory: &isFolder),
                !isFolder.boolValue
            else { continue }
            let name = (path as NSString).lastPathComponent
            try check(known.contains(name), "a blob's file is unknown to the database")
        }
    }
}
