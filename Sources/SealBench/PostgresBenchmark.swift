import Foundation
import SealLab

/// The same server on both engines, in turns: saves of one record and of 400, and look-ups, from 32 connections at
/// once, each with a zone of its own. PostgreSQL runs on this machine too, and has its part of the processors.
struct PostgresBenchmark {
    private static let rounds = 4
    private static let (batchesEach, batch) = (2, 400)

    private struct Engine {
        let server: ServerProcess
        let people: [BenchmarkPerson]
        var save = Double.infinity
        var batched = Double.infinity
        var lookup = Double.infinity

        init(_ server: ServerProcess) async throws {
            self.server = server
            var people: [BenchmarkPerson] = []
            for _ in 0..<ServerBenchmark.clients { people.append(try await BenchmarkPerson(server)) }
            self.people = people
        }

        /// Seconds for one of each.
        mutating func measure(_ round: Int) async throws {
            let requests = try await BenchmarkPerson.saves(
                ServerBenchmark.savesEach, named: "round-\(round)", of: people)
            let saves = try Load.run(port: server.port, requests, isGood: BenchmarkPerson.isSaved)
            save = min(save, saves / Double(people.count * ServerBenchmark.savesEach))
            var batches: [[[UInt8]]] = []
            for person in people {
                var own: [[UInt8]] = []
                for index in 0..<PostgresBenchmark.batchesEach {
                    own.append(
                        try await person.save((0..<PostgresBenchmark.batch).map { "batch-\(round)-\(index)-\($0)" }))
                }
                batches.append(own)
            }
            let inBatches = try Load.run(port: server.port, batches, isGood: BenchmarkPerson.isSaved)
            batched = min(
                batched, inBatches / Double(people.count * PostgresBenchmark.batchesEach * PostgresBenchmark.batch))
            let lookups = try people.map { Array(repeating: try $0.lookup(), count: ServerBenchmark.lookupsEach) }
            let seconds = try Load.run(port: server.port, lookups) { status, _ in status == 200 }
            lookup = min(lookup, seconds / Double(people.count * ServerBenchmark.lookupsEach))
        }
    }

    func run(_ report: inout Report) async throws {
        report.heading(
            "The server on PostgreSQL against SQLite, under \(ServerBenchmark.clients) clients at once, on loopback",
            "Both durable: synchronous=FULL, and fsync with synchronous_commit. PostgreSQL by its socket, on the same processors."
        )
        let postgres = try await PostgresProcess()
        let url = try await postgres.makeDatabase("bench")
        var engines: [Engine] = []
        defer { for engine in engines { engine.server.remove() } }
        for arguments in [[], ["--database-url", url]] {
            engines.append(try await Engine(try ServerProcess.temporary(arguments: arguments)))
        }
        for round in 0..<Self.rounds {
            for index in engines.indices { try await engines[index].measure(round) }
        }
        let (sqlite, other) = (engines[0], engines[1])
        report.row("saves of one record, SQLite", 1 / sqlite.save, "/s")
        report.row(
            "saves of one record, PostgreSQL", 1 / other.save, "/s", ratio: sqlite.save / other.save, aim: .atLeast(0.6)
        )
        report.row("records saved in batches of \(Self.batch), SQLite", 1 / sqlite.batched, "/s")
        report.row(
            "records saved in batches of \(Self.batch), PostgreSQL", 1 / other.batched, "/s",
            ratio: sqlite.batched / other.batched, aim: .atLeast(0.6))
        report.row("look-ups of one record, SQLite", 1 / sqlite.lookup, "/s")
        report.row(
            "look-ups of one record, PostgreSQL", 1 / other.lookup, "/s", ratio: sqlite.lookup / other.lookup,
            aim: .atLeast(0.5))
        await postgres.stop()
    }
}
