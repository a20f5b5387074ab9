import Foundation
import SealLab
import Synchronization
import Testing

@testable import SealKit

/// Two and three devices of one person do what chance has them do: they write and delete while they are on- and
/// offline, crash between what they were told and what they kept, lose a zone to another device, change accounts. In
/// the end they agree with each other and with the server, and nothing that a device was told to be saved is gone.
///
/// Some runs are played each time; `SYNC_RUNS=1000`, as in `make torture` with its `ROUNDS`, plays as many, and
/// `SYNC_SEED=…` one again.
@Suite(.timeLimit(.minutes(600))) struct SyncRunTests {
    private static let zones = ["one", "two"].map { RecordZone.ID(zoneName: $0) }
    private static let names = (0..<5).map { "note-\($0)" }

    private static var seeds: [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SYNC_SEED"].flatMap(UInt64.init) { return [seed] }
        let first = UInt64.random(in: 0...UInt64(UInt32.max))
        return (0..<UInt64(environment["SYNC_RUNS"].flatMap(Int.init) ?? 6)).map { first + $0 }
    }

    /// What happens to a record on purpose: its words need not be there in the end.
    private struct Gone {
        var zones: Set<RecordZone.ID> = []
        var records: Set<Record.ID> = []

        func contains(_ id: Record.ID) -> Bool { zones.contains(id.zoneID) || records.contains(id) }
    }

    @Test func devicesAgreeInTheEndAndNothingAcknowledgedIsLost() async throws {
        let arguments = ["--request-rate", "0", "--write-rate", "0", "--read-rate", "0", "--sharing-rate", "0"]
        let server = try ServerProcess(mail: false, arguments: arguments)
        defer { server.stop() }
        let stranger = try await Person(server)
        for seed in Self.seeds { try await play(seed, server, stranger) }
    }

    private func play(_ seed: UInt64, _ server: ServerProcess, _ stranger: Person) async throws {
        var random = SeededRandom(seed: seed)
        let ann = try await Person(server)
        let devices = try (0..<(random.chance(50) ? 2 : 3)).map { _ in try SyncDevice(ann) }
        var story: [String] = []
        var gone = Gone()
        for zone in Self.zones { devices[0].app.make(zone, devices[0].engine) }
        await devices[0].sync()
        for step in 0..<(20 + random.below(20)) {
            let index = random.below(devices.count)
            let device = devices[index]
            guard let zone = random.one(of: Self.zones), let name = random.one(of: Self.names) else { continue }
            let id = device.note(name, in: zone)
            let what: String
            switch random.below(100) {
            case 0..<38:
                what = "writes to \(id)"
                device.app.write("\(step)", to: id, device.engine)
            case 38..<44:
                what = "deletes \(id)"
                gone.records.insert(id)
                device.app.delete(id, device.engine)
            case 44..<62:
                what = "fetches"
                _ = await failure { try await device.engine.fetchChanges() }
            case 62..<78:
                what = "sends"
                _ = await failure { try await device.engine.sendChanges() }
            case 78..<86:
                let isOn = random.chance(50)
                what = isOn ? "goes online" : "goes offline"
                device.transport.turn(on: isOn)
            case 86..<94:
                let events = random.below(9)
                what = "crashes at event \(events)"
                device.app.die(after: events)
                await device.sync()
                try device.restart()
            case 94..<96:
                what = "deletes \(zone)"
                gone.zones.insert(zone)
                device.app.delete(zone, device.engine)
            case 96..<98:
                let reason: Database.DatabaseChanges.DeletionReason = random.chance(50) ? .purged : .encryptedDataReset
                what = "says of \(zone): \(reason)"
                gone.zones.insert(zone)
                _ = await failure { try await device.engine.database.deleteRecordZone(withID: zone, reason: reason) }
            default:
                what = "is somebody else's for a while"
                // What a device that was nobody's has kept goes to whom it is first: that the stranger has it says
                // nothing of ann.
                let acknowledged = device.disk.acknowledged.withLock { $0 }
                try device.signIn(stranger)
                await device.sync()
                device.disk.acknowledged.withLock { $0 = acknowledged }
                try device.signIn(ann)
                await device.sync()
            }
            story.append("\(index) \(what)")
        }
        try await agree(devices, of: ann, gone, "seed \(seed)\n\(story.joined(separator: "\n"))")
    }

    /// All come online, and go on until nobody has anything left to do.
    private func agree(_ devices: [SyncDevice], of ann: Person, _ gone: Gone, _ story: String) async throws {
        for device in devices { device.transport.turn(on: true) }
        for _ in 0..<6 {
            for device in devices { await device.sync() }
        }
        for (index, device) in devices.enumerated() {
            let pending =
                device.engine.state.pendingRecordZoneChanges.map { "\($0)" }
                + device.engine.state.pendingDatabaseChanges.map { "\($0)" }
            #expect(pending.isEmpty, "device \(index) has \(pending) left; \(story)\n\(device.app.events.suffix(30))")
        }
        let fresh = try SyncDevice(ann)
        try await fresh.engine.fetchChanges()
        let stored = fresh.disk.notes
        for (index, device) in devices.enumerated() {
            #expect(device.disk.notes == stored, "device \(index) differs from the server; \(story)")
            for (id, words) in device.disk.acknowledged.withLock({ $0 }) where !gone.contains(id) {
                #expect(words.isSubset(of: stored[id] ?? []), "what device \(index) saved of \(id) is gone; \(story)")
            }
        }
    }
}
