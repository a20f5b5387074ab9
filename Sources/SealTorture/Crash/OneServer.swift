import Foundation
import SealKit
import SealLab

/// A server with a data folder: SQLite and files.
final class OneServer: Ground, @unchecked Sendable {
    // Unchecked: its methods are called by one task.
    private var server: ServerProcess
    private let port: Int
    private var kills = 0
    private var killsAtStart = 0
    private var stopped = StoppedCheck()

    init() throws {
        server = try ServerProcess.temporary()
        port = server.port
    }

    var folder: URL { server.folder }

    func transport() throws -> any Transport { try HTTPTransport(server: server.origin) }
    func patientTransport() throws -> any Transport { try transport() }

    func strike(_ journal: Journal, isLast: Bool, _ random: inout SeededRandom) {
        journal.goDown()
        server.kill()
        kills += 1
    }

    func rise(_ random: inout SeededRandom) async throws {
        try await stopped.run(server.dataFolder)
        if random.chance(20) { try DatabaseCheck(dataFolder: server.dataFolder).age(zones: Upheaval.zonePrefix) }
        if random.chance(25) {
            let doomed = try ServerProcess(folder: folder, port: port)
            try await Task.sleep(for: .milliseconds(random.below(80)))
            doomed.kill()
            killsAtStart += 1
            try await stopped.run(server.dataFolder)
        }
        server = try ServerProcess(folder: folder, port: port)
        try server.waitUntilListening()
    }

    func inspect() throws {
        try DatabaseCheck(dataFolder: server.dataFolder).run()
        try server.checkLog()
    }

    func remove() { server.remove() }

    var blows: String {
        "The server was killed \(kills) times under load, and \(killsAtStart) times more while it started."
    }

    var soundness: String {
        """
        The database passed its integrity check each time; no blob, file or record was left without an owner, and no record \
        without its blobs: \(stopped.text).
        """
    }
}

extension ServerProcess {
    /// - Parameter beginning: of what its log has had before, which nobody asks for.
    func checkLog(after beginning: Int = 0) throws(Finding) {
        let said = log.dropFirst(beginning)
        try check(said.isEmpty, "the server's log has errors: \(said.suffix(1000))")
    }
}
