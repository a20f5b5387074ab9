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

    static func flip(_ path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
