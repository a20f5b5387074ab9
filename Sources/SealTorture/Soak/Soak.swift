import Foundation
import SealKit
import SealLab

/// Load that does not end: clients with mixed work, which are cut off in the middle of it, and half of which listen to
/// an event stream, before a server that is killed a few times and then has to live. Its memory stays flat, all its
/// files are given back, and what was acknowledged is there at the end.
struct Soak {
    let seed: UInt64
    let minutes: Int
    let clients: Int

    static let container = "org.sealkit.soak"
    private static let clientsOfAPerson = 10
    private static let kills = 3
    /// Of the memory in the first fifth of the time that counts.
    private static let mostDrift = 0.05

    struct Totals {
        var clients = 0
        var minutes = 0.0
        var cut = 0
        var heard = 0
        var kept = 0
        var latencies: [String: Latencies] = [:]
        var ownMegabytes = SoakSamples.Drift()
        var megabytes = SoakSamples.Drift()
        var clientMegabytes = SoakSamples.Drift()
        var files = SoakSamples.Drift()
        var filesBefore = 0
        var filesAfter = 0
    }

    /// In seconds: the kills come first, then the server warms up, and the rest counts.
    private var whole: Double { Double(minutes) * 60 }
    private var warmUp: Double { min(600, whole / 3) }

    func run() async throws -> Totals {
        var random = SeededRandom(seed: seed)
        let folder = ServerProcess.temporaryFolder()
        var server = try ServerProcess(folder: folder, arguments: ServerProcess.withoutRates)
        defer { server.remove() }
        try server.waitUntilListening()
        let (port, filesBefore) = (server.port, server.openFiles)
        let notes = SoakNotes()
        let people = try await SoakPerson.make(
            count: max(2, clients / Self.clientsOfAPerson), clientsOfEach: Self.clientsOfAPerson, server, notes,
            &random)
        let all = people.flatMap(\.clients)
        let begin = ContinuousClock.now
        let work = Task {
            await withTaskGroup(of: Void.self) { group in
                for client in all {
                    group.addTask { await client.work() }
                    if client.isListening { group.addTask { await client.listen() } }
                }
            }
        }
        defer { work.cancel() }
        var stopped = StoppedCheck()
        for _ in 0..<Self.kills {
            try await Task.sleep(for: .seconds(whole / 60 + Double(random.below(1_000)) / 1_000))
            notes.serverIsDown(true)
            server.kill()
            try await stopped.run(server.dataFolder)
            server = try ServerProcess(folder: folder, port: port, arguments: ServerProcess.withoutRates)
            try server.waitUntilListening()
            notes.serverIsDown(false)
        }
        try await Task.sleep(for: .seconds(warmUp))
        notes.forgetLatencies()
        let samples = try await sample(server, notes, until: begin + .seconds(whole))
        for client in all where client.isListening {
            // A stream waits up to a minute between two tries.
            try await until(
                within: patience * 2, "\(client.name) listens and was told of nothing since the last kill"
            ) {
                await client.heardIn == notes.life || !notes.unexpected.isEmpty
            }
        }
        let minutes = (ContinuousClock.now - begin) / .seconds(60)
        work.cancel()
        await work.value
        for person in people { try await person.hangUp() }

        var totals = Totals()
        (totals.clients, totals.minutes, totals.cut, totals.heard) = (all.count, minutes, notes.cut, notes.heard)
        (totals.latencies, totals.files) = (notes.latencies, samples.files)
        (totals.ownMegabytes, totals.megabytes) = (samples.ownMegabytes, samples.megabytes)
        totals.clientMegabytes = samples.clientMegabytes
        totals.filesBefore = filesBefore
        for person in people { totals.kept += try await person.inspect(server.origin) }
        totals.filesAfter = try await settledFiles(of: server, atMost: filesBefore + SoakSamples.keptFiles)
        try check(notes.unexpected.isEmpty, "clients met what they should not: \(notes.unexpected.prefix(5))")
        try check(server.log.isEmpty, "the server's log has errors: \(server.log.suffix(1_000))")
        try check(totals.cut > 0, "nobody was cut off")
        try check(totals.kept > 0, "no record was there to compare")
        try check(
            totals.filesAfter <= filesBefore + SoakSamples.keptFiles,
            "the server holds \(totals.filesAfter) files without a client, \(filesBefore) at its start")
        // A short run says nothing about what grows slowly.
        try check(
            samples.ownMegabytes.part <= Self.mostDrift || whole < 1_200,
            "the server's memory grew: \(samples.ownMegabytes.text("MiB"))")
        server.terminate()
        try await stopped.run(server.dataFolder)
        try DatabaseCheck(dataFolder: server.dataFolder).run()
        return totals
    }

    private func sample(
        _ server: ServerProcess, _ notes: SoakNotes, until end: ContinuousClock.Instant
    ) async throws -> SoakSamples {
        var samples = SoakSamples()
        repeat {
            try await Task.sleep(for: .seconds(min(5, whole / 60)))
            try check(server.isRunning, "the server has ended: \(server.log.suffix(1_000))")
            samples.add(server)
            // An hour is long for what shows in the first minute.
            try check(notes.unexpected.count < 100, "clients met what they should not: \(notes.unexpected.prefix(5))")
        } while ContinuousClock.now < end
        return samples
    }

    /// Waits until the clients' connections, which they keep for a minute, are closed, and the server has noticed it.
    private func settledFiles(of server: ServerProcess, atMost wanted: Int) async throws -> Int {
        for _ in 0..<120 where server.openFiles > wanted { try await Task.sleep(for: .seconds(1)) }
        return server.openFiles
    }
}

extension Soak.Totals {
    /// What was proven.
    var text: String {
        let lines = latencies.sorted { $0.key < $1.key }.map { "    \($0.key): \($0.value.text)" }
        return """
            \(clients) clients worked for \(String(format: "%.1f", minutes)) minutes, cut off \(cut) times in the middle; the \
            streams told \(heard) notifications; all \(kept) records are as they were acknowledged.
              Memory of the server: \(ownMegabytes.text("MiB")), with mapped files \(megabytes.text("MiB")); files: \
            \(files.text("")); without clients \(filesAfter), at its start \(filesBefore).
              Memory of all clients: \(clientMegabytes.text("MiB")).
              Calls, as the clients saw them beside the server on one machine:
            \(lines.joined(separator: "\n"))
            """
    }
}
