import Foundation
import SealLab
import Testing

@testable import SealKit

/// What has to outlast a power cut is on the disk, with its name, before anybody is told that it is there.
@Suite(
    .enabled("strace is not installed, or may not watch", { await SystemCalls.canBeWatched() }),
    .timeLimit(.minutes(60)))
struct DurableFileTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    private func isInOrder(_ calls: [String], _ wanted: [String]) -> Bool {
        var left = wanted[...]
        for call in calls where call == left.first { left.removeFirst() }
        return left.isEmpty
    }

    @Test func aKeyFileIsDurableBeforeItsNameAndItsNameBeforeTheEnd() async throws {
        let server = try ServerProcess.shared.get()
        let calls = SystemCalls(in: temporary.url)
        let keys = temporary.url.appendingPathComponent("keys")
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
        let said = try await calls.run(
            ["account", "create", "--server", server.origin, "--key-file", keys.appendingPathComponent("ann").path])
        #expect(said.status == 0, "\(said.errors)")
        let seen = try calls.all(below: keys)
        #expect(isInOrder(seen, ["sync .ann.new", "name ann", "sync ."]), "\(seen)")
    }

    /// Whoever deletes the account next has it there after a power cut: its files, their folders, and its own name.
    @Test func anExportIsDurableBeforeTheCommandEnds() async throws {
        let server = try ServerProcess.shared.get()
        let calls = SystemCalls(in: temporary.url)
        let file = temporary.url.appendingPathComponent("film")
        try pattern(1_000).write(to: file)
        let environment = ["SEALKIT_KEY_FILE": temporary.url.appendingPathComponent("ann").path]
        for arguments in [
            ["account", "create", "--server", server.origin], ["zone", "create", "Notes"],
            ["record", "save", "--zone", "Notes", "--type", "Film", "--name", "film", "--asset", "film=" + file.path],
        ] {
            let said = try await Command.finished(ServerProcess.executable, arguments, environment: environment)
            #expect(said.status == 0, "\(said.errors)")
        }
        let place = temporary.url.appendingPathComponent("exports")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let export = place.appendingPathComponent("all").path
        let said = try await calls.run(
            ["data", "export", export, "--key-file", temporary.url.appendingPathComponent("ann").path])
        #expect(said.status == 0, "\(said.errors)")
        let seen = try calls.all(below: place)
        let named = try #require(seen.firstIndex(of: "name all"), "\(seen)")
        #expect(seen[named...].contains("sync ."), "\(seen)")
        let synced = seen[..<named].filter { $0.hasPrefix("sync ") }
        for path in try FileManager.default.subpathsOfDirectory(atPath: export) {
            #expect(synced.contains { $0.hasSuffix("/" + path) }, "\(path): \(seen)")
        }
        #expect(synced.contains { $0.hasPrefix("sync all.part-") && !$0.contains("/") }, "\(seen)")
    }

    /// In one request, and in parts.
    @Test(arguments: [100, 9 << 20]) func anAssetIsDurableBeforeItIsStored(size: Int) async throws {
        let calls = SystemCalls(in: temporary.url)
        let folder = temporary.url.appendingPathComponent("server")
        let server = try SealLab.ServerProcess(folder: folder, executable: try calls.program(in: temporary.url))
        defer { server.remove() }
        try server.waitUntilListening()
        let file = temporary.url.appendingPathComponent("film")
        try pattern(size).write(to: file)
        let environment = ["SEALKIT_KEY_FILE": temporary.url.appendingPathComponent("ann").path]
        for arguments in [
            ["account", "create", "--server", server.origin], ["zone", "create", "Notes"],
            ["record", "save", "--zone", "Notes", "--type", "Film", "--name", "film", "--asset", "film=" + file.path],
        ] {
            let said = try await Command.finished(ServerProcess.executable, arguments, environment: environment)
            #expect(said.status == 0, "\(said.errors)")
        }
        let blobs = server.dataFolder.appendingPathComponent("blobs")
        let stored = try FileManager.default.subpathsOfDirectory(atPath: blobs.path).filter {
            $0.split(separator: "/").count == 3
        }
        #expect(stored.count == 1)
        let place = try #require(stored.first).split(separator: "/")
        let staged = "sync staged/\(place[2])"
        server.terminate()
        try await calls.end(of: server.identifier)
        let seen = try calls.all(below: blobs)
        // The bytes, their folder's name from the top, then the blob's own.
        let named = ["name \(place.joined(separator: "/"))", "sync \(place[0])/\(place[1])"]
        #expect(isInOrder(seen, [staged, named[0], named[1]]), "\(seen)")
        #expect(isInOrder(seen, ["sync \(place[0])", "sync .", named[0]]), "\(seen)")
        // In parts: each for itself, and the whole once more.
        if size > 1 << 20 { #expect(isInOrder(seen, ["sync staged", staged, staged, staged, named[0]]), "\(seen)") }
    }
}
