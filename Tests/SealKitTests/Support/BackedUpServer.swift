import Crypto
import Foundation
import GRDB
import SealLab
import Testing

/// A server of a test's own, with the operator's commands beside it.
final class BackedUpServer: @unchecked Sendable {
    // Unchecked: used by one task.
    private(set) var process: ServerProcess
    let folder: URL
    var data: String { folder.appendingPathComponent("data").path }
    var place: String { folder.appendingPathComponent("place").path }
    private let port: Int

    init() throws {
        process = try ServerProcess(mail: false)
        (folder, port) = (process.folder, process.port)
    }

    func stop() { process.stop() }

    func restart() throws { process = try ServerProcess(folder: folder, port: port, mail: false) }

    /// Runs a command in the test's folder, to which its paths are relative.
    @discardableResult
    func call(_ words: String..., status: Int32 = 0) async throws -> Command {
        let said = try await run(words)
        #expect(said.status == status, "\(words): \(said.status) \(said.output)\(said.errors)")
        return said
    }

    func run(_ words: [String]) async throws -> Command {
        try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", #"cd "$1" && shift && exec "$@""#, "sh", folder.path, ServerProcess.executable.path] + words)
    }

    /// A backup, and what it says of itself.
    func backUp(_ words: String...) async throws -> [String: Any] {
        let said = try await run(["backup", "--data", "data", "--to", "place", "--json"] + words)
        #expect(said.status == 0, "\(said.output)\(said.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(said.output.utf8)) as? [String: Any])
    }

    /// Stops the server, and takes its data away.
    func loseData() throws {
        process.terminate()
        try FileManager.default.removeItem(atPath: data)
    }

    /// Every file of a folder, but for locks, by its path.
    func files(_ below: String) throws -> [String] {
        let root = folder.appendingPathComponent(below).path
        return try FileManager.default.subpathsOfDirectory(atPath: root).sorted().map { root + "/" + $0 }.filter {
            path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            return !isFolder.boolValue && !path.hasSuffix("/lock")
        }
    }

    /// Changes the database of a stopped server.
    func change(_ sql: String) throws {
        let queue = try DatabaseQueue(path: data + "/sealkit.sqlite")
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Writes over the first page of a table of a stopped server's.
    func damage(_ table: String) throws {
        let path = data + "/sealkit.sqlite"
        let queue = try DatabaseQueue(path: path)
        let page = try queue.read { database in
            try UInt64.fetchOne(
                database, sql: "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?",
                arguments: [table])
        }
        try queue.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: (try #require(page) - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
    }

    /// Keeps everybody else from the database of a stopped server.
    func holdingDatabase<T>(_ body: () async throws -> T) async throws -> T {
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: data + "/sealkit.sqlite", configuration: configuration)
        // With a write-ahead log readers go on beside whoever writes.
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE") }
        let result = try await body()
        try await queue.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try queue.close()
        return result
    }

    /// Takes the last line off a backup's list of blobs, and lets all sums say so.
    func cutShort(_ backup: String) throws {
        let folder = "\(place)/backups/\(backup)/"
        func sum(_ bytes: Data) -> String { SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined() }
        let list = URL(fileURLWithPath: folder + "blobs.txt")
        let lines = String(decoding: try Data(contentsOf: list), as: UTF8.self).split(separator: "\n").dropLast()
        let short = Data((lines.joined(separator: "\n") + "\n").utf8)
        try short.write(to: list)
        let file = URL(fileURLWithPath: folder + "manifest.json")
        var manifest = try #require(
            try JSONSerialization.jsonObject(with: try Data(contentsOf: file)) as? [String: Any])
        manifest["blobList"] = ["name": "blobs.txt", "size": short.count, "sha256": sum(short)] as [String: Any]
        let written = try JSONSerialization.data(withJSONObject: manifest)
        try written.write(to: file)
        try Data("\(sum(written))  manifest.json\n".utf8).write(to: URL(fileURLWithPath: file.path + ".sha256"))
    }

    static func flip(_ path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
