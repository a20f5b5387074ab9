import Foundation
import GRDB
import SealLab
import Testing

@testable import SealKit
@testable import sealkit

/// `sealkit telemetry` and the SDK's call behind it, against a server and what was sent to it.
@Suite(.timeLimit(.minutes(60))) struct TelemetryCommandTests {
    private func run(_ words: [String], _ server: ServerProcess) async throws -> Command {
        try await Command.finished(
            ServerProcess.executable, ["telemetry"] + words + ["--data", server.dataFolder.path])
    }

    private func with(_ body: (ServerProcess, Person) async throws -> Void) async throws {
        let server = try ServerProcess(mail: false, arguments: ["--operator", "127.0.0.1:0"])
        defer { server.stop() }
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        let group = OperationGroup(name: "launch sync, =1+1")
        let note = try await ann.own.save(ann.note(in: zone, "a"))
        try await ann.own.configuredWith(group: group) { database in
            for _ in 0..<3 { _ = try await database.record(for: note.recordID) }
        }
        try await body(server, ann)
    }

    @Test func anOperatorSeesWhatWasAskedAndByWhichGroup() async throws {
        try await with { server, ann in
            let table = try await run([], server)
            #expect(table.status == 0, "\(table.errors)")
            #expect(table.output.contains("records/lookup"), "\(table.output)")
            #expect(table.output.contains("active account"), "\(table.output)")
            #expect(table.output.contains("█"), "\(table.output)")
            #expect(!table.output.contains(ann.name))

            let groups = try await run(["--by", "group", "--json"], server)
            #expect(groups.status == 0, "\(groups.errors)")
            let lines = try groups.output.split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
            #expect(lines.first?["state"] as? String == "ok")
            let found = lines.first { $0["name"] as? String == "launch sync, =1+1" }
            let named = try #require(found)
            let total = try #require(named["total"] as? [String: Any])
            #expect(total["count"] as? Int == 3)
            #expect(total["refused"] as? Int == 0)
            #expect((named["parts"] as? [Any])?.isEmpty == false)

            let csv = try await run(["--by", "group", "--csv", "--group", "launch sync, =1+1"], server)
            #expect(csv.status == 0, "\(csv.errors)")
            let rows = csv.output.split(separator: "\n")
            #expect(rows.first?.hasPrefix("start,group,count,refused,serverErrors,bytesIn,bytesOut,latency") == true)
            #expect(rows.dropFirst().first?.contains("\"launch sync, =1+1\",3,0,0,") == true, "\(csv.output)")

            let clients = try await run(["--by", "client"], server)
            #expect(clients.output.contains("swift/0.1.0 linux"), "\(clients.output)")
            let quiet = try await run(["--operation", "records/modify", "--quiet", "--step", "hour"], server)
            #expect(quiet.output == "1\n")
            for words in [
                ["--of", "items"], ["--of", "notifications"], ["--last", "60m", "--by", "code"], ["--of", "sharing"],
                ["--of", "streams"], ["--of", "coalesced"], ["--of", "keys", "--json"],
                ["--from", "2020-01-01", "--until", "2020-01-02"], ["--container", "none"],
            ] {
                #expect(try await run(words, server).status == 0, "\(words)")
            }
        }
    }

    @Test func whatCannotBeAskedIsSaid() async throws {
        let server = try ServerProcess(mail: false, arguments: ["--operator", "127.0.0.1:0", "--telemetry", "off"])
        defer { server.stop() }
        for (words, status, text) in [
            (["--last", "0m"], Int32(64), "--last"), (["--last", "a day"], 64, "--last"),
            (["--last", "1h", "--from", "2020-01-01"], 64, "not both"), (["--from", "yesterday"], 64, "--from"),
            (["--limit", "0"], 64, "--limit"), (["--csv", "--json"], 64, "not both"),
            (["--by", "account"], 64, "--by"),
            (["--from", "2020-01-02", "--until", "2020-01-01"], 65, "later end"),
            (["--last", "9d", "--step", "minute"], 65, "longer step"), ([], 0, "--telemetry off"),
        ] {
            let said = try await run(words, server)
            #expect(said.status == status, "\(words): \(said.output)\(said.errors)")
            #expect(said.errors.contains(text), "\(words): \(said.errors)")
        }
    }

    /// Killed again and again, while it counts and writes, the server leaves a file that is whole: with all that it has
    /// told, and nothing that was not asked.
    @Test func aServerThatIsKilledUnderLoadLeavesASoundFile() async throws {
        let folder = SealLab.ServerProcess.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var (sent, told) = (0, 0)
        for round in 0..<4 {
            let server = try ServerProcess(
                folder: folder, mail: false, arguments: ["--operator", "127.0.0.1:0"] + ServerProcess.withoutRates)
            let ann = try await Person(server)
            let note = try await ann.own.save(ann.note(in: try await ann.makeZone(), "a"))
            let load = Task {
                await withTaskGroup(of: Int.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            var count = 0
                            // Until the server is gone.
                            repeat { count += 1 } while (try? await ann.own.record(for: note.recordID)) != nil
                            return count
                        }
                    }
                    return await group.reduce(0, +)
                }
            }
            // Whoever asks has it written: until something of this round is there.
            let (before, start) = (told, ContinuousClock.now)
            var asked = 0
            while asked <= round || (told == before && ContinuousClock.now < start + .seconds(60)) {
                asked += 1
                let answer = try await run(["--operation", "records/lookup", "--json"], server)
                #expect(answer.status == 0, "\(answer.errors)")
                let line = Data(answer.output.prefix { $0 != "\n" }.utf8)
                let all = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
                told = try #require((all["total"] as? [String: Any])?["count"] as? Int)
            }
            try await Task.sleep(for: .milliseconds(150 * round))
            server.kill()
            sent += await load.value
            let counts = try Self.counts(server.dataFolder.appendingPathComponent("telemetry.sqlite").path)
            // The same by minute, hour and day: each is written with the others, or not at all.
            #expect(counts.count == 3 && Set(counts).count == 1, "\(counts)")
            #expect((told...max(told, sent)).contains(counts.first ?? -1), "\(told) <= \(counts) <= \(sent)")
        }
        #expect(told > 0)
    }

    /// Of `records/lookup`, by step; the file has to be whole.
    private static func counts(_ path: String) throws -> [Int] {
        let file = try DatabaseQueue(path: path)
        defer { try? file.close() }
        return try file.read { database in
            #expect(try String.fetchAll(database, sql: "PRAGMA integrity_check") == ["ok"])
            return try Int.fetchAll(
                database,
                sql: """
                    SELECT SUM(m.count) FROM sums m JOIN series s ON s.id = m.series
                    WHERE s.kind = 0 AND s.operation = 'records/lookup' GROUP BY m.step
                    """)
        }
    }

    @Test func cellsAreQuotedAndNoFormulas() {
        for (text, cell) in [
            ("plain", "plain"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("=1+1", "'=1+1"), ("-1,2", "\"'-1,2\""),
            ("+x", "'+x"), ("@x", "'@x"), ("", ""),
        ] {
            #expect(TelemetryText.cell(text) == cell)
        }
        #expect(!TelemetryText.cell("a\nb\u{1B}[31m").contains("\n"))
    }

    @Test func aGroupsNameTravelsEncodedAndCut() {
        #expect(OperationGroup(name: "a b%é\n").nameHeaderValue == "a%20b%25%C3%A9%0A")
        #expect(OperationGroup(name: String(repeating: "é", count: 40)).nameHeaderValue?.count == 32 * 6)
        #expect(OperationGroup(name: "").nameHeaderValue == nil)
        #expect(OperationGroup().nameHeaderValue == nil)
        #expect(ClientDescription.value.hasPrefix("swift/"))
    }
}
