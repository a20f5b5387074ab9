import Foundation
import SealKit
import SealLab

/// Servers before one PostgreSQL and one S3 store. One of them is killed, or all, or the database is struck; often
/// those who are left have to go on at once, and do what was asked of the ones that are gone.
final class SeveralServers: Ground, @unchecked Sendable {
    // Unchecked: its methods are called by one task.
    private static let count = 2
    /// After servers alone were struck, how long clients may be told of it: what the blow has cut off may take as long
    /// as this to fail on a machine that is busy.
    private static let turning = Duration.seconds(30)

    private let database: any StruckDatabase
    private let store: S3Process
    private let upstreams = ProxyTransport.Upstreams(count: count)
    private let top = ServerProcess.temporaryFolder()
    private let ports: [Int]
    /// Nil where it was killed.
    private var servers: [ServerProcess?]
    private var strikes: [String: Int] = [:]
    /// The longest time, for each kind of blow, until everything went on.
    private var pauses: [String: Duration] = [:]
    /// How long the logs are that may have errors in them: of a database that was away.
    private var excusedLogs = [Int](repeating: 0, count: count)
    private var wasDatabaseStruck = false
    private var wasDatabaseEverStruck = false

    init(database: any StruckDatabase) async throws {
        self.database = database
        store = try await S3Process()
        ports = try (0..<Self.count).map { _ in try MailServer.freePort() }
        servers = [ServerProcess?](repeating: nil, count: Self.count)
        try start(0)
        // As the manual has it: the others have the secrets of the first.
        for number in 1..<Self.count {
            try FileManager.default.createDirectory(at: folder(number), withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: folder(0).appendingPathComponent("data.secrets"),
                to: folder(number).appendingPathComponent("data.secrets"))
            try start(number)
        }
    }

    private func folder(_ number: Int) -> URL { top.appendingPathComponent("server\(number)") }
    private func address(_ number: Int) -> String { "http://127.0.0.1:\(ports[number])" }
    /// That of the proxy which they stand behind, as it were.
    private var origin: String { address(0) }

    private func launch(_ number: Int) throws -> ServerProcess {
        try ServerProcess(
            folder: folder(number), port: ports[number],
            arguments: [
                "--origin", origin, "--database-url", database.url, "--blobs", store.url, "--s3-credentials",
                store.credentialsFile,
            ])
    }

    private func start(_ number: Int) throws {
        let server = try launch(number)
        try server.waitUntilListening()
        servers[number] = server
        upstreams.set(number, isThere: true)
    }

    private func kill(_ number: Int) {
        servers[number]?.kill()
        servers[number] = nil
        upstreams.set(number, isThere: false)
    }

    var folder: URL { folder(0) }

    private func transport(isPatient: Bool) throws -> any Transport {
        try ProxyTransport(
            origin: origin, servers: (0..<Self.count).map(address), upstreams, isPatient: isPatient)
    }

    func transport() throws -> any Transport { try transport(isPatient: false) }
    func patientTransport() throws -> any Transport { try transport(isPatient: true) }

    // MARK: Strikes

    func strike(_ journal: Journal, isLast: Bool, _ random: inout SeededRandom) async throws {
        let goesOn = random.chance(70)
        if goesOn { journal.strike() } else { journal.goDown() }
        let what = try await strike(isLast: isLast, &random)
        strikes[what, default: 0] += 1
        guard goesOn else { return }
        for number in servers.indices where servers.allSatisfy({ $0 == nil }) { try start(number) }
        let (served, fallen) = (journal.served, ContinuousClock.now)
        // Whoever is left has everything that it needs, where the database is there.
        if !wasDatabaseStruck { journal.excuse(for: Self.turning) }
        try await until(
            within: wasDatabaseStruck ? patience * 2 : patience,
            "not everybody is served any more: struck was \(what)"
        ) {
            journal.served.goesOn(since: served) || !journal.unexpected.isEmpty
        }
        pauses[what] = max(pauses[what] ?? .zero, ContinuousClock.now - fallen)
        try await Task.sleep(for: .milliseconds(random.below(500)))
        journal.goDown()
    }

    /// - Parameter isLast: the database is struck where it was not yet, or a run would say nothing of it.
    private func strike(isLast: Bool, _ random: inout SeededRandom) async throws -> String {
        if random.chance(database.share) || (isLast && !wasDatabaseEverStruck) {
            (wasDatabaseStruck, wasDatabaseEverStruck) = (true, true)
            return try await database.strike(&random)
        }
        if random.chance(65) {
            kill(random.below(Self.count))
            return "one server"
        }
        for number in servers.indices { kill(number) }
        return "all servers"
    }

    func rise(_ random: inout SeededRandom) async throws {
        try await database.recover()
        // A process of the database may go on with what a killed server has sent it.
        try await until("the database does not come to rest") {
            // Where another primary has just taken over it may not be one yet.
            try? await self.database.values(
                """
                SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
                """
            ).isEmpty
        }
        if servers.allSatisfy({ $0 == nil }), random.chance(30) {
            _ = try await database.values(Orphans.aging(zones: Upheaval.zonePrefix))
        }
        for number in servers.indices where servers[number] == nil {
            if random.chance(25) {
                let doomed = try launch(number)
                try await Task.sleep(for: .milliseconds(random.below(1_000)))
                doomed.kill()
                strikes["one server as it started", default: 0] += 1
            }
            try start(number)
        }
        for server in servers.compactMap({ $0 }) {
            let transport = try HTTPTransport(server: server.origin)
            try await until("a server does not recover") {
                try? await transport.get("/health", token: nil).status == 200
            }
        }
    }

    // MARK: Looking

    func inspect() async throws {
        for (what, query) in Orphans.queries {
            let count = try await database.values(query)
            try check(count == ["0"], "there are \(count.joined()) \(what)")
        }
        for (number, server) in servers.enumerated() {
            guard let server else { throw Finding("server \(number) was not started again") }
            try check(server.isRunning, "server \(number) has ended: \(server.log.suffix(1000))")
            if !wasDatabaseStruck { try server.checkLog(after: excusedLogs[number]) }
            excusedLogs[number] = server.log.count
        }
        wasDatabaseStruck = false
        try await checkBlobs()
    }

    /// The store has each asset that the database says is there, with as many bytes.
    private func checkBlobs() async throws {
        let rows = try await database.values("SELECT stored || ' ' || size FROM blob WHERE size IS NOT NULL")
        let sizes = try await Bucket(of: store).sizes()
        for row in rows {
            let words = row.split(separator: " ")
            guard words.count == 2, let size = Int(words[1]) else { throw Finding("psql says of a blob: \(row)") }
            let name = words[0]
            let found = sizes["\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"]
            try check(
                found == size, "of the \(size) bytes of blob \(name) the store has \(found.map { "\($0)" } ?? "none")")
        }
    }

    func remove() async {
        for server in servers { server?.terminate() }
        await database.remove()
        await store.stop()
        try? FileManager.default.removeItem(at: top)
    }

    var blows: String {
        let list = strikes.sorted { $0.key < $1.key }.map { what, count in
            guard let pause = pauses[what] else { return "\(what) (\(count))" }
            return "\(what) (\(count); all went on after \(String(format: "%.1f", pause / .seconds(1))) s at most)"
        }
        return
            "Of \(Self.count) servers before a PostgreSQL, there were killed under load: \(list.joined(separator: ", "))."
    }

    var soundness: String {
        "No blob or record was left without an owner in the database, and the store has all blobs that the database names."
    }
}
