import Foundation
import SealLab

/// What the server takes: one-record saves and look-ups from 32 connections at once. The clients are threads on plain
/// sockets whose requests were sealed and signed before the clock starts, so that both cores are the server's.
struct ServerBenchmark {
    static let clients = 32
    static let savesEach = 600
    static let lookupsEach = 600

    func run(_ report: inout Report) async throws {
        report.heading(
            "The server under \(Self.clients) clients at once, on loopback",
            "Requests are sealed and signed beforehand; clients are threads on plain sockets. Commits are durable: synchronous=FULL."
        )
        let limit = try RawSQLite()
        let server = try ServerProcess.temporary()
        defer { server.remove() }
        var people: [BenchmarkPerson] = []
        for _ in 0..<Self.clients { people.append(try await BenchmarkPerson(server)) }
        try await saves(people, server, limit, &report)
        try await lookups(people, server, &report)
    }

    private func saves(
        _ people: [BenchmarkPerson], _ server: ServerProcess, _ limit: RawSQLite, _ report: inout Report
    ) async throws {
        var best = Double.infinity
        var single = Double.infinity
        var grouped = Double.infinity
        for round in 0..<3 {
            let requests = try await BenchmarkPerson.saves(Self.savesEach, named: "round-\(round)", of: people)
            single = min(single, try limit.seconds(commits: 2_000, rowsEach: 1) / 2_000)
            grouped = min(grouped, try limit.seconds(commits: 200, rowsEach: Self.clients) / Double(200 * Self.clients))
            let seconds = try Load.run(port: server.port, requests, isGood: BenchmarkPerson.isSaved)
            best = min(best, seconds / Double(Self.clients * Self.savesEach))
        }
        report.row("bare SQLite, one commit a row of the same size", 1 / single, "/s")
        report.row("bare SQLite, \(Self.clients) rows a commit", 1 / grouped, "/s")
        report.row("saves of one record, durable", 1 / best, "/s", aim: .atLeast(10_000))
    }

    private func lookups(_ people: [BenchmarkPerson], _ server: ServerProcess, _ report: inout Report) async throws {
        let lookups = try people.map { try $0.lookup() }
        let connection = try HTTPConnection(port: server.port)
        try connection.send(lookups[0])
        let found = try connection.receive().body.count
        let bare = try BareServer(answering: found)
        defer { bare.stop() }
        let own = lookups.map { Array(repeating: $0, count: Self.lookupsEach) }
        var best = Double.infinity
        var limit = Double.infinity
        for _ in 0..<5 {
            limit = min(limit, try Load.run(port: bare.port, own) { $0 == 200 && $1.count == found })
            best = min(best, try Load.run(port: server.port, own) { $0 == 200 && $1.count == found })
        }
        let count = Double(Self.clients * Self.lookupsEach)
        report.row("bare Hummingbird route, \(found) bytes", count / limit, "/s")
        report.row("look-ups of one record", count / best, "/s", ratio: limit / best, aim: .atLeast(0.5))
    }
}
