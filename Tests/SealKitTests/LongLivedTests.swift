import Foundation
import SealKitTesting
import SealLab
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Saves and deletions that outlive their process.
@Suite(.timeLimit(.minutes(60))) struct LongLivedTests {
    typealias Results = (
        saveResults: [Record.ID: Result<Record, SealKitError>], deleteResults: [Record.ID: Result<Void, SealKitError>]
    )

    /// What an app keeps beside, in a store of its own that survives: what it was told, by operation.
    private final class Told: Sendable {
        let results = Mutex<[String: [Results]]>([:])
        var all: [[Results]] { results.withLock { Array($0.values) } }
        func note(_ id: String, _ new: Results) { results.withLock { $0[id, default: []].append(new) } }
        var hasAny: Bool { results.withLock { !$0.isEmpty } }
    }

    /// What an app does at each start: it goes on with what there is, and begins where there is nothing yet.
    private func work(
        _ container: Container, _ told: Told, begin: (Database) async throws -> LongLivedModification
    ) async throws {
        var operations: [LongLivedModification] = []
        for case .modifyRecords(let operation) in try await container.longLivedOperations {
            operations.append(operation)
        }
        if operations.isEmpty, !told.hasAny { operations = [try await begin(container.privateDatabase)] }
        for operation in operations {
            told.note(operation.operationID, try await operation.results())
            try await operation.end()
        }
    }

    private func revision(_ id: Record.ID, _ person: Person) async throws -> UInt64? {
        try await person.onFreshDevice().own.record(for: id).base.map { UInt64($0.statement.revision) }
    }

    /// Killed at every step: of each journal's write before it and after it, of each request on its way there and back.
    @Test func killedAtAnyStepEverySaveHappensOnce() async throws {
        var end = 1
        while try await saves(killedAt: [end]).first?.isDead == true { end += 1 }
        #expect(end > 20, "steps were counted")
    }

    /// So is the process that goes on, at a step that is another one in each story.
    @Test func killedAgainWhileItGoesOnEverySaveHappensOnce() async throws {
        var (end, deaths) = (1, 0)
        while true {
            let fates = try await saves(killedAt: [end, 1 + (end + 9) % 20])
            if fates.allSatisfy(\.isDead) { deaths += 1 }
            guard fates.first?.isDead == true else { break }
            end += 1
        }
        #expect(deaths > 3, "processes that went on were killed")
    }

    /// Processes, one after the other, that are killed at these steps, and one that is not.
    /// - Returns: what became of each that was to be killed.
    private func saves(killedAt ends: [Int]) async throws -> [Fate] {
        // Somebody else each time: nobody makes so many calls.
        let ann = try await Person()
        let first = try await ann.makeZone()
        let second = try await ann.makeZone()
        let device = try MortalDevice(ann)
        var changed = try await ann.own.save(ann.note(in: first, "one", name: "changed"))
        let gone = try await ann.own.save(ann.note(in: first, "x", name: "gone"))
        var stale = try await ann.own.save(ann.note(in: second, "one", name: "stale"))
        var there = stale
        there.encryptedValues["elsewhere"] = "of another device"
        _ = try await ann.own.save(there)
        changed.encryptedValues["body"] = "two"
        stale.encryptedValues["body"] = "two"
        let saving = [
            ann.note(in: first, "new", name: "new"), changed, stale, ann.note(in: second, "new", name: "second"),
        ]

        let told = Told()
        let fates = ends.map { Fate(end: $0) }
        let begin = { (database: Database) async throws in
            try await database.beginModifyingRecords(
                saving: saving, deleting: [gone.recordID], savePolicy: .changedKeys)
        }
        for fate in fates + [Fate()] { _ = try await device.run(fate) { try await work($0, told, begin: begin) } }

        let deaths = fates.filter(\.isDead).map { $0.steps.last ?? "" }
        let story = "killed at \(ends): \(deaths)"
        // Each was saved once: as the next revision, and as this device was told.
        let stored = try await ann.onFreshDevice().own.records(for: saving.map(\.recordID) + [gone.recordID])
        for (record, revision) in zip(saving, [1, 2, 3, 1]) {
            let found = try #require(try stored[record.recordID]?.get(), "\(story)")
            #expect(found.base.map { Int($0.statement.revision) } == revision, "\(story)")
            #expect(found.encryptedValues["body"] == (record.encryptedValues["body"] as String?))
        }
        #expect(try stored[stale.recordID]?.get().encryptedValues["elsewhere"] == "of another device")
        #expect(stored[gone.recordID]?.failureCode == .unknownItem)
        // One operation, all of whose results are told; again only where it is not on the disk that they were.
        #expect(told.all.count == 1)
        let times = told.all.first ?? []
        let mostTimes = 1 + deaths.count { $0 == "journal before" }
        #expect((1...mostTimes).contains(times.count), "\(story)")
        for results in times {
            #expect(Set(results.saveResults.keys) == Set(saving.map(\.recordID)))
            #expect(Set(results.deleteResults.keys) == [gone.recordID])
            #expect(results.deleteResults[gone.recordID]?.isSuccess == true)
            for (id, result) in results.saveResults {
                let found = try stored[id]?.get()
                #expect(try result.get().recordChangeTag == found?.recordChangeTag)
                #expect(try result.get().base?.hash == found?.base?.hash)
            }
        }
        #expect(try await device.run { try await $0.longLivedOperations.count } == 0)
        return fates
    }

    /// What was saved in an operation is gone on with like any other record.
    @Test func aResultOfAnEarlierProcessIsSavedAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let note = ann.note(in: zone, "one", name: "note")
        // All is done, and nobody was told.
        _ = try await device.run { container in
            _ = try await container.privateDatabase.beginModifyingRecords(saving: [note]).results()
        }
        let saved = try await device.run { container -> Record in
            guard case .modifyRecords(let operation)? = try await container.longLivedOperations.first else {
                throw SealKitError(.unknownItem, "there is no operation")
            }
            #expect(operation.saving.map(\.recordID) == [note.recordID])
            #expect(operation.savePolicy == .ifServerRecordUnchanged)
            var record = try #require(try await operation.results().saveResults[note.recordID]).get()
            #expect(record.encryptedValues["body"] == "one")
            record.encryptedValues["body"] = "two"
            return try await container.privateDatabase.save(record)
        }
        #expect(saved?.base?.statement.revision == 2)
    }

    /// A conflict is told by the process that goes on as it would have been by the one that began, wherever that ended:
    /// before it sent anything, or with the conflict noted.
    @Test(arguments: [false, true]) func aConflictIsToldWithItsRecords(endsBefore: Bool) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "one", name: "note"))
        var (mine, theirs) = (note, note)
        mine.encryptedValues["body"] = "mine"
        theirs.encryptedValues["body"] = "theirs"
        _ = try await ann.own.save(theirs)
        let device = try MortalDevice(ann)
        let draft = mine
        if endsBefore {
            _ = try await device.run { container in
                _ = try await container.privateDatabase.beginModifyingRecords(saving: [draft])
            }
        }
        for _ in 0..<2 {
            let error = try await device.run { container -> SealKitError? in
                let begun = try await container.longLivedOperations.first
                let operation: LongLivedModification
                if case .modifyRecords(let known)? = begun {
                    operation = known
                } else {
                    operation = try await container.privateDatabase.beginModifyingRecords(saving: [draft])
                }
                guard case .failure(let error)? = try await operation.results().saveResults[draft.recordID] else {
                    return nil
                }
                return error
            }
            let told = try #require(error ?? nil)
            #expect(told.code == .serverRecordChanged)
            #expect(told.serverRecord?.encryptedValues["body"] == "theirs")
            #expect(told.clientRecord?.encryptedValues["body"] == "mine")
            #expect(told.ancestorRecord?.encryptedValues["body"] == "one")
        }
    }

    // MARK: After more than a day

    /// The server may have forgotten what it answered: what is stored tells that it was saved.
    @Test func afterADayWhatIsStoredTellsThatItWasSaved() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (device, note) = (try MortalDevice(ann), ann.note(in: zone, "one", name: "note"))
        try await loseAnswer(device) { try await $0.beginModifyingRecords(saving: [note]) }
        let network = Fate()
        let told = Told()
        _ = try await device.run(network) { container in
            _ = try await container.privateDatabase.recordZone(for: zone)
            try await WallClock.$offset.withValue(21 * 3_600_000_000) {
                try await work(container, told) { _ in throw SealKitError(.unknownItem, "it was begun before") }
            }
        }
        #expect(!network.steps.contains { $0.contains("records/modify") }, "nothing was sent again")
        let result = try #require(told.all.first?.first?.saveResults[note.recordID])
        #expect(try result.get().encryptedValues["body"] == "one")
        #expect(try await revision(note.recordID, ann) == 1)
    }

    /// Whether it came before what somebody else has saved since nothing tells: it is not saved over that, whatever the
    /// policy. Nor does it where the clock was set back meanwhile: how long ago it was sent is not known then.
    @Test(arguments: [21 * 3_600_000_000, -60_000_000])
    func afterADayAnotherVersionIsAConflictUnderEveryPolicy(offset: Int64) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var draft = try await ann.own.save(ann.note(in: zone, "one", name: "note"))
        draft.encryptedValues["body"] = "mine"
        let (device, mine) = (try MortalDevice(ann), draft)
        try await loseAnswer(device) {
            try await $0.beginModifyingRecords(saving: [mine], savePolicy: .changedKeys)
        }
        var theirs = try await ann.onFreshDevice().own.record(for: draft.recordID)
        theirs.encryptedValues["body"] = "theirs"
        _ = try await ann.own.save(theirs)
        let told = Told()
        try await goOnAfterADay(device, told, in: zone, offset: offset)
        guard case .failure(let error)? = told.all.first?.first?.saveResults[draft.recordID] else {
            Issue.record("it was saved over what came later")
            return
        }
        #expect(error.code == .serverRecordChanged)
        #expect(error.serverRecord?.encryptedValues["body"] == "theirs")
        #expect(try await ann.own.record(for: draft.recordID).encryptedValues["body"] == "theirs")
    }

    /// A save over a record that was deleted meanwhile would bring it back.
    @Test func afterADayADeletionIsAConflictUnderEveryPolicy() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var draft = try await ann.own.save(ann.note(in: zone, "one", name: "note"))
        draft.encryptedValues["body"] = "mine"
        let (device, mine) = (try MortalDevice(ann), draft)
        try await loseAnswer(device) {
            try await $0.beginModifyingRecords(saving: [mine], savePolicy: .allKeys)
        }
        try await ann.onFreshDevice().own.deleteRecord(withID: draft.recordID)
        let told = Told()
        try await goOnAfterADay(device, told, in: zone)
        guard case .failure(let error)? = told.all.first?.first?.saveResults[draft.recordID] else {
            Issue.record("it was saved again after it was deleted")
            return
        }
        #expect(error.code == .serverRecordChanged)
        #expect(error.serverRecord == nil)
        #expect(await failure { _ = try await ann.onFreshDevice().own.record(for: mine.recordID) } == .unknownItem)
    }

    private func goOnAfterADay(
        _ device: MortalDevice, _ told: Told, in zone: RecordZone.ID, offset: Int64 = 21 * 3_600_000_000
    ) async throws {
        _ = try await device.run { container in
            _ = try await container.privateDatabase.recordZone(for: zone)
            try await WallClock.$offset.withValue(offset) {
                try await work(container, told) { _ in throw SealKitError(.unknownItem, "it was begun before") }
            }
        }
    }

    /// What never reached the server is sent, also where the clock was set back meanwhile.
    @Test func whatNeverArrivedIsSentHoweverOld() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (device, note) = (try MortalDevice(ann), ann.note(in: zone, "one", name: "note"))
        try await loseRequest(device) { try await $0.beginModifyingRecords(saving: [note]) }
        let told = Told()
        _ = try await device.run { container in
            _ = try await container.privateDatabase.recordZone(for: zone)
            try await WallClock.$offset.withValue(-60_000_000) {
                try await work(container, told) { _ in throw SealKitError(.unknownItem, "it was begun before") }
            }
        }
        #expect(told.all.first?.first?.saveResults[note.recordID]?.isSuccess == true)
        #expect(try await revision(note.recordID, ann) == 1)
    }

    /// A process that is killed when its save has arrived, and before it hears of that.
    private func loseAnswer(
        _ device: MortalDevice, _ begin: @Sendable (Database) async throws -> LongLivedModification
    ) async throws { try await kill(device, at: "answer", begin) }

    private func loseRequest(
        _ device: MortalDevice, _ begin: @Sendable (Database) async throws -> LongLivedModification
    ) async throws { try await kill(device, at: "request", begin) }

    private func kill(
        _ device: MortalDevice, at what: String, _ begin: @Sendable (Database) async throws -> LongLivedModification
    ) async throws {
        let fate = Fate(dyingAt: { $0.hasPrefix(what) && $0.contains("records/modify") })
        _ = try await device.run(fate) { _ = try await begin($0.privateDatabase).results() }
        #expect(fate.isDead)
    }

    /// What nobody can open is overwritten in one operation, whichever process ends it.
    @Test func aSaveOverWhatDoesNotOpenIsTakenUpAgain() async throws {
        let world = try await AttackedZone()
        let ann = world.ann
        try await Insider(person: world.bob, zone: world.joined).signWithRandomKey("junk")
        let (device, draft) = (try MortalDevice(ann), ann.note(in: world.zone, "mended", name: "junk"))
        try await loseAnswer(device) { try await $0.beginModifyingRecords(saving: [draft], savePolicy: .allKeys) }
        let told = Told()
        _ = try await device.run { container in
            try await work(container, told) { _ in throw SealKitError(.unknownItem, "it was begun before") }
        }
        let result = try #require(told.all.first?.first?.saveResults[draft.recordID])
        #expect(try result.get().encryptedValues["body"] == "mended")
        #expect(try await revision(draft.recordID, ann) == 2)
    }

    // MARK: What is begun

    /// What the journal could not give back is refused while the app has it at hand.
    @Test func whatCouldNotBeReadAgainIsNotBegun() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let strange = RecordZone.ID(zoneName: "two\nlines", ownerName: zone.ownerName)
        let unnameable = Record(recordType: "Note", recordID: Record.ID(recordName: "note", zoneID: strange))
        let left = try await device.run { container in
            let database = container.privateDatabase
            let code = await failure { _ = try await database.beginModifyingRecords(saving: [unnameable]) }
            #expect(code == .invalidArguments)
            let deletion = await failure {
                _ = try await database.beginModifyingRecords(deleting: [unnameable.recordID])
            }
            #expect(deletion == .invalidArguments)
            return try await container.longLivedOperations.count
        }
        #expect(left == 0)
    }

    @Test func anOperationIsFoundByItsID() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let notes = (0..<3).map { ann.note(in: zone, "one", name: "note-\($0)") }
        _ = try await device.run { container in
            var ids: [String] = []
            for note in notes {
                ids.append(try await container.privateDatabase.beginModifyingRecords(saving: [note]).operationID)
            }
            for (id, note) in zip(ids, notes) {
                guard case .modifyRecords(let found)? = try await container.longLivedOperation(withID: id) else {
                    Issue.record("there is no operation \(id)")
                    continue
                }
                #expect(found.operationID == id)
                #expect(found.saving.map(\.recordID) == [note.recordID])
            }
            #expect(try await container.longLivedOperation(withID: "none") == nil)
        }
    }

    /// A record that a newer version has written fails by itself; what stands in every request's way is told at once.
    @Test func oneRecordsFailureHoldsNothingUp() {
        let id = Record.ID(recordName: "note")
        func obstacle(_ code: SealKitError.Code) -> SealKitError? {
            ModificationResults(saves: [id: .failure(SealKitError(code, ""))]).obstacle
        }
        #expect(obstacle(.incompatibleVersion) == nil)
        #expect(obstacle(.serverRecordChanged) == nil)
        #expect(obstacle(.networkFailure)?.code == .networkFailure)
    }

    /// Nor is it the outcome beside items that were saved: the next call asks again.
    @Test func whatStandsInTheWayOfSomeIsNobodysOutcome() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = try HostileNetwork(ann.server)
        let isTold = LockedValue(false)
        let device = try MortalDevice(ann, transport: network)
        let drafts = [ann.note(in: zone, "one", name: "one"), ann.note(in: zone, "two", name: "two")]
        network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
            guard !isTold.value, let index = answer.results.firstIndex(where: { $0.record.recordName == "two" }) else {
                return
            }
            isTold.change { $0 = true }
            answer.results[index] = .with {
                $0.recordName = "two"
                $0.failure = Sealkit_V1_Failure(.serviceUnavailable, "The test's server says so.")
            }
        }
        let saved = try await device.run { container in
            let operation = try await container.privateDatabase.beginModifyingRecords(
                saving: drafts, atomically: false)
            #expect(await failure { _ = try await operation.results() } == .serviceUnavailable)
            #expect(isTold.value)
            return try await operation.results().saveResults.mapValues(\.isSuccess)
        }
        #expect(saved == [drafts[0].recordID: true, drafts[1].recordID: true])
        #expect(try await ann.own.record(for: drafts[1].recordID).encryptedValues["body"] as? String == "two")
    }

    /// A network that wants a login first answers with a page of its own.
    @Test func whatIsNoAnswerIsNobodysOutcome() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = try HostileNetwork(ann.server)
        let device = try MortalDevice(ann, transport: network)
        let draft = ann.note(in: zone, "one", name: "one")
        let isSaved = try await device.run { container in
            let operation = try await container.privateDatabase.beginModifyingRecords(saving: [draft])
            network.inject(.notASealKitServer)
            #expect(await failure { _ = try await operation.results() } == .serverRejectedRequest)
            network.beHonest()
            return try await operation.results().saveResults[draft.recordID]?.isSuccess
        }
        #expect(isSaved == true)
    }

    /// Somebody frees space, and it goes on.
    @Test func aFullDiskIsNobodysOutcome() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = SwitchedTransport(try HTTPTransport(server: ann.server.origin))
        let device = try MortalDevice(ann, transport: network)
        let draft = ann.note(in: zone, "one", name: "one")
        let isSaved = try await device.run { container in
            let operation = try await container.privateDatabase.beginModifyingRecords(saving: [draft])
            network.fail("records/modify", SealKitError(.storageFull, "the server's disk is full", retryAfter: 60))
            #expect(await failure { _ = try await operation.results() } == .storageFull)
            return try await operation.results().saveResults[draft.recordID]?.isSuccess
        }
        #expect(isSaved == true)
    }

    // MARK: Servers that lie

    /// The server has stored a save, and refuses its repetition: what it shows says otherwise, and nothing is signed a
    /// second time.
    @Test func aServerThatDeniesWhatItHasStoredIsNotBelieved() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = try HostileNetwork(ann.server)
        let (device, note) = (try MortalDevice(ann, transport: network), ann.note(in: zone, "one", name: "note"))
        try await loseAnswer(device) { try await $0.beginModifyingRecords(saving: [note]) }
        network.forget()
        network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
            let refusal = Sealkit_V1_Failure.with { $0.code = "staleEpoch" }
            answer.results = answer.results.map { _ in .with { $0.failure = refusal } }
        }
        let told = Told()
        _ = try await device.run { container in
            try await work(container, told) { _ in throw SealKitError(.unknownItem, "it was begun before") }
        }
        #expect(told.all.first?.first?.saveResults[note.recordID]?.isSuccess == true)
        #expect(network.sent(to: "records/modify").count == 1, "the repetition alone")
        #expect(try await revision(note.recordID, ann) == 1)
    }

    /// The server says that it has stored what it has not: it is caught when it cannot show it.
    @Test func aServerThatClaimsWhatItHasNotStoredIsCaught() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = try HostileNetwork(ann.server)
        var draft = try await ann.own.save(ann.note(in: zone, "one", name: "note"))
        draft.encryptedValues["body"] = "two"
        let (device, mine) = (try MortalDevice(ann, transport: network), draft)
        try await loseRequest(device) { try await $0.beginModifyingRecords(saving: [mine]) }
        network.lie { path, request, response in
            guard path.hasSuffix("records/modify") else { return }
            let asked = try Sealkit_V1_ModifyRecordsRequest(serializedBytes: request)
            response.status = 200
            response.body = try Sealkit_V1_ModifyRecordsResponse.with { answer in
                answer.results = asked.records.map { record in .with { $0.record = record } }
            }.serializedData()
        }
        let before = try await ann.onFreshDevice().own.record(for: draft.recordID)
        network.swallow("records/modify")
        let told = Told()
        _ = try await device.run { container in
            try await work(container, told) { _ in throw SealKitError(.unknownItem, "it was begun before") }
            let database = container.privateDatabase
            let code = await failure { _ = try await database.record(for: mine.recordID) }
            #expect(code == .rollback)
        }
        #expect(told.all.first?.first?.saveResults[draft.recordID]?.isSuccess == true)
        #expect(try await ann.onFreshDevice().own.record(for: draft.recordID).base?.hash == before.base?.hash)
    }
}
