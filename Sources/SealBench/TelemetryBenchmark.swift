import Foundation
import SealLab

/// What counting and logging every request costs: the same load on two servers in turns, one with telemetry and one
/// without. By throughput, as the median of pairs, since what disturbs the machine seldom disturbs both of one; and by
/// the processor's time that each server took for all of it, its writes of each minute included, which is steadier.
struct TelemetryBenchmark {
    static let clients = 16
    static let rounds = 21
    static let lookupsEach = 600
    static let savesEach = 150
    /// Of throughput, that telemetry may cost.
    static let aim = 0.01
    /// After the last request: what was counted is written once a minute.
    static let rest = Duration.seconds(65)

    private struct Side {
        let server: ServerProcess
        let people: [BenchmarkPerson]
        var times: [Double] = []
    }

    func run(_ report: inout Report) async throws {
        report.heading(
            "Telemetry: \(Self.clients) clients at once, on a server with it and on one without, in turns",
            """
            Ratios are without to with, of \(Self.rounds) pairs: their median, and of the processor's time all that each server
            took, until it was at rest.
            """)
        var sides: [Side] = []
        defer { for side in sides { side.server.remove() } }
        for word in ["off", "on"] {
            let server = try ServerProcess.temporary(arguments: ["--telemetry", word] + ServerProcess.withoutRates)
            var people: [BenchmarkPerson] = []
            for _ in 0..<Self.clients { people.append(try await BenchmarkPerson(server)) }
            sides.append(Side(server: server, people: people))
        }
        try await measure("look-ups of one record", &sides, &report, isGood: { status, _ in status == 200 }) {
            people, _ in
            try people.map { Array(repeating: try $0.lookup(), count: Self.lookupsEach) }
        }
        try await measure("saves of one record, durable", &sides, &report, isGood: BenchmarkPerson.isSaved) {
            people, round in
            try await BenchmarkPerson.saves(Self.savesEach, named: "telemetry-\(round)", of: people)
        }
    }

    private func measure(
        _ what: String, _ sides: inout [Side], _ report: inout Report,
        isGood: @escaping @Sendable (Int, Data) -> Bool,
        _ requests: ([BenchmarkPerson], Int) async throws -> [[[UInt8]]]
    ) async throws {
        for side in sides.indices { sides[side].times = [] }
        let before = sides.map(\.server.processorSeconds)
        // The first round warms both up.
        for round in 0...Self.rounds {
            for place in sides.indices {
                // Each goes first as often as the other.
                let side = round % 2 == 0 ? place : sides.count - 1 - place
                let all = try await requests(sides[side].people, round)
                let seconds = try Load.run(port: sides[side].server.port, all, isGood: isGood)
                guard round > 0 else { continue }
                sides[side].times.append(seconds / Double(all.reduce(0) { $0 + $1.count }))
            }
        }
        try await Task.sleep(for: Self.rest)
        let processor = zip(sides, before).map { $0.server.processorSeconds - $1 }
        let ratios = zip(sides[0].times, sides[1].times).map { $0 / $1 }
        for (word, side) in zip(["without", "with"], sides) {
            report.row("\(what), \(word) telemetry", 1 / Report.middle(side.times), "/s")
        }
        report.cost("\(what): what telemetry costs of throughput", 1 - Report.middle(ratios), aim: Self.aim)
        // 0 where the system does not tell.
        if processor[0] > 0 {
            report.cost(
                "\(what): what it takes of the processor's time", processor[1] / processor[0] - 1, aim: Self.aim)
        }
        report.spread("its pairs", ratios.map { 1 - $0 })
    }
}
