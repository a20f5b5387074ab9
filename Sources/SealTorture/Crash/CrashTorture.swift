import Foundation
import SealKit
import SealLab

/// Kills the server at random moments under load, over and over, and checks after each restart what was promised.
struct CrashTorture {
    let seed: UInt64
    let rounds: Int

    static let container = "org.sealkit.torture"
    private static let devices = 4

    struct Totals {
        var rounds = 0
        var killedWhileStarting = 0
        var requests = 0
        var count = Inspection.Count()
    }

    func run() async throws -> Totals {
        var random = SeededRandom(seed: seed)
        let folder = ServerProcess.temporaryFolder()
        var server = try ServerProcess(folder: folder)
        defer { server.remove() }
        try server.waitUntilListening()
        let port = server.port
        let journal = Journal()
        let load = try await Load.make(server.origin, devices: Self.devices, journal: journal, folder: folder, random: &random)
        let transport = try HTTPTransport(server: server.origin)
        let base = "/database/1/\(Self.container)/development/private"
        var states: [String: Feed.State] = [:]
        for zone in load.zones { states[zone.zoneName] = Feed.State() }

        var totals = Totals()
        for round in 1...rounds {
            journal.begin(round: round)
            // From before the first request to the middle of many; most often, and the first time, after something was answered.
            let isEarly = round > 1 && random.chance(20)
            let moment = Duration.milliseconds(random.below(isEarly ? 10 : 500))
            await withTaskGroup(of: Void.self) { group in
                for worker in load.workers { group.addTask { await worker.run() } }
                while !isEarly, !journal.hasAnswer(of: round), journal.unexpected.isEmpty { try? await Task.sleep(for: .milliseconds(2)) }
                try? await Task.sleep(for: moment)
                journal.goDown()
                server.kill()
            }
            try check(journal.unexpected.isEmpty, "a client met an error that it should not: \(journal.unexpected.prefix(3))")
            if random.chance(25) {
                let doomed = try ServerProcess(folder: folder, port: port)
                try await Task.sleep(for: .milliseconds(random.below(80)))
                doomed.kill()
                totals.killedWhileStarting += 1
            }
            server = try ServerProcess(folder: folder, port: port)
            try server.waitUntilListening()
            let inspection = Inspection(
                journal: journal, feed: Feed(transport: transport, base: base, token: journal.token), round: round)
            let count = try await inspection.run(&states, limit: random.chance(50) ? 1 + random.below(50) : 0)
            try DatabaseCheck(dataFolder: server.dataFolder).run()
            try await checkAssets(load, states, random: &random)
            try check(server.log.isEmpty, "the server's log has errors: \(server.log.suffix(1000))")
            totals.rounds += 1
            totals.count.acknowledged = count.acknowledged
            totals.count.lost += count.lost
            totals.count.lostApplied += count.lostApplied
            totals.count.repeated += count.repeated
        }
        totals.requests = journal.operations.count
        return totals
    }

    /// A device that has seen nothing opens some records that have assets: their bytes are there and verify.
    private func checkAssets(_ load: Load, _ states: [String: Feed.State], random: inout SeededRandom) async throws {
        let reader = try load.freshDevice()
        for zone in load.zones {
            let names = (states[zone.zoneName]?.items ?? [:]).filter { !$0.value.assets.isEmpty }.keys.sorted()
            guard let name = random.one(of: names) else { continue }
            let record = try await reader.record(for: Record.ID(recordName: name, zoneID: zone))
            let asset: Asset? = record["scan"]
            let file = asset?.fileURL
            defer { if let file { try? FileManager.default.removeItem(at: file) } }
            try check(
                file.flatMap { try? Data(contentsOf: $0) } == load.assetBytes, "the asset of \(name) is not what was saved")
        }
    }
}

extension CrashTorture.Totals {
    /// What was proven.
    var text: String {
        """
        The server was killed \(rounds) times under load, and \(killedWhileStarting) times more while it started.
          \(requests) requests; all \(count.acknowledged) acknowledged writes are there, none that was refused.
          \(count.lost) requests got no answer: \(count.lostApplied) of them had happened, as a whole where they were atomic, \
        and each had one effect when it was repeated, twice.
          \(count.repeated) answered requests were repeated: the same answers, no effect. All change tokens went on working and \
        delivered exactly what changed.
          The database passed its integrity check each time; no blob, file or record was left without an owner.
        """
    }
}
