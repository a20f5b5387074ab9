import Foundation
import SealLab
import SealStatements
import Synchronization
import Testing

@testable import SealKit

/// Shares among what an engine sends.
extension SyncEngineTests {
    private typealias Batch = SyncEngine.RecordZoneChangeBatch

    private func note(_ name: String, below parent: Record? = nil) -> Record {
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
        record.parent = parent.map { Record.Reference(recordName: $0.recordID.recordName) }
        return record
    }

    // MARK: What goes together

    @Test func aNewShareIsNotCutFromItsRoot() {
        let top = note("top")
        let root = note("root", below: top)
        let share = Share(rootRecord: root)
        let notes = (0..<500).map { note("note-\($0)") }
        var batch = Batch(recordsToSave: notes, sharesToSave: [share], recordIDsToDelete: [note("gone").recordID])
        batch.recordsToSave.insert(root, at: 450)
        batch.recordsToSave.append(top)
        var parts = batch.requests
        #expect(parts.count == 2)
        #expect(parts.flatMap(\.recordIDs).count == batch.count)
        #expect(Set(parts.flatMap(\.recordIDs)) == Set(batch.recordIDs))
        // As far as it can be cut.
        while let index = parts.firstIndex(where: { $0.halves != nil }) {
            let halves = parts[index].halves ?? []
            parts.replaceSubrange(index...index, with: halves)
        }
        #expect(parts.flatMap(\.recordIDs).count == batch.count)
        let together = parts.filter { $0.count > 1 }.map { Set($0.recordIDs) }
        #expect(together == [[top.recordID, root.recordID, share.recordID]])
    }

    /// Each is sealed by the key of the scope above it, which another request would not have yet.
    @Test func sharesThatLieInEachOtherAreNotCutApart() {
        let top = note("top")
        let (upper, lower) = (note("upper", below: top), note("lower", below: note("upper")))
        let (other, apart) = (note("other", below: top), note("apart"))
        // Of which none comes first that another one needs.
        let shares = [lower, apart, other, upper].map { Share(rootRecord: $0) }
        let notes = (0..<390).map { note("note-\($0)") }
        let batch = Batch(recordsToSave: notes + [lower, top, apart, other, upper], sharesToSave: shares)
        var parts = batch.requests
        while let index = parts.firstIndex(where: { $0.halves != nil }) {
            let halves = parts[index].halves ?? []
            parts.replaceSubrange(index...index, with: halves)
        }
        #expect(parts.flatMap(\.recordIDs).count == batch.count)
        let together = parts.filter { $0.count > 1 }.map { Set($0.recordIDs) }.sorted { $0.count > $1.count }
        let nested = [top, upper, lower, other].map(\.recordID) + [shares[0], shares[2], shares[3]].map(\.recordID)
        #expect(together == [Set(nested), [apart.recordID, shares[1].recordID]])
        // Two shares of one root, which a server refuses together.
        let twice = Batch(recordsToSave: [apart], sharesToSave: [Share(rootRecord: apart), Share(rootRecord: apart)])
        #expect(twice.halves == nil)
    }

    @Test func theRootOfAShareIsTakenAlong() async throws {
        let root = note("root")
        let share = Share(rootRecord: root)
        let names = (0..<300).map { "note-\($0)" }
        var changes = [SyncEngine.PendingRecordZoneChange.saveRecord(share.recordID)]
        changes += names.map { .saveRecord(note($0).recordID) }
        changes += [.saveRecord(root.recordID), .deleteRecord(note("gone").recordID)]
        let batch = try #require(
            await Batch(pendingChanges: changes) { id -> (any SavableRecord)? in
                if id == share.recordID { share } else { note(id.recordName) }
            })
        #expect(batch.sharesToSave.map(\.recordID) == [share.recordID])
        #expect(batch.recordsToSave.count == Batch.mostItems)
        #expect(batch.recordsToSave.last?.recordID == root.recordID)
        #expect(batch.recordIDsToDelete.isEmpty)
    }

    // MARK: What becomes of it

    @Test func aShareIsSavedAmongRecords() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let root = note("root")
        var share = Share(rootRecord: root)
        share.title = "Notes"
        let app = Giving(Batch(recordsToSave: [note("a"), root, note("b")], sharesToSave: [share]))
        let engine = try app.start(device)
        engine.state.add(pendingRecordZoneChanges: app.changes)
        try await engine.sendChanges()
        #expect(app.sent.map { $0.savedRecords.count } == [3])
        #expect(app.sent.first?.savedShares.map(\.title) == ["Notes"])
        #expect(app.sent.first?.savedShares.first?.url != nil)
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(try await ann.own.share(withID: share.recordID).rootRecordID == root.recordID)
    }

    /// Nothing that goes with it is for whoever it puts out.
    @Test func aShareThatPutsSomebodyOutGoesFirst() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        var without = try await ann.share(of: zone)
        without.removeParticipant(try #require(without.participant(bob)))
        let mine = ann.note(in: zone, "not for bob", name: "mine")
        // Neither where it cannot be prepared.
        var batch = Batch(recordsToSave: [mine], sharesToSave: [without])
        batch.refuse(without, SealKitError(.networkFailure, "nobody can be looked up"))
        let app = Giving(batch)
        let device = try SyncDevice(ann)
        let engine = try app.start(device)
        engine.state.add(pendingRecordZoneChanges: app.changes)
        #expect(await failure { try await engine.sendChanges() } == .partialFailure)
        #expect(app.sent.first?.failedRecordSaves.map(\.error.code) == [.batchRequestFailed])
        #expect(engine.state.pendingRecordZoneChanges.count == 2)
        #expect(await failure { _ = try await ann.own.record(for: mine.recordID) } == .unknownItem)

        // Nor what a later request of the same send has.
        let many = (0..<420).map { ann.note(in: zone, "not for bob", name: "many-\($0)") }
        var tooLarge = without
        tooLarge.thumbnailImageData = Data(count: Limits.previewBytes)
        app.give(Batch(recordsToSave: many, sharesToSave: [tooLarge]))
        engine.state.add(pendingRecordZoneChanges: app.changes)
        #expect(await failure { try await engine.sendChanges() } == .partialFailure)
        #expect(await failure { _ = try await ann.own.record(for: many[0].recordID) } == .unknownItem)
        #expect(await failure { _ = try await ann.own.record(for: many[419].recordID) } == .unknownItem)
        engine.state.remove(pendingRecordZoneChanges: many.map { .saveRecord($0.recordID) })

        app.give(Batch(recordsToSave: [mine], sharesToSave: [without]))
        try await engine.sendChanges()
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        let epoch = try await ann.epoch(of: zone)
        #expect(app.sent.last?.savedRecords.first?.base?.statement.epoch == epoch)
        #expect(try await bob.shared.allRecordZones().isEmpty)
    }

    /// It goes with the next send, with its root; what had nothing to do with it was saved.
    @Test(arguments: [false, true]) func aShareThatCannotBePreparedStaysPending(isAtomic: Bool) async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let other = RecordZone.ID(zoneName: "other")
        try await ann.own.save(RecordZone(zoneID: other))
        let root = note("root")
        let share = Share(rootRecord: root)
        let elsewhere = Record(recordType: "Note", recordID: Record.ID(recordName: "elsewhere", zoneID: other))
        var batch = Batch(
            recordsToSave: [note("a"), root, elsewhere], sharesToSave: [share], atomicByZone: isAtomic)
        batch.refuse(share, SealKitError(.networkFailure, "nobody can be looked up"))
        let app = Giving(batch)
        let engine = try app.start(device)
        engine.state.add(pendingRecordZoneChanges: app.changes)
        #expect(await failure { try await engine.sendChanges() } == .partialFailure)
        #expect(app.sent.first?.failedShareSaves.map(\.error.code) == [.networkFailure])
        let left = isAtomic ? [note("a"), root] : [root]
        #expect(app.sent.first?.failedRecordSaves.map(\.record.recordID) == left.map(\.recordID))
        let codes = app.sent.first?.failedRecordSaves.map(\.error.code)
        #expect(Set(codes ?? []) == [.batchRequestFailed])
        #expect(
            Set(engine.state.pendingRecordZoneChanges.map(\.recordID)) == Set(left.map(\.recordID) + [share.recordID]))
        _ = try await ann.own.record(for: elsewhere.recordID)
        app.give(Batch(recordsToSave: left, sharesToSave: [share], atomicByZone: isAtomic))
        try await engine.sendChanges()
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        _ = try await ann.own.share(withID: share.recordID)
    }
}

/// A delegate that gives one batch.
private final class Giving: SyncEngineDelegate {
    private struct Content {
        var batch: SyncEngine.RecordZoneChangeBatch?
        var sent: [SyncEngine.Event.SentRecordZoneChanges] = []
    }

    private let content: Mutex<Content>

    init(_ batch: SyncEngine.RecordZoneChangeBatch) { content = Mutex(Content(batch: batch)) }

    var sent: [SyncEngine.Event.SentRecordZoneChanges] { content.withLock { $0.sent } }
    func give(_ batch: SyncEngine.RecordZoneChangeBatch) { content.withLock { $0.batch = batch } }

    /// What the batch is about.
    var changes: [SyncEngine.PendingRecordZoneChange] {
        content.withLock { content in
            let saves = content.batch.map { $0.recordsToSave.map(\.recordID) + $0.sharesToSave.map(\.recordID) } ?? []
            return saves.map { .saveRecord($0) }
        }
    }

    func start(_ device: SyncDevice) throws -> SyncEngine {
        var configuration = SyncEngine.Configuration(
            container: device.container, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = false
        return try SyncEngine(configuration, pacing: device.pacing.pacing)
    }

    func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async {
        guard case .sentRecordZoneChanges(let sent) = event else { return }
        content.withLock { $0.sent.append(sent) }
    }

    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? {
        content.withLock { content in
            defer { content.batch = nil }
            return content.batch
        }
    }
}
