import Foundation
import SealLab
import Synchronization
import Testing

@testable import SealKit

/// Two and three devices of one person do what chance has them do: they write and delete while they are on- and
/// offline, lose answers, crash between what they were told and what they kept, lose a zone to another device, change
/// accounts. In the end they agree with each other and with the server; nothing that a device was told to be saved is
/// gone, nothing is there that nobody wrote there, and neither account has anything of the other's. On the way nothing
/// fails that the network, or another device, does not explain.
///
/// Some runs are played each time; `SYNC_RUNS=1000`, as in `make torture` with its `ROUNDS`, plays as many.
/// `SYNC_SEED=…`, its `SEED`, plays that one again, or as many from that one on.
@Suite(.timeLimit(.minutes(600))) struct SyncRunTests {
    private static let zones = ["one", "two"].map { RecordZone.ID(zoneName: $0) }
    private static let names = (0..<5).map { "note-\($0)" }

    private static var seeds: [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["SYNC_SEED"].flatMap(UInt64.init)
        let first = seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
        let runs = environment["SYNC_RUNS"].flatMap(Int.init) ?? (seed == nil ? 6 : 1)
        return (0..<runs).map { first &+ UInt64($0) }
    }

    @Test func devicesAgreeInTheEndAndNothingAcknowledgedIsLost() async throws {
        let arguments = ["--request-rate", "0", "--write-rate", "0", "--read-rate", "0", "--sharing-rate", "0"]
        let server = try ServerProcess(mail: false, arguments: arguments)
        defer { server.stop() }
        let stranger = try await Person(server)
        for seed in Self.seeds {
            var run = try await Run(seed: seed, ann: Person(server), stranger: stranger)
            try await run.play()
        }
    }

    /// What the devices of one account did on purpose.
    private struct Book {
        /// Words that somebody meant for a note.
        var written: [Record.ID: Set<String>] = [:]
        /// Words that the server has acknowledged.
        var acknowledged: [Record.ID: Set<String>] = [:]
        /// Of what was deleted on purpose the words need not be there in the end.
        var goneZones: Set<RecordZone.ID> = []
        var goneNotes: Set<Record.ID> = []
        /// Notes that nobody had anything unsent of when they were deleted, or has written to since: they are to be
        /// gone. Each with the device that deleted it.
        var deletedForGood: [Record.ID: Int] = [:]

        mutating func acknowledge(_ words: [Record.ID: Set<String>]) { acknowledged.merge(words) { $0.union($1) } }

        /// Holds what is on the server in the end against all that.
        /// - Parameter mark: what the words have in common that are looked at; nil for all.
        func check(_ stored: [Record.ID: Set<String>], of whom: String, mark: String? = nil, _ story: String) {
            for (id, words) in stored {
                let known = written[id] ?? []
                let invented = words.filter { word in
                    (mark.map { word.contains($0) } ?? true) && !known.contains(word)
                }
                #expect(invented.isEmpty, "\(whom) has \(invented) in \(id), which nobody wrote there; \(story)")
            }
            for (id, words) in acknowledged where !goneZones.contains(id.zoneID) && !goneNotes.contains(id) {
                let lost = words.subtracting(stored[id] ?? [])
                #expect(lost.isEmpty, "\(lost), which \(whom) saved in \(id), is gone; \(story)")
            }
            for id in deletedForGood.keys where !goneZones.contains(id.zoneID) {
                #expect(stored[id] == nil, "\(id), which \(whom) deleted, is there again; \(story)")
            }
        }
    }

    private struct Run {
        let ann: Person
        let stranger: Person
        let devices: [SyncDevice]
        /// In every word of this run.
        let mark: String
        var random: SeededRandom
        var story: [String]
        var anns = Book()
        var strangers = Book()
        var wasStrangers = false

        init(seed: UInt64, ann: Person, stranger: Person) throws {
            var random = SeededRandom(seed: seed)
            devices = try (0..<(random.chance(50) ? 2 : 3)).map { _ in try SyncDevice(ann) }
            (self.ann, self.stranger, self.random) = (ann, stranger, random)
            mark = "-\(seed)-"
            story = ["seed \(seed)"]
        }

        mutating func play() async throws {
            for zone in SyncRunTests.zones { devices[0].app.make(zone, devices[0].engine) }
            await devices[0].sync()
            for number in 0..<(20 + random.below(20)) { try await step(number) }
            try await agree()
        }

        private mutating func step(_ number: Int) async throws {
            let index = random.below(devices.count)
            let device = devices[index]
            guard let zone = random.one(of: SyncRunTests.zones), let name = random.one(of: SyncRunTests.names) else {
                return
            }
            let id = device.note(name, in: zone)
            let what: String
            switch random.below(100) {
            case 0..<34:
                what = "writes to \(id)"
                write("ann\(mark)\(number)", to: id, on: device)
            case 34..<41:
                what = "deletes \(id)"
                delete(id, on: index)
            case 41..<56:
                what = "fetches"
                await device.fetch()
            case 56..<69:
                what = "sends"
                await device.send()
            case 69..<74:
                let count = random.chance(50) ? 1 : Int.max
                what = "loses \(count == 1 ? "an answer" : "all answers")"
                device.transport.loseAnswers(count)
                await device.sync()
                device.transport.loseAnswers(0)
            case 74..<82:
                let isOn = random.chance(50)
                what = isOn ? "goes online" : "goes offline"
                device.transport.turn(on: isOn)
            case 82..<88:
                let events = random.below(9)
                what = "crashes at event \(events)"
                device.app.die(after: events)
                await device.sync()
                if random.chance(50) { try await device.restartFromNewestState() } else { try device.restart() }
            case 88..<91:
                what = "is started anew"
                try await device.restartFromNewestState()
            case 91..<93:
                what = "deletes \(zone)"
                anns.goneZones.insert(zone)
                device.app.delete(zone, device.engine)
            case 93..<95:
                let reason: Database.DatabaseChanges.DeletionReason = random.chance(50) ? .purged : .encryptedDataReset
                what = "says of \(zone): \(reason)"
                anns.goneZones.insert(zone)
                await device.attempt("deleting a zone") {
                    try await $0.database.deleteRecordZone(withID: zone, reason: reason)
                }
            default:
                what = "is somebody else's for a while"
                try await beStrangers(index, "stranger\(mark)\(number)", id)
            }
            story.append("\(index) \(what)")
        }

        private mutating func write(_ word: String, to id: Record.ID, on device: SyncDevice) {
            anns.written[id, default: []].insert(word)
            anns.deletedForGood[id] = nil
            device.app.write(word, to: id, device.engine)
        }

        private mutating func delete(_ id: Record.ID, on index: Int) {
            anns.goneNotes.insert(id)
            let isContradicted = devices.indices.contains { $0 != index && devices[$0].isUnsent(id) }
            anns.deletedForGood[id] = isContradicted ? nil : index
            devices[index].app.delete(id, devices[index].engine)
        }

        /// The stranger writes a word, and would delete a note: that is not sent any more, and no account loses one by
        /// it.
        private mutating func beStrangers(_ index: Int, _ word: String, _ id: Record.ID) async throws {
            let device = devices[index]
            wasStrangers = true
            // What ann deleted here and has not sent is forgotten.
            anns.deletedForGood = anns.deletedForGood.filter { $0.value != index }
            // What a device that was nobody's has kept goes to whom it is first: that the stranger has it says nothing
            // of ann.
            if device.engine.state.content.account == nil {
                let kept = device.disk.content.withLock { $0 }
                strangers.written.merge(kept.notes.mapValues(\.words)) { $0.union($1) }
                strangers.goneNotes.formUnion(kept.deleted)
                strangers.goneZones.formUnion(kept.deletedZones)
            }
            anns.acknowledge(device.disk.takeAcknowledged())
            try device.signIn(stranger)
            await device.sync()
            strangers.written[id, default: []].insert(word)
            device.app.write(word, to: id, device.engine)
            await device.sync()
            if let name = random.one(of: SyncRunTests.names), let zone = random.one(of: SyncRunTests.zones) {
                device.app.delete(device.note(name, in: zone), device.engine)
            }
            strangers.acknowledge(device.disk.takeAcknowledged())
            try device.signIn(ann)
            await device.sync()
        }

        /// All come online, and go on until nobody has anything left to do.
        private mutating func agree() async throws {
            let story = story.joined(separator: "\n")
            for device in devices { device.transport.turn(on: true) }
            for _ in 0..<6 {
                for device in devices { await device.sync() }
            }
            for (index, device) in devices.enumerated() {
                let pending =
                    device.engine.state.pendingRecordZoneChanges.map { "\($0)" }
                    + device.engine.state.pendingDatabaseChanges.map { "\($0)" }
                let events = device.app.events.suffix(30)
                #expect(pending.isEmpty, "device \(index) has \(pending) left; \(story)\n\(events)")
                #expect(device.surprises.isEmpty, "device \(index) met \(device.surprises); \(story)\n\(events)")
                let accusations = try await device.container.violations().map(\.reason)
                #expect(accusations.isEmpty, "device \(index) says of an honest server: \(accusations); \(story)")
                anns.acknowledge(device.disk.takeAcknowledged())
            }
            let fresh = try SyncDevice(ann)
            try await fresh.engine.fetchChanges()
            let stored = fresh.disk.notes
            for (index, device) in devices.enumerated() {
                #expect(device.disk.notes == stored, "device \(index) differs from the server; \(story)")
            }
            anns.check(stored, of: "ann", story)
            guard wasStrangers else { return }
            let theirs = try SyncDevice(stranger)
            try await theirs.engine.fetchChanges()
            strangers.check(theirs.disk.notes, of: "the stranger", mark: mark, story)
        }
    }
}
