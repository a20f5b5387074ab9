import Foundation
import SealLab
import Testing

@testable import SealKit

/// `sealkit serve` on a PostgreSQL with a password, and what the commands for SQLite's file say there.
@Suite(
    .enabled("Tests/Support/postgres runs one beside a command") {
        ProcessInfo.processInfo.environment["SEALKIT_TEST_POSTGRES"] != nil
    }, .timeLimit(.minutes(60)))
struct DatabaseCommandTests {
    private static let password = "hidden-word"

    /// A PostgreSQL with an empty database, and the flags of a server that has it.
    private static func postgres(in folder: URL) async throws -> (process: PostgresProcess, flags: [String]) {
        let process = try await PostgresProcess(listens: true, isDurable: false)
        try await sql(process, "CREATE ROLE sealkit LOGIN PASSWORD '\(password)'")
        try await make("notes", process)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("password")
        try Data("\(password)\n".utf8).write(to: file)
        return (process, ["--database-url", url("notes", process), "--database-password-file", file.path])
    }

    private static func url(_ database: String, _ process: PostgresProcess) -> String {
        "postgresql://sealkit@localhost:\(process.port ?? 0)/\(database)?sslmode=verify-full&sslrootcert=\(process.authority)"
    }

    private static func sql(_ process: PostgresProcess, _ statement: String) async throws {
        try await run("psql", "--quiet", "--command", statement, process.url(of: "postgres"))
    }

    private static func make(_ database: String, _ process: PostgresProcess) async throws {
        try await process.makeDatabase(database, owner: "sealkit")
    }

    private static func run(_ program: String, _ arguments: String...) async throws {
        let said = try await Command.finished(URL(fileURLWithPath: "/usr/bin/\(program)"), arguments)
        try #require(said.status == 0, "\(program): \(said.errors)")
    }

    private static func sealkit(_ words: [String], environment: [String: String] = [:]) async throws -> Command {
        try await Command.finished(ServerProcess.executable, words, environment: environment)
    }

    /// The commands of PostgreSQL.md that copy a server, as one of these tests' own.
    private static func documentedBackup(of data: String, _ url: String, to backups: String) throws -> String {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/SealServer/Documentation.docc/PostgreSQL.md")
        let blocks = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```sh\n").dropFirst()
        let block = blocks.first { $0.contains("pg_dump --format=custom") }?.components(separatedBy: "```").first
        var commands = try #require(block)
        for (text, own) in [
            ("sudo -u sealkit env PGPASSFILE=/etc/sealkit/pgpass ", ""), ("/var/lib/sealkit", data),
            ("/var/backups/sealkit", backups), ("postgresql://sealkit@localhost/sealkit", url),
        ] {
            #expect(commands.contains(text), "\(text)")
            commands = commands.replacing(text, with: own)
        }
        return commands
    }

    /// What of rsync the commands ask for. Beside a file `end` it ends whoever asks.
    private static let rsync = """
        #!/bin/sh
        set -e
        if [ -e "${0%/*}/end" ]; then kill -KILL $PPID && exit 1; fi
        for word; do case "$word" in --delete) delete=yes ;; --*) ;; *) from=$to && to=$word ;; esac; done
        mkdir -p "$to"
        [ -z "$delete" ] || rm -rf "$to"/*
        tar -C "$from" --exclude="telemetry.sqlite*" --exclude="*.lock" -cf - . | tar -C "$to" -xf -
        """

    /// By the commands of the documentation, time and again; the last time they are killed before the copy is whole.
    @Test func aDumpIsRestored() async throws {
        let folder = ServerProcess.temporaryFolder()
        let (postgres, flags) = try await Self.postgres(in: folder)
        let first = try ServerProcess(folder: folder, mail: false, arguments: flags)
        let port = first.port
        let ann = try await Person(first)
        let zone = try await ann.makeZone()
        try await ann.saveFile("first", in: zone, bytes: 200_000, folder: folder)
        let line = try String(contentsOfFile: "/proc/\(first.identifier)/cmdline", encoding: .utf8)
        #expect(line.contains("--database-url") && !line.contains(Self.password))

        // While the server runs, and deletes no asset meanwhile.
        let (files, tools, backups) = (
            FileManager.default, folder.appendingPathComponent("tools").path,
            folder.appendingPathComponent("backups").path
        )
        for path in [tools, backups] { try files.createDirectory(atPath: path, withIntermediateDirectories: true) }
        try Data(Self.rsync.utf8).write(to: URL(fileURLWithPath: tools + "/rsync"))
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tools + "/rsync")
        let commands = try Self.documentedBackup(
            of: first.dataFolder.path, postgres.url(of: "notes"), to: backups)
        func backUp() async throws -> Command {
            try await Command.finished(
                URL(fileURLWithPath: "/bin/sh"), ["-c", "PATH=\"$1:$PATH\"\n" + commands, "sh", tools])
        }
        let note = first.dataFolder.path + "/last-backup"
        for name in ["first", "second"] {
            if name != "first" { try await ann.saveFile(name, in: zone, bytes: 70_000, folder: folder) }
            try files.setAttributes([.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: note)
            let said = try await backUp()
            try #require(said.status == 0, "\(said.errors)")
            let made = try files.attributesOfItem(atPath: note)[.modificationDate] as? Date
            #expect(made ?? .distantPast > Date(timeIntervalSince1970: 0))
        }
        try await ann.own.deleteRecord(withID: Record.ID(recordName: "first", zoneID: zone))
        try await ann.own.save(ann.note(in: zone, "after", name: "after"))
        try Data().write(to: URL(fileURLWithPath: tools + "/end"))
        #expect(try await backUp().status != 0)
        // Nor does a folder without the server's data take the place of its copy.
        try files.moveItem(atPath: first.dataFolder.path + "/postgresql", toPath: tools + "/postgresql")
        try files.removeItem(atPath: tools + "/end")
        #expect(try await backUp().status != 0)
        try files.moveItem(atPath: tools + "/postgresql", toPath: first.dataFolder.path + "/postgresql")
        let (dump, copy) = (backups + "/database.dump", backups + "/data")
        first.terminate()
        for text in [first.log, line] { #expect(!text.contains(Self.password)) }
        #expect(first.log.contains("the database notes at localhost"))

        try await Self.sql(postgres, "DROP DATABASE notes")
        try await Self.make("notes", postgres)
        try await Self.run(
            "pg_restore", "--exit-on-error", "--no-owner", "--role=sealkit", "--dbname", postgres.url(of: "notes"), dump
        )
        try FileManager.default.removeItem(at: first.dataFolder)
        try FileManager.default.moveItem(atPath: copy, toPath: first.dataFolder.path)
        let second = try ServerProcess(folder: folder, port: port, mail: false, arguments: flags)
        let reader = try ann.onFreshDevice()
        #expect(try await reader.hasFile("first", in: zone, bytes: 200_000))
        #expect(try await reader.hasFile("second", in: zone, bytes: 70_000))
        await #expect(throws: SealKitError.self) {
            try await reader.own.record(for: Record.ID(recordName: "after", zoneID: zone))
        }
        try await ann.own.save(ann.note(in: zone, "again", name: "again"))
        second.stop()
        await postgres.stop()
    }

    @Test func whatCannotBeIsToldByName() async throws {
        let folder = ServerProcess.temporaryFolder()
        let (postgres, flags) = try await Self.postgres(in: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = folder.appendingPathComponent("data").path
        let address = Self.url("notes", postgres)
        func serve(_ url: String, _ password: String? = Self.password) async throws -> Command {
            try await Self.sealkit(
                ["serve", "--data", data, "--listen", "127.0.0.1:0", "--log-level", "trace"],
                environment: ["SEALKIT_DATABASE_URL": url].merging(
                    password.map { ["SEALKIT_DATABASE_PASSWORD": $0] } ?? [:]
                ) { $1 })
        }
        for (url, password, status, part) in [
            (address, "wrong-word", Int32(69), "password authentication failed"),
            (address.replacing("/notes", with: "/other"), Self.password, 69, "does not exist"),
            (address.replacing("localhost:\(postgres.port ?? 0)", with: "localhost:1"), Self.password, 69, "refused"),
            ("postgresql://sealkit:secret-word@localhost/notes", nil, 65, "without a password"),
            ("postgresql://sealkit@db.example.org/notes", Self.password, 65, "sslmode=verify-full"),
        ] as [(String, String?, Int32, String)] {
            let said = try await serve(url, password)
            #expect(said.status == status, "\(said.errors)")
            #expect(said.errors.contains(part), "\(said.errors)")
            for secret in [Self.password, "wrong-word", "secret-word"] {
                #expect(!said.errors.contains(secret) && !said.output.contains(secret))
            }
        }
        try await Self.sql(
            postgres, "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' OWNER sealkit")
        let latin = try await serve(address.replacing("/notes", with: "/latin"))
        #expect(latin.status == 65)
        #expect(latin.errors.contains("encoding LATIN1") && latin.errors.contains("createdb"), "\(latin.errors)")

        // Commands for SQLite's file: by the settings, and by the folder.
        let server = try ServerProcess(folder: folder, mail: false, arguments: flags)
        let place = folder.appendingPathComponent("place").path
        for environment in [["SEALKIT_DATABASE_URL": address], [:]] {
            for (words, part) in [
                (["backup", "--to", place], "pg_dump"), (["check"], "pg_amcheck"),
                (["restore", "--from", place], "pg_restore"),
            ] {
                let said = try await Self.sealkit(words + ["--data", data], environment: environment)
                #expect(said.status == 65, "\(words): \(said.errors)")
                #expect(
                    said.errors.contains("PostgreSQL") || said.errors.contains("the database notes"), "\(said.errors)")
                #expect(said.errors.contains(part), "\(said.errors)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: place))
        // And a server that is not told of it.
        server.terminate()
        let without = try await Self.sealkit(["serve", "--data", data, "--listen", "127.0.0.1:0"])
        #expect(without.status == 65)
        #expect(without.errors.contains("goes with the database notes"), "\(without.errors)")
        await postgres.stop()
    }

    // MARK: Moving

    /// With the command, as an operator does it: a client's own change token goes on after a move there and one back.
    @Test func aServerMovesThereAndBack() async throws {
        let folder = ServerProcess.temporaryFolder()
        let (postgres, flags) = try await Self.postgres(in: folder)
        let first = try ServerProcess(folder: folder, mail: false)
        let (port, data) = (first.port, first.dataFolder.path)
        let ann = try await Person(first)
        let zone = try await ann.makeZone()
        try await ann.saveFile("first", in: zone, bytes: 200_000, folder: folder)
        let token = try await ann.own.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        // It runs.
        let running = try await Self.sealkit(["migrate-storage", "--to", "postgresql", "--data", data] + flags)
        #expect(running.status == 75, "\(running.errors)")
        first.terminate()

        let there = try await Self.sealkit(["migrate-storage", "--to", "postgresql", "--data", data, "--json"] + flags)
        #expect(there.status == 0, "\(there.errors)")
        let second = try ServerProcess(folder: folder, port: port, mail: false, arguments: flags)
        try await ann.own.save(ann.note(in: zone, "on PostgreSQL", name: "second"))
        #expect(
            try await ann.own.recordZoneChanges(inZoneWith: zone, since: token).modificationResultsByID.count == 1)
        second.terminate()

        let back = try await Self.sealkit(["migrate-storage", "--to", "sqlite", "--data", data, "--quiet"] + flags)
        #expect(back.status == 0, "\(back.errors)")
        #expect(back.output.trimmingCharacters(in: .whitespacesAndNewlines).count == 64)
        let third = try ServerProcess(folder: folder, port: port, mail: false)
        try await ann.own.save(ann.note(in: zone, "on SQLite", name: "third"))
        let reader = try ann.onFreshDevice()
        #expect(try await reader.hasFile("first", in: zone, bytes: 200_000))
        #expect(
            try await ann.own.recordZoneChanges(inZoneWith: zone, since: token).modificationResultsByID.count == 2)
        third.terminate()
        let check = try await Self.sealkit(["check", "--data", data])
        #expect(check.status == 0, "\(check.output)")
        for said in [there, back] {
            #expect(!said.errors.contains(Self.password) && !said.output.contains(Self.password))
        }
        await postgres.stop()
    }

    /// Killed at any place, the command leaves the target as it was or finishes when it is run again.
    @Test func aMoveThatWasKilledIsRunAgain() async throws {
        let folder = ServerProcess.temporaryFolder()
        let (postgres, flags) = try await Self.postgres(in: folder)
        let server = try ServerProcess(folder: folder, mail: false)
        let (port, data) = (server.port, server.dataFolder.path)
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        for batch in 0..<10 {
            let notes = (0..<100).map { ann.note(in: zone, "note", name: "n\(batch)-\($0)") }
            _ = try await ann.own.modifyRecords(saving: notes, deleting: [])
        }
        server.terminate()
        // By a process of its own: what sleeps in this one is woken late where many tests run.
        func isKilled(_ engine: String, after milliseconds: Int) async throws -> Bool {
            let words = [ServerProcess.executable.path, "migrate-storage", "--to", engine, "--data", data, "--quiet"]
            let command = try await Command.finished(
                URL(filePath: "/usr/bin/timeout"),
                ["--signal=KILL", String(format: "%.3f", Double(milliseconds) / 1_000)] + words + flags)
            return [SIGKILL, 128 + SIGKILL].contains(command.status)
        }
        var digests: Set<String> = []
        for engine in ["postgresql", "sqlite"] {
            var kills = 0
            for milliseconds in stride(from: 20, through: 900, by: 80) {
                guard try await isKilled(engine, after: milliseconds) else { break }
                kills += 1
            }
            #expect(kills > 1)
            let said = try await Self.sealkit(
                ["migrate-storage", "--to", engine, "--data", data, "--quiet"] + flags)
            // One of those that were to be killed may have come to its end.
            #expect(said.status == 0 || said.errors.contains("already") || said.errors.contains("has no database"))
            if said.status == 0 { digests.insert(said.output) }
        }
        #expect(digests.count <= 1)
        let again = try ServerProcess(folder: folder, port: port, mail: false)
        let reader = try ann.onFreshDevice()
        #expect(try await reader.own.recordZoneChanges(inZoneWith: zone, since: nil).modificationResultsByID.count > 0)
        again.terminate()
        let check = try await Self.sealkit(["check", "--data", data])
        #expect(check.status == 0, "\(check.output)")
        await postgres.stop()
    }
}
