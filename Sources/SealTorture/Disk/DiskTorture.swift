import Foundation
import SealKit
import SealLab

/// A real full disk: the server's data on a small file system of its own (tmpfs, in a mount namespace that goes with
/// the process), filled until nothing more fits, killed there, and given room again.
struct DiskTorture {
    let seed: UInt64
    /// Where the small file system is mounted.
    let folder: URL

    static let container = "org.sealkit.disk"
    private static let megabytes = 48

    struct Totals {
        var acknowledged = 0
        var refused = 0
        var afterwards = 0
    }

    // MARK: The file system

    /// What the shell says once the file system is there, before it becomes the torture.
    private static let mounted = "mounted\n"

    /// Runs itself again where it may mount; says so where the system allows that to nobody.
    /// - Parameter program: this one.
    /// - Throws: `Finding` for whatever end of the torture is not a good one.
    static func inNamespace(seed: UInt64, program: String = CommandLine.arguments[0]) throws -> String {
        let folder = ServerProcess.temporaryFolder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for options in [["-m"], ["-U", "-r", "-m"]] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
            let mount =
                "mount -t tmpfs -o size=\(megabytes)m,mode=0700 tmpfs \"$0\" 2>/dev/null || exit; echo mounted; exec \"$1\""
            process.arguments = options + ["sh", "-c", mount, folder.path, program]
            process.environment = ProcessInfo.processInfo.environment.merging(
                ["SEALKIT_FULL_DISK": folder.path, "SEED": "\(seed)"]) { $1 }
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            do { try process.start() } catch { continue }
            let said = String(decoding: output.readAll(), as: UTF8.self)
            process.waitUntilExit()
            // Whatever ended before was unshare, or the mount.
            guard let start = said.range(of: mounted) else { continue }
            let text = said[start.upperBound...].trimmingCharacters(in: .newlines)
            let (reason, status) = (process.terminationReason, process.terminationStatus)
            try check(
                reason == .exit && status == 0,
                "on a full disk the torture ended with the \(reason == .exit ? "status" : "signal") \(status): \(text)")
            return text
        }
        return
            "A full disk was not tried: this system lets nobody mount a small one. FullDiskTests limits the database instead."
    }

    static func main(seed: UInt64, folder: String) async {
        do {
            print(try await DiskTorture(seed: seed, folder: URL(fileURLWithPath: folder)).run().text)
        } catch {
            print("FAILED with seed \(seed): \(error)")
            exit(1)
        }
    }

    // MARK: What happens on it

    func run() async throws -> Totals {
        var random = SeededRandom(seed: seed)
        let ballast = folder.appendingPathComponent("ballast")
        try Data(count: Self.megabytes << 19).write(to: ballast)
        var server = try ServerProcess(folder: folder)
        try server.waitUntilListening()
        defer { server.terminate() }
        let port = server.port
        let account = try await Account.create(transport: HTTPTransport(server: server.origin), deviceName: "disk")
            .account
        let writer = try Container(Self.container, account: account)
        let database = writer.privateDatabase
        let zone = try await database.save(RecordZone(zoneName: "full")).zoneID
        var totals = Totals()
        var known: [String: Int] = [:]
        var number = 0

        // Until it is full, and for some time after that: changes, new records, batches.
        var refusals = 0
        while refusals < 30 {
            number += 1
            try check(number < 5_000, "the disk does not fill")
            let saved = try await write(number, database, zone, &known, &random)
            totals.acknowledged += saved
            if saved == 0 { refusals += 1 }
        }
        totals.refused = refusals
        try await compare(known, account, zone)

        // Killed while it is full: it starts again, and what it acknowledged is there.
        server.kill()
        server = try ServerProcess(folder: folder, port: port)
        try server.waitUntilListening()
        try await compare(known, account, zone)
        try DatabaseCheck(dataFolder: server.dataFolder).run()

        // Room again: it goes on without being started again.
        try FileManager.default.removeItem(at: ballast)
        for _ in 0..<20 {
            number += 1
            let saved = try await write(number, database, zone, &known, &random)
            try check(saved > 0, "nothing can be saved though there is room again")
            totals.afterwards += saved
        }
        try await compare(known, account, zone)
        try await checkNoAccusation(writer, by: "the device that fills the disk")
        try DatabaseCheck(dataFolder: server.dataFolder).run()
        return totals
    }

    /// An atomic batch of new and changed records. - Returns: how many were saved: all, or none and the disk is full.
    private func write(
        _ number: Int, _ database: Database, _ zone: RecordZone.ID, _ known: inout [String: Int],
        _ random: inout SeededRandom
    ) async throws -> Int {
        let names = Set(
            (0..<(1 + random.below(4))).map { _ in random.chance(30) ? "r\(random.below(number))" : "r\(number)" })
        let records = names.map { name in
            var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
            record["number"] = number
            record.encryptedValues["body"] = String(repeating: "0123456789", count: random.below(8_000))
            return record
        }
        let results = try await database.modifyRecords(saving: records, savePolicy: .allKeys).saveResults
        var saved = 0
        for (id, result) in results {
            switch result {
            case .success:
                known[id.recordName] = number
                saved += 1
            case .failure(let error):
                try check(error.code == .storageFull, "a full disk is told as \(error.code.rawValue)")
                try check(error.retryAfter ?? 0 > 0, "a full disk is told without a time to try again")
            }
        }
        try check(saved == 0 || saved == names.count, "an atomic batch was saved in part")
        return saved
    }

    /// A device that has seen nothing reads what was acknowledged and nothing else.
    private func compare(_ known: [String: Int], _ account: Account, _ zone: RecordZone.ID) async throws {
        let container = try Container(Self.container, account: account)
        let reader = container.privateDatabase
        var found: [String: Int] = [:]
        var token: ServerChangeToken?
        var isMore = true
        while isMore {
            let page = try await reader.recordZoneChanges(inZoneWith: zone, since: token)
            for (id, result) in page.modifications { found[id.recordName] = try result.get()["number"] }
            (token, isMore) = (page.changeToken, page.moreComing)
        }
        try check(
            found == known,
            "on a full disk the server has \(found.count) records, \(known.count) were acknowledged, or others")
        try await checkNoAccusation(container, by: "a device that has seen nothing before")
    }
}

extension DiskTorture.Totals {
    /// What was proven.
    var text: String {
        """
        The disk was full: \(acknowledged) writes before were acknowledged and all there, before and after a kill; \(refused) requests \
        were refused as a whole, with storageFull.
          With room again \(afterwards) writes went through.
        """
    }
}
