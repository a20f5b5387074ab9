import Foundation
import SealLab
import SealStatements
import Testing

@testable import SealKit

/// A member with a modified client signs junk while the others work, in random orders: nobody is stopped by it or takes
/// it, nobody but that member is blamed, and the owner can put all of it right.
///
/// `make torture` plays ROUNDS stories of it; `SEED` makes the same choices again.
@Suite(.timeLimit(.minutes(60))) struct InsiderTortureTests {
    private static let steps = 40

    @Test func whateverAMemberSignsTheOthersGoOn() async throws {
        let environment = ProcessInfo.processInfo.environment
        let rounds = environment["ROUNDS"].flatMap(Int.init) ?? 2
        let first = environment["SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...999_999_999)
        for round in 0..<UInt64(rounds) {
            let seed = first &+ round
            print("an insider's story of \(Self.steps) steps: SEED=\(seed)")
            var story = try await Story(seed: seed)
            do {
                for _ in 0..<Self.steps { try await story.step() }
                try await story.end()
            } catch {
                Issue.record("SEED=\(seed), after \(story.told.joined(separator: "; ")): \(error)")
            }
        }
    }

    private struct Story {
        let world: AttackedZone
        let insider: Insider
        var random: SeededRandom
        /// What the owner last wrote, by name; nil where it was deleted.
        var written: [String: String?] = [:]
        /// Names under which the insider's word is the last.
        var junk: Set<String> = []
        var told: [String] = []
        private var count = 0

        init(seed: UInt64) async throws {
            world = try await AttackedZone()
            insider = Insider(person: world.bob, zone: world.joined)
            random = SeededRandom(seed: seed)
        }

        private var ann: Person { world.ann }
        private func id(_ name: String) -> Record.ID { Record.ID(recordName: name, zoneID: world.zone) }

        mutating func step() async throws {
            let name = "r\(random.below(6))"
            count += 1
            switch random.below(9) {
            case 0, 1, 2: try await sign(name)
            case 3, 4:
                told.append("the owner overwrites \(name)")
                let result = try await ann.own.modifyRecords(
                    saving: [ann.note(in: world.zone, "\(count)", name: name)], savePolicy: .allKeys)
                _ = try #require(result.saveResults[id(name)]).get()
                written[name] = "\(count)"
                junk.remove(name)
            case 5:
                told.append("the owner deletes \(name)")
                try await ann.own.deleteRecord(withID: id(name))
                written[name] = .some(nil)
                junk.remove(name)
            case 6:
                told.append("a new key")
                try await ann.own.rotateKeys(of: world.zone)
            case 7:
                told.append("rekey")
                let failures = try await ann.own.rekey(world.zone).failures
                try blame(failures)
            default:
                told.append("a reader reads all")
                try await readAll()
            }
        }

        /// The third member has all that the owner wrote, and takes none of the junk.
        private func readAll() async throws {
            let changes = try await world.carol.shared.recordZoneChanges(inZoneWith: world.joined)
            var bodies: [String: String] = [:]
            var refused: [Record.ID: SealKitError] = [:]
            for (recordID, result) in changes.modifications {
                switch result {
                case .success(let record): bodies[recordID.recordName] = record.encryptedValues["body"]
                case .failure(let error): refused[recordID] = error
                }
            }
            try blame(refused)
            #expect(Set(refused.keys.map(\.recordName)) == junk)
            for (name, text) in written { #expect(bodies[name] == text, "\(name)") }
        }

        private mutating func sign(_ name: String) async throws {
            told.append("the insider signs \(name)")
            let there = Record.ID(recordName: name, zoneID: world.joined)
            let found = try await world.bob.shared.look(up: [there], desiredKeys: nil).first?.1
            // A new key that is due is opened by whoever writes next; this member waits for somebody else to.
            do {
                let existing: Record?
                switch found {
                case .success(.record(let record))?: existing = record
                case .success(.unopened(let unopened))?: existing = unopened.record
                default: existing = nil
                }
                if random.chance(50) {
                    try await insider.signWithRandomKey(name, following: existing)
                } else {
                    try await insider.signWithRandomField(name, following: existing)
                }
                junk.insert(name)
                written[name] = nil
            } catch let error as SealKitError {
                // Refused as anybody's save may be: what was there is another one by now, or was deleted.
                guard [.serverRecordChanged, .unknownItem, .rosterChanged, .constraintViolation].contains(error.code)
                else { throw error }
            }
        }

        /// Only what the insider signed fails, by that name.
        private func blame(_ failures: [Record.ID: SealKitError]) throws {
            for (recordID, error) in failures {
                #expect(junk.contains(recordID.recordName), "\(recordID.recordName): \(error)")
                #expect("\(error)".contains(world.bob.name), "\(error)")
                #expect(!error.code.isViolationOfServer, "\(error)")
            }
        }

        /// Nil where it is deleted; nothing else passes for that.
        private func found(_ recordID: Record.ID) async throws(SealKitError) -> Record? {
            do { return try await ann.own.record(for: recordID) } catch let error where error.code == .unknownItem {
                return nil
            }
        }

        /// The owner puts all of it right, and finds what it wrote.
        func end() async throws {
            try await readAll()
            for (name, text) in written {
                let found = try await found(id(name))
                let body: String? = found?.encryptedValues["body"]
                #expect(body == text, "\(name)")
                #expect((found == nil) == (text == nil), "\(name)")
            }
            for name in junk { try await ann.own.deleteRecord(withID: id(name)) }
            try await ann.own.rotateKeys(of: world.zone)
            let rekeyed = try await ann.own.rekey(world.zone)
            #expect(rekeyed.failures.isEmpty)
            let violations = try await ann.container.violations()
            #expect(violations.allSatisfy { $0.reason.contains(world.bob.name) }, "\(violations)")
            let seenByCarol = try await world.carol.container.violations()
            #expect(seenByCarol.allSatisfy { $0.reason.contains(world.bob.name) }, "\(seenByCarol)")
            try await ann.container.forget(violations)
            let audit = try await ann.container.audit()
            #expect(audit.outcome == .clean, "\(audit)")
        }
    }
}

extension SealKitError.Code {
    fileprivate var isViolationOfServer: Bool { self == .rollback }
}
