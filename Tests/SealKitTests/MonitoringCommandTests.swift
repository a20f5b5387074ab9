import Foundation
import SealLab
import Testing

@testable import SealKit
@testable import sealkit

/// `sealkit logs`, `events` and `alerts`, and the SDK's calls behind them, against a server and what was sent to it.
@Suite(.timeLimit(.minutes(60))) struct MonitoringCommandTests {
    private func run(_ words: [String], _ server: ServerProcess) async throws -> Command {
        try await Command.finished(ServerProcess.executable, words + ["--data", server.dataFolder.path])
    }

    private func lines(_ command: Command) throws -> [[String: Any]] {
        try command.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test func anOperatorFindsARequest() async throws {
        let server = try ServerProcess(mail: false, arguments: ["--operator", "127.0.0.1:0"])
        defer { server.stop() }
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "a"))
        try await ann.own.configuredWith(group: OperationGroup(name: "launch sync, =1+1")) { database in
            _ = try await database.record(for: note.recordID)
        }
        let all = try await run(["logs"], server)
        #expect(all.status == 0, "\(all.errors)")
        #expect(all.output.contains("records/modify  org.example.notes"), "\(all.output)")
        #expect(all.output.contains("swift/0.1.0 linux"), "\(all.output)")
        #expect(!all.output.contains(ann.name))
        let grouped = ["logs", "--group", "launch sync, =1+1"]
        let json = try lines(try await run(grouped + ["--json"], server))
        #expect(json.count == 1)
        let entry = try #require(json.first)
        #expect(entry["operation"] as? String == "records/lookup")
        #expect(entry["code"] as? String == "")
        #expect((entry["user"] as? String)?.count == 8)
        #expect((entry["groupID"] as? String)?.count == 32)
        #expect(entry["microseconds"] as? Int ?? 0 > 0)
        let csv = try await run(grouped + ["--csv"], server)
        let rows = csv.output.split(separator: "\n")
        #expect(rows.count == 2)
        #expect(rows.first == Substring(LogText.csvHeader))
        #expect(rows.last?.contains("swift/0.1.0 linux,\"launch sync, =1+1\",") == true, "\(csv.output)")
        let user = try #require(entry["user"] as? String)
        for (words, count) in [
            (["--user", user, "--operation", "records/modify"], 1), (["--text", "LAUNCH"], 1),
            (["--group-id", try #require(entry["groupID"] as? String)], 1), (["--failed", "--text", "modify"], 0),
            (["--answered", "--operation", "records/modify"], 1), (["--slower-than", "600000"], 0),
            (["--last", "60m", "--database", "private", "--operation", "records/modify"], 1),
            (["--until", "2020-01-01"], 0), (["--limit", "1"], 1), (["--request", "none"], 0),
        ] {
            let found = try await run(["logs", "search"] + words + ["--json"], server)
            #expect(found.status == 0, "\(words): \(found.errors)")
            #expect(try lines(found).count == count, "\(words): \(found.output)")
        }
        let more = try await run(["logs", "--limit", "1"], server)
        #expect(more.errors.contains("there are more"))

        let saved = try await run(
            ["logs", "save", "my saves", "--operation", "records/modify", "--answered", "--last", "1h"], server)
        #expect(saved.status == 0, "\(saved.errors)")
        let list = try await run(["logs", "saved"], server)
        #expect(
            list.output == "my saves: --last 60m --answered --operation records/modify\n", "\(list.output)")
        let named = try lines(try await run(["logs", "--saved", "my saves", "--json"], server))
        #expect(named.compactMap { $0["operation"] as? String } == ["records/modify"])
        // What is given beside it goes before.
        let other = try await run(["logs", "--saved", "my saves", "--operation", "none"], server)
        #expect(other.output.isEmpty)
        #expect(try await run(["logs", "forget", "my saves"], server).status == 0)
        for (words, status, text) in [
            (["logs", "--saved", "my saves"], Int32(66), "sealkit logs saved"),
            (["logs", "forget", "my saves"], 66, "unknownItem"), (["logs", "--failed", "--answered"], 64, "not both"),
            (["logs", "--csv", "--json"], 64, "not both"),
            (["logs", "--last", "1h", "--from", "2020-01-01"], 64, "not both"),
            (["logs", "--until", "yesterday"], 64, "--until"), (["logs", "--limit", "0"], 64, "--limit"),
            (["logs", "--user", "12"], 65, "hexadecimal"), (["logs", "save", "a\nb"], 65, "printable"),
        ] {
            let said = try await run(words, server)
            #expect(said.status == status, "\(words): \(said.output)\(said.errors)")
            #expect(said.errors.contains(text), "\(words): \(said.errors)")
        }
    }

    @Test func anOperatorSeesWhatHappened() async throws {
        let server = try ServerProcess(mail: false, arguments: ["--operator", "127.0.0.1:0", "--telemetry", "counts"])
        defer { server.stop() }
        let ann = try await Person(server)
        _ = try await ann.makeZone()
        let account = try #require(
            try lines(try await run(["admin", "accounts", "--json"], server)).first?["account"] as? String)
        #expect(try await run(["admin", "quota", account, "123456789"], server).status == 0)
        #expect(try await run(["admin", "suspend", account, "--reason", "=why, so"], server).status == 0)
        let text = try await run(["events"], server)
        #expect(text.status == 0, "\(text.errors)")
        let shown = text.output.split(separator: "\n")
        #expect(shown.count == 3)
        #expect(shown[0].contains("account-suspended") && shown[0].contains(account) && shown[0].contains("=why, so"))
        let json = try lines(try await run(["events", "--kind", "quota-set", "--json"], server))
        #expect(json.map { $0["detail"] as? String } == ["123456789 bytes"])
        let csv = try await run(["events", "--kind", "account-suspended", "--csv", "--last", "1h"], server)
        #expect(csv.output.hasPrefix("time,kind,container,environment,account,detail\n"))
        #expect(csv.output.contains(",account-suspended,,,\(account),\"'=why, so\"\n"), "\(csv.output)")
        #expect(try lines(try await run(["events", "--account", account, "--json"], server)).count == 3)
        #expect(try await run(["events", "--container", "none"], server).output.isEmpty)
        for (words, status, text) in [
            (["events", "--kind", "none"], Int32(64), "--kind"),
            (["events", "--account", "ffffff"], 66, "unknownItem"),
            (["events", "--limit", "0"], 64, "--limit"), (["events", "--csv", "--json"], 64, "not both"),
            (["events", "--from", "soon"], 64, "--from"), (["logs"], 0, "--telemetry counts"),
        ] {
            let said = try await run(words, server)
            #expect(said.status == status, "\(words): \(said.output)\(said.errors)")
            #expect(said.errors.contains(text), "\(words): \(said.errors)")
        }
    }

    @Test func anOperatorIsTold() async throws {
        let server = try ServerProcess(arguments: ["--operator", "127.0.0.1:0"])
        defer { server.stop() }
        try await server.mail?.waitUntilListening()
        let disk = ["alerts", "add", "disk", "--measure", "free-bytes", "--below", "1e18", "--mail", "me@example.org"]
        let added = try await run(disk, server)
        #expect(added.status == 0, "\(added.errors)")
        #expect(added.output.contains("free-bytes below 1000000000000000000"), "\(added.output)")
        // It is of the moment.
        #expect(!added.output.contains("minute"), "\(added.output)")
        let slow = [
            "alerts", "add", "slow", "--measure", "latency95", "--above-average", "3", "--minutes", "10", "--least",
            "100",
            "--container", "org.example.notes", "--mail", "me@example.org", "--json",
        ]
        let json = try lines(try await run(slow, server))
        #expect(json.first?["timesAverage"] as? Double == 3)
        #expect((json.first?["filters"] as? [String: String]) == ["container": "org.example.notes"])
        // It is looked at as it is added.
        var fired = false
        for _ in 0..<300 where !fired {
            let history = try await run(["alerts", "history", "disk", "--csv"], server)
            fired = history.output.contains(",disk,fired,")
            if !fired { try await Task.sleep(for: .milliseconds(100)) }
        }
        #expect(fired)
        let list = try await run(["alerts", "list"], server)
        #expect(list.output.contains("disk  fires since "), "\(list.output)")
        #expect(list.output.contains("slow  quiet\n"), "\(list.output)")
        let tested = try await run(["alerts", "test", "disk"], server)
        #expect(tested.status == 0, "\(tested.errors)")
        #expect(tested.output.contains("it would fire\n  me@example.org: taken"), "\(tested.output)")
        #expect(try await run(["alerts", "remove", "disk"], server).status == 0)
        let untold = Array(disk.dropLast(2))
        let refused: [(words: [String], status: Int32, text: String)] = [
            (["alerts", "remove", "disk"], 66, "unknownItem"), (["alerts", "test", "disk"], 66, "unknownItem"),
            (untold, 64, "--mail"), (disk + ["--above", "3"], 64, "--above"),
            (untold + ["--mail", "nobody"], 65, "name@example.org"),
            (untold + ["--webhook", "https://hooks.example.org/"], 65, "--webhook-allow"),
            (disk + ["--code", "x"], 65, "filters"), (disk + ["--minutes", "0"], 64, "--minutes"),
            (disk + ["--minutes", "181"], 65, "180"), (["alerts", "history", "--limit", "0"], 64, "--limit"),
        ]
        for (words, status, text) in refused {
            let said = try await run(words, server)
            #expect(said.status == status, "\(words): \(said.output)\(said.errors)")
            #expect(said.errors.contains(text), "\(words): \(said.errors)")
        }
    }
}
