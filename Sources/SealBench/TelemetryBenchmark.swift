import Foundation
import SealKit
import SealLab
import SealWire
import SwiftProtobuf

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

    private struct Side {
        let server: ServerProcess
        let people: [BenchmarkPerson]
        var times: [Double] = []
        var processor = 0.0
    }

    func run(_ report: inout Report) async throws {
        report.heading(
            "Telemetry: \(Self.clients) clients at once, on a server with it and on one without, in turns",
            "Ratios are without to with, of \(Self.rounds) pairs: their median, and of the processor's time the sums.")
        var sides: [Side] = []
        defer { for side in sides { side.server.remove() } }
        for word in ["off", "on"] {
            let server = try ServerProcess.temporary(arguments: ["--telemetry", word] + ServerProcess.withoutRates)
            var people: [BenchmarkPerson] = []
            for _ in 0..<Self.clients { people.append(try await BenchmarkPerson(server)) }
            sides.append(Side(server: server, people: people))
        }
        try await measure("look-ups of one record", &sides, &report) { person, _ in
            Array(repeating: try person.lookup(), count: Self.lookupsEach)
        }
        try await measure("saves of one record, durable", &sides, &report) { person, round in
            var requests: [[UInt8]] = []
            for index in 0..<Self.savesEach { requests.append(try await person.save("telemetry-\(round)-\(index)")) }
            return requests
        }
    }

    private func measure(
        _ what: String, _ sides: inout [Side], _ report: inout Report,
        _ requests: (BenchmarkPerson, Int) async throws -> [[UInt8]]
    ) async throws {
        for side in sides.indices { (sides[side].times, sides[side].processor) = ([], 0) }
        // The first round warms both up.
        for round in 0...Self.rounds {
            for place in sides.indices {
                // Each goes first as often as the other.
                let side = round % 2 == 0 ? place : sides.count - 1 - place
                var all: [[[UInt8]]] = []
                for person in sides[side].people { all.append(try await requests(person, round)) }
                let before = Self.processorSeconds(of: sides[side].server)
                let seconds = try Load.run(port: sides[side].server.port, all) { status, _ in status == 200 }
                guard round > 0 else { continue }
                sides[side].times.append(seconds / Double(all.reduce(0) { $0 + $1.count }))
                sides[side].processor += Self.processorSeconds(of: sides[side].server) - before
            }
        }
        let ratios = zip(sides[0].times, sides[1].times).map { $0 / $1 }.sorted()
        for (word, side) in zip(["without", "with"], sides) {
            report.row("\(what), \(word) telemetry", 1 / Self.median(side.times), "/s")
        }
        report.cost("\(what): what telemetry costs of throughput", 1 - Self.median(ratios), aim: Self.aim)
        report.cost(
            "\(what): what it takes of the processor's time",
            sides[1].processor / max(sides[0].processor, .leastNonzeroMagnitude) - 1, aim: Self.aim)
        report.spread("its pairs", ratios.map { 1 - $0 })
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// Of the process's user and system time so far; 0 where the system does not tell.
    private static func processorSeconds(of server: ServerProcess) -> Double {
        let stat = (try? String(contentsOfFile: "/proc/\(server.identifier)/stat", encoding: .utf8)) ?? ""
        // What is in parentheses is the program's name.
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
