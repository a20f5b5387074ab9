import Foundation
import SealLab
import SealWire
import SwiftProtobuf
import Synchronization

/// What others notice while somebody tries to verify one address a thousand times a second: asks for codes to it, and
/// sends codes back.
struct VerificationBenchmark {
    static let attemptsPerSecond = 1_000
    private static let attackers = 8
    private static let rounds = 5
    private static let requestsEach = 300
    private static let address = "target@example.org"

    func run(_ report: inout Report) async throws {
        report.heading(
            "\(Self.attemptsPerSecond) verification attempts a second against one address",
            """
            \(Self.attackers) accounts ask for codes to one address and guess at them, evenly paced, while one other person saves \
            and looks up records, one at a time. Quiet and attacked stretches take turns.
            """)
        // Mail goes nowhere: its relay is down, as it would be under such a load.
        let server = try ServerProcess.temporary(
            arguments: [
                "--smtp-url", "smtp://127.0.0.1:9", "--smtp-from", "codes@example.org", "--smtp-starttls", "off",
            ])
        defer { server.remove() }
        let victim = try await BenchmarkPerson(server)
        var attackers: [BenchmarkPerson] = []
        for _ in 0..<Self.attackers { attackers.append(try await BenchmarkPerson(server)) }
        let attempts = try attackers.map { attacker in
            [
                try attacker.post(
                    "/1/verification/begin",
                    Sealkit_V1_BeginVerificationRequest.with {
                        $0.container = BenchmarkPerson.container
                        $0.address = Self.address
                    }),
                try attacker.post(
                    "/1/verification/complete",
                    Sealkit_V1_CompleteVerificationRequest.with {
                        $0.verificationID = Data(repeating: 7, count: 16)
                        $0.address = Self.address
                        $0.code = "12345678"
                        $0.signature = Data(count: 64)
                    }),
            ]
        }
        var (quietSaves, quietLookups, saves, lookups): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        var rate = Double.infinity
        var statuses: [Int: Int] = [:]
        for round in 0..<Self.rounds {
            var requests: [[[UInt8]]] = []
            for part in 0..<2 {
                var own: [[UInt8]] = []
                for index in 0..<Self.requestsEach {
                    own.append(try await victim.save("round-\(round)-\(part)-\(index)"))
                }
                requests.append(own)
            }
            let lookup = Array(repeating: try victim.lookup(), count: Self.requestsEach)
            quietSaves += try Self.seconds(server, requests[0])
            quietLookups += try Self.seconds(server, lookup)
            let attack = try Attack(server, attempts, perSecond: Self.attemptsPerSecond)
            saves += try Self.seconds(server, requests[1])
            lookups += try Self.seconds(server, lookup)
            let end = try attack.end()
            rate = min(rate, end.perSecond)
            statuses.merge(end.statuses, uniquingKeysWith: +)
        }
        let wanted = Double(Self.attemptsPerSecond)
        report.row("attempts that were answered, at the slowest", rate, "/s", aim: .atLeast(wanted * 0.95))
        // A limit may refuse nearly all of them: what it is that was so fast is said by this.
        let attempted = Double(statuses.values.reduce(0, +))
        for (status, count) in statuses.sorted(by: { $0.key < $1.key }) {
            report.row("  of them with HTTP status \(status)", Double(count) / attempted * 100, "%")
        }
        for (name, quiet, attacked) in [("saves", quietSaves, saves), ("look-ups", quietLookups, lookups)] {
            for (share, word) in [(0.5, "median"), (0.95, "95 %")] {
                let (limit, value) = (Self.quantile(quiet, share), Self.quantile(attacked, share))
                report.row("\(name) when it is quiet, \(word)", limit * 1_000, "ms")
                report.row("\(name) meanwhile, \(word)", value * 1_000, "ms", ratio: value / limit, aim: .atMost(2))
            }
        }
    }

    /// How long each request took, one after the other.
    private static func seconds(_ server: ServerProcess, _ requests: [[UInt8]]) throws -> [Double] {
        let connection = try HTTPConnection(port: server.port)
        return try requests.map { request in
            let start = ContinuousClock.now
            try connection.send(request)
            guard try connection.receive().status == 200 else { throw Refused() }
            return (ContinuousClock.now - start) / .seconds(1)
        }
    }

    private static func quantile(_ values: [Double], _ share: Double) -> Double {
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    /// Somebody who was not attacked was refused.
    private struct Refused: Error {}

    /// Evenly paced attempts, each attacker on a connection and a thread of its own.
    private final class Attack: Sendable {
        private struct State {
            var isOver = false
            /// Answers by their status.
            var answered: [Int: Int] = [:]
            var failure: (any Error)?
        }
        private let state = Mutex(State())
        private let group = DispatchGroup()
        private let start = ContinuousClock.now

        init(_ server: ServerProcess, _ attempts: [[[UInt8]]], perSecond: Int) throws {
            let pause = Duration.seconds(1) * Double(attempts.count) / Double(perSecond)
            for own in attempts {
                let sender = Sender(connection: try HTTPConnection(port: server.port))
                group.enter()
                Thread.detachNewThread { [self] in
                    attack(sender, own, pause: pause)
                    group.leave()
                }
            }
        }

        /// Attempts a second that were answered, and all of the answers by their status.
        func end() throws -> (perSecond: Double, statuses: [Int: Int]) {
            state.withLock { $0.isOver = true }
            group.wait()
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            return try state.withLock { state in
                if let failure = state.failure { throw failure }
                return (Double(state.answered.values.reduce(0, +)) / seconds, state.answered)
            }
        }

        private func attack(_ sender: Sender, _ attempts: [[UInt8]], pause: Duration) {
            var due = ContinuousClock.now
            var count = 0
            var statuses: [Int: Int] = [:]
            do {
                while !state.withLock({ $0.isOver }) {
                    try sender.connection.send(attempts[count % attempts.count])
                    let status = try sender.connection.receive().status
                    statuses[status, default: 0] += 1
                    count += 1
                    due += pause
                    let left = (due - ContinuousClock.now) / .seconds(1)
                    if left > 0 { Thread.sleep(forTimeInterval: left) }
                }
            } catch {
                state.withLock { $0.failure = error }
            }
            state.withLock { [statuses] in $0.answered.merge(statuses, uniquingKeysWith: +) }
        }

        /// A connection that its one thread takes along.
        private struct Sender: @unchecked Sendable { let connection: HTTPConnection }
    }
}
