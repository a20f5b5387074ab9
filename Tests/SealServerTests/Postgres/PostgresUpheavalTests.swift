import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealEnvelope
import SealLab
import SealStatements
import SealSystem
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// PostgreSQL is restarted, killed or out of room while a server writes to it.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresUpheavalTests {
    private static func database(_ server: PostgresProcess, in space: String? = nil) throws -> DatabaseConfiguration {
        let admin = TestPostgres(server.url, dataFolder: server.dataFolder)
        if let space { try admin.run("CREATE TABLESPACE small LOCATION '\(space)'") }
        try admin.run(
            "CREATE DATABASE notes TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
                + (space == nil ? "" : " TABLESPACE small"))
        return DatabaseConfiguration(url: server.url(of: "notes"))
    }

    /// What goes on beside a body.
    private final class Saves: Sendable {
        let isEnded = Mutex(false)
        let acknowledged = Mutex(0)

        /// Waits until so many more were acknowledged.
        func goOn(for count: Int) async throws {
            let goal = acknowledged.withLock { $0 } + count
            try await waitUntil("saves go through") { self.acknowledged.withLock { $0 } >= goal }
        }
    }

    /// Several save batches of three for as long as a body takes; what each was told.
    private static func load(
        _ people: [(person: Person, zone: TestZone)], _ body: @Sendable (Saves) async throws -> Void
    ) async throws -> [(person: Int, batch: String, code: ErrorCode?)] {
        let saves = Saves()
        return try await withThrowingTaskGroup(of: [(person: Int, batch: String, code: ErrorCode?)].self) { group in
            for (index, entry) in people.enumerated() {
                group.addTask {
                    var told: [(person: Int, batch: String, code: ErrorCode?)] = []
                    while !saves.isEnded.withLock({ $0 }) {
                        let batch = "\(UUID())"
                        let writes = (0..<3).map { Write("\(batch) \($0)") }
                        let code = try await refusal { try await entry.person.save(writes, in: entry.zone) }
                        told.append((index, batch, code))
                        if code == nil {
                            saves.acknowledged.withLock { $0 += 1 }
                        } else {
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    }
                    return told
                }
            }
            do { try await body(saves) } catch {
                saves.isEnded.withLock { $0 = true }
                throw error
            }
            saves.isEnded.withLock { $0 = true }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// That a client may try again is all it was told.
    private static func expectUnavailability(
        _ told: [(person: Int, batch: String, code: ErrorCode?)], _ log: LogCapture,
        at place: SourceLocation = #_sourceLocation
    ) {
        let others = Set(told.compactMap(\.code)).subtracting([.serviceUnavailable])
        let failures = log.lines.filter { $0.contains("request failed") && !$0.contains("cannot be reached") }
        #expect(others.isEmpty, "\(failures.joined(separator: "\n"))", sourceLocation: place)
    }

    /// How many records of each batch are there.
    private static func batches(_ person: Person, _ zone: TestZone) async throws -> [String: Int] {
        var (counts, page) = ([String: Int](), try await person.changes(in: zone))
        while true {
            for record in page.records {
                counts[record.recordName.split(separator: " ").first.map(String.init) ?? "", default: 0] += 1
            }
            guard page.moreComing else { return counts }
            page = try await person.changes(in: zone, since: page.token)
        }
    }

    @Test func aRestartUnderLoadLosesNothing() async throws {
        let postgres = try await PostgresProcess()
        let configuration = try Self.database(postgres)
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger, runsTwice: false, database: configuration) { server in
            var made: [(person: Person, zone: TestZone)] = []
            for _ in 0..<4 {
                let person = try await Person.ready(server)
                made.append((person, try await person.makeZone()))
            }
            let people = made
            let told = try await Self.load(people) { saves in
                for step in 0..<4 {
                    try await saves.goOn(for: 8)
                    switch step {
                    case 0: try await postgres.restart(.fast)
                    case 1: try await postgres.restart(.immediate)
                    default:
                        try postgres.kill()
                        try await Task.sleep(for: .milliseconds(100))
                        try await postgres.restart(.fast)
                    }
                }
                // It comes back by itself.
                try await waitUntil("a save goes through again") {
                    let (person, zone) = people[0]
                    return try await refusal { try await person.save([Write("after \(UUID())")], in: zone) } == nil
                }
                try await saves.goOn(for: 8)
            }
            Self.expectUnavailability(told, log)
            let acknowledged = Set(told.filter { $0.code == nil }.map(\.batch))
            #expect(acknowledged.count > 20)
            #expect(acknowledged.count < told.count)
            for (index, entry) in people.enumerated() {
                var found = try await Self.batches(entry.person, entry.zone)
                found["after"] = nil
                #expect(Set(found.values).isSubset(of: [3]), "a batch is there by half")
                let own = told.filter { $0.person == index }
                let kept = acknowledged.intersection(own.map(\.batch))
                #expect(kept.isSubset(of: found.keys), "a batch that was acknowledged is gone")
                #expect(Set(found.keys).isSubset(of: own.map(\.batch)))
            }
            // Jobs too, and what is only read.
            try await server.sweep(now: server.clock.now)
            let health = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: server.origin + "/health"), timeout: .seconds(30))
            #expect(health.status == .ok)
        }
        await postgres.stop()
    }

    /// A standby is no place for a server; once it is the primary it is found, where both are named.
    @Test func aServerGoesOnAtTheStandbyThatWasPromoted() async throws {
        let postgres = try await PostgresProcess(hasStandby: true)
        _ = try Self.database(postgres)
        let admin = TestPostgres(postgres.url, dataFolder: nil)
        // Acknowledged is then on both.
        try admin.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try admin.run("SELECT pg_reload_conf()")
        let (primary, standby) = (postgres.socket, postgres.standbySocket)
        let alone = try PostgresAddress("postgres://postgres@/notes?host=\(standby)", password: nil)
        try await waitUntil("the standby has the database too") {
            do { _ = try PostgresDatabase(alone, migrations: []) } catch StorageError.unavailable {
                return false
            } catch {}
            return true
        }
        for parameters in ["", "&target_session_attrs=any"] {
            let error = #expect(throws: StorageError.self) {
                try PostgresDatabase(
                    try PostgresAddress("postgres://postgres@/notes?host=\(standby)\(parameters)", password: nil),
                    migrations: [])
            }
            guard case .unsuitable(let message) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(message.hasPrefix("\(alone.name) is a standby"), "\(message)")
        }
        // Nor is anything read or heard there, whatever the URL takes.
        let any = try PostgresAddress(
            "postgres://postgres@/notes?host=\(standby)&target_session_attrs=any", password: nil)
        for prepare in [PostgresServer.prepareReader, PostgresServer.prepareNotices] {
            let session = PostgresSession(.reader, any, prepare: prepare)
            let error = #expect(throws: StorageError.self) { try session.connectAgain() }
            #expect(error == .unsuitable(message: "\(any.name) is a standby. Name the primary, or all hosts."))
        }
        let both = DatabaseConfiguration(url: "postgres://postgres@/notes?host=\(standby),\(primary)")
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger, runsTwice: false, database: both) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let told = try await Self.load([(anna, zone)]) { saves in
                try await saves.goOn(for: 4)
                try postgres.kill()
                try await Task.sleep(for: .milliseconds(300))
                try await postgres.promoteStandby()
                try await waitUntil("a save goes through again") {
                    try await refusal { try await anna.save([Write("after \(UUID())")], in: zone) } == nil
                }
            }
            Self.expectUnavailability(told, log)
            var found = try await Self.batches(anna, zone)
            #expect(found.removeValue(forKey: "after") ?? 0 >= 1)
            #expect(Set(found.values) == [3])
            let acknowledged = Set(told.filter { $0.code == nil }.map(\.batch))
            #expect(acknowledged.isSubset(of: found.keys))
            // The standby has a history of its own from there on.
            #expect(try await server.rows(in: ["server_run"]) == ["server_run": 2])
        }
        try await Self.expectNoWayBack(from: standby, to: postgres)
        await postgres.stop()
    }

    /// The former primary comes back, and takes what is written to it: nobody reads there who was at the one in its
    /// place.
    private static func expectNoWayBack(from promoted: String, to former: PostgresProcess) async throws {
        try await former.restart(.fast)
        let era = PostgresEra()
        func connect(_ host: String, _ prepare: @escaping (PostgresSession) throws -> Void) throws {
            let address = try PostgresAddress("postgres://postgres@/notes?host=\(host)", password: nil)
            let session = PostgresSession(.reader, address, of: era) { session in
                try prepare(session)
                try PostgresServer.enter(era, session)
            }
            defer { session.close() }
            try session.connectAgain()
        }
        try connect(former.socket, PostgresServer.prepareReader)
        try connect(promoted, PostgresServer.prepareReader)
        for prepare in [PostgresServer.prepareReader, PostgresServer.prepareNotices] {
            let error = #expect(throws: StorageError.self) { try connect(former.socket, prepare) }
            guard case .unavailable = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            try connect(promoted, prepare)
        }
    }

    @Test func aHistoryThatWasLeftIsNotGoneBackTo() {
        let era = PostgresEra()
        #expect(era.begin(at: PostgresStart("7/00000001/100.5"), since: 0) == 1)
        #expect(era.begin(at: PostgresStart("7/00000001/100.5"), since: 0) == 1)
        // It was started again, promoted, and started again.
        #expect(era.begin(at: PostgresStart("7/00000001/90"), since: 1) == 2)
        #expect(era.begin(at: PostgresStart("7/0000000A/110"), since: 1) == nil)
        #expect(era.begin(at: PostgresStart("7/0000000A/110"), since: 2) == 3)
        #expect(era.begin(at: PostgresStart("7/00000009/120"), since: 3) == nil)
        #expect(era.begin(at: PostgresStart("7/0000000A/120"), since: 3) == 4)
        // Another system, with a history of its own.
        #expect(era.begin(at: PostgresStart("8/00000001/120"), since: 4) == 5)
        #expect(era.current == 5)
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    /// The standby is away. What was committed without it, since the connection that waited was ended, is there for
    /// whoever reads; who repeats it waits like who wrote it.
    @Test func whatIsRepeatedIsAnsweredOnceTheStandbyHasIt() async throws {
        let postgres = try await PostgresProcess()
        let configuration = try Self.database(postgres)
        let admin = TestPostgres(postgres.url, dataFolder: nil)
        try await RunningServer.with(runsTwice: false, database: configuration) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let (draft, operation) = (try anna.opening("more"), randomBytes(16))
            _ = try await anna.modifyZones(saving: [("more", draft)], operation: operation)
            try await waitUntil("its jobs have looked") { server.services.jobs.areIdle }
            @Sendable func waiting() async throws -> [Int64] {
                try await server.services.database.read { connection in
                    try connection.rows("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'") {
                        try $0.int64("pid")
                    }
                }
            }
            /// - Returns: what comes of it, and whether that was before it waited for the standby.
            func begin(
                _ body: @escaping @Sendable () async throws -> Void
            ) async throws -> (Task<ErrorCode?, any Error>, isDone: Bool) {
                let flag = Flag()
                let task = Task {
                    defer { flag.set() }
                    return try await refusal { try await body() }
                }
                try await waitUntil("it is done, or waits") {
                    if flag.isSet { return true }
                    return try await !waiting().isEmpty
                }
                return (task, flag.isSet)
            }
            func endWaiting() async throws {
                try await waitUntil("nobody waits") {
                    let processes = try await waiting()
                    for process in processes { try admin.end(process) }
                    return processes.isEmpty
                }
            }
            try admin.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try admin.run("SELECT pg_reload_conf()")
            // Until the server has heard of it.
            var (request, _) = try anna.request([Write("first")], in: zone)
            var save = try await begin { [request] in _ = try await anna.send(request, to: zone) }
            for number in 0..<1_000 where save.isDone {
                (request, _) = try anna.request([Write("\(number)")], in: zone)
                save = try await begin { [request] in _ = try await anna.send(request, to: zone) }
            }
            try await endWaiting()
            #expect(try await save.0.value == .serviceUnavailable)
            let count = try await anna.changes(in: zone).records.count
            let again = try await begin { [request] in _ = try await anna.send(request, to: zone) }
            #expect(!again.isDone)
            try await endWaiting()
            _ = try await again.0.value
            // What is looked for by the transaction that would do it.
            let zoneAgain = try await begin {
                _ = try await anna.modifyZones(saving: [("more", draft)], operation: operation)
            }
            #expect(!zoneAgain.isDone)
            try admin.run("ALTER SYSTEM RESET synchronous_standby_names")
            try admin.run("SELECT pg_reload_conf()")
            #expect(try await zoneAgain.0.value == nil)
            #expect(try await anna.send(request, to: zone).map(\.code) == [nil])
            #expect(try await anna.changes(in: zone).records.count == count)
        }
        await postgres.stop()
    }

    /// First where rows are, then where PostgreSQL keeps its log: that ends it, and it has to be started again.
    @Test(.enabled("a disk of its own has to be made by root") { geteuid() == 0 })
    func aFullDiskIsToldLeavesNothingHalfWrittenAndPasses() async throws {
        let postgres = try await PostgresProcess(smallDisk: 40)
        let configuration = try Self.database(postgres, in: postgres.smallFolder)
        let ballast = postgres.smallFolder + "/../ballast"
        try await RunningServer.with(runsTwice: false, database: configuration) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let kept = try await anna.save([Write("kept")], in: zone)
            // Of what is free, but for some batches.
            try Self.fill(ballast, leaving: 1_500_000)
            var (stored, refused): (Set<String>, [(name: String, request: Sealkit_V1_ModifyRecordsRequest)]) = ([], [])
            for index in 0..<60 where refused.count < 3 {
                let name = "\(index)"
                let writes = (0..<3).map { part in
                    var write = Write("\(name) \(part)", nil)
                    write.fields = [("bytes", .plain(.data((0..<60_000).map { _ in UInt8.random(in: 0...255) })))]
                    return write
                }
                let (request, _) = try anna.request(writes, in: zone)
                switch try await refusal({ try await anna.send(request, to: zone) }) {
                case nil: stored.insert(name)
                case .storageFull?, .serviceUnavailable?: refused.append((name, request))
                case let code?: Issue.record("\(code)")
                }
            }
            #expect(refused.count == 3)
            // Room again, and PostgreSQL where it had to end.
            try FileManager.default.removeItem(atPath: ballast)
            if try await refusal({ try await anna.changes(in: zone) }) != nil { try await postgres.restart(.immediate) }
            try await waitUntil("it reads") { try await refusal { try await anna.changes(in: zone) } == nil }
            var found = try await Self.batches(anna, zone)
            #expect(found.removeValue(forKey: "kept") == 1)
            #expect(Set(found.values) == [3])
            #expect(stored.isSubset(of: found.keys))
            #expect(Set(found.keys).isSubset(of: stored.union(refused.map(\.name))))
            // The same operations go through, once each.
            for (_, request) in refused {
                #expect(try await anna.send(request, to: zone).map(\.code) == [nil, nil, nil])
            }
            let after = try await Self.batches(anna, zone)
            #expect(after.count == stored.count + refused.count + 1)
            _ = try await anna.save([Write(after: kept[0])], in: zone)
        }
        await postgres.stop()
    }

    private static func fill(_ path: String, leaving room: Int) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let free = try #require(freeBytes(at: folder))
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        try #require(posix_fallocate(descriptor, 0, off_t(free) - off_t(room)) == 0)
    }
}
