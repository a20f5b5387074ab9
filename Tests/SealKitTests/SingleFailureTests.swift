import Foundation
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// What is wrong with one record of a batch fails that record: alone, or in an atomic batch its zone's others with it.
@Suite(.timeLimit(.minutes(60))) struct SingleFailureTests {
    let folder = TemporaryAssets.folder.appendingPathComponent("test-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    enum Fault: CaseIterable, Sendable {
        case absentFile, folderAsFile, assetOfAnotherField
        case reservedField, encryptedReference, mixedList, badRecordType, badRecordName, ownParent
        case tooManyFields, tooLarge

        var code: SealKitError.Code {
            switch self {
            case .absentFile, .folderAsFile: .assetFileNotFound
            case .assetOfAnotherField: .assetNotAvailable
            case .tooManyFields, .tooLarge: .limitExceeded
            default: .invalidArguments
            }
        }
    }

    private func faulty(_ fault: Fault, _ ann: Person, in zone: RecordZone.ID) async throws -> Record {
        var record = ann.note(in: zone, "bad", name: "bad")
        switch fault {
        case .absentFile: record["file"] = Asset(fileURL: folder.appendingPathComponent("absent"))
        case .folderAsFile: record["file"] = Asset(fileURL: folder)
        case .assetOfAnotherField:
            var source = ann.note(in: zone, "source", name: "source")
            source["file"] = try file("source")
            try await ann.own.save(source)
            let found = try await ann.onFreshDevice().own.fetchingAssets(.onDemand).record(for: source.recordID)
            let asset: Asset = try #require(found["file"])
            record["file"] = asset
        case .reservedField: record["recordName"] = "mine"
        case .encryptedReference: record.encryptedValues.setValue("ref", .reference(ReferenceValue(recordName: "good")))
        case .mixedList: record.encryptedValues.setValue("list", .list([.int64(1), .string("two")]))
        case .badRecordType: record = Record(recordType: "no type", recordID: record.recordID)
        case .badRecordName: record = Record(recordType: "Note", recordID: Record.ID(recordName: "näme", zoneID: zone))
        case .ownParent: record.parent = Record.Reference(recordName: "bad")
        case .tooManyFields: for number in 0..<1_001 { record["field\(number)"] = "x" }
        case .tooLarge: record.encryptedValues["body"] = String(repeating: "x", count: 1_100_000)
        }
        return record
    }

    private func file(_ name: String) throws -> Asset {
        let url = folder.appendingPathComponent(name)
        try pattern(5_000).write(to: url)
        return Asset(fileURL: url)
    }

    @Test(arguments: Fault.allCases, [false, true])
    func oneRecordFailsByItself(_ fault: Fault, atomically: Bool) async throws {
        let ann = try await Person()
        let (zone, other) = (try await ann.makeZone(), try await ann.makeZone())
        let old = try await ann.own.save(ann.note(in: zone, "old", name: "old"))
        let good = ann.note(in: zone, "good", name: "good")
        var filed = ann.note(in: zone, "filed", name: "filed")
        filed["file"] = try file("filed")
        let elsewhere = ann.note(in: other, "elsewhere")
        let bad = try await faulty(fault, ann, in: zone)
        let results = try await ann.own.modifyRecords(
            saving: [good, bad, filed, elsewhere], deleting: [old.recordID], atomically: atomically)
        #expect(results.saveResults[bad.recordID]?.failureCode == fault.code)
        let others: SealKitError.Code? = atomically ? .batchRequestFailed : nil
        for id in [good.recordID, filed.recordID] {
            #expect(results.saveResults[id] != nil)
            #expect(results.saveResults[id]?.failureCode == others)
            #expect(await failure { _ = try await ann.own.record(for: id) } == (atomically ? .unknownItem : nil))
        }
        #expect(results.deleteResults[old.recordID] != nil)
        #expect(results.deleteResults[old.recordID]?.failureCode == others)
        #expect(await failure { _ = try await ann.own.record(for: old.recordID) } == (atomically ? nil : .unknownItem))
        // Of other zones none.
        _ = try #require(results.saveResults[elsewhere.recordID]).get()
        #expect(try await ann.own.record(for: elsewhere.recordID).encryptedValues["body"] == "elsewhere")
    }

    /// Several are told each its own fault, and the batch goes through once they are mended.
    @Test func eachHasItsOwnFault() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var (orphan, reserved) = (ann.note(in: zone, "orphan"), ann.note(in: zone, "reserved"))
        orphan.parent = Record.Reference(recordName: orphan.recordID.recordName)
        reserved["recordName"] = "mine"
        let good = ann.note(in: zone, "good")
        let results = try await ann.own.modifyRecords(saving: [orphan, good, reserved])
        #expect(results.saveResults[orphan.recordID]?.failureCode == .invalidArguments)
        #expect(results.saveResults[reserved.recordID]?.failureCode == .invalidArguments)
        #expect(results.saveResults[good.recordID]?.failureCode == .batchRequestFailed)
        orphan.parent = nil
        reserved["recordName"] = nil
        let mended = try await ann.own.modifyRecords(saving: [orphan, good, reserved])
        for result in mended.saveResults.values { _ = try result.get() }
        #expect(mended.saveResults.count == 3)
    }

    /// The root of a new share goes with its neighbours, and so does the share.
    @Test(arguments: [Fault.absentFile, .reservedField, .tooManyFields])
    func noShareIsMadeBesideIt(_ fault: Fault) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let root = try await ann.own.save(ann.note(in: zone, "root", name: "root"))
        let share = Share(rootRecord: root)
        let bad = try await faulty(fault, ann, in: zone)
        let results = try await ann.own.modifyRecords(saving: [root, bad], shares: [share])
        #expect(results.saveResults[bad.recordID]?.failureCode == fault.code)
        #expect(results.saveResults[root.recordID]?.failureCode == .batchRequestFailed)
        #expect(results.shareResults[share.recordID]?.failureCode == .batchRequestFailed)
        #expect(try await ann.own.record(for: root.recordID).share == nil)
        // Without it both are.
        let saved = try await ann.own.save(share, rootRecord: root)
        #expect(saved.rootRecord.share?.recordName == saved.share.recordID.recordName)
    }

    @Test func inThePublicDatabaseToo() async throws {
        let ann = try await Person()
        let database = ann.container.publicDatabase
        func post(_ name: String) -> Record {
            Record(recordType: "Post", recordID: Record.ID(recordName: "\(name)-\(UUID().uuidString)"))
        }
        let own = try await ann.own.save(ann.note(in: try await ann.makeZone(), "private"))
        var (absent, sealed, child) = (post("absent"), post("sealed"), post("child"))
        var (crowded, good) = (post("crowded"), post("good"))
        absent["file"] = Asset(fileURL: folder.appendingPathComponent("absent"))
        sealed.encryptedValues["body"] = "secret"
        child.parent = Record.Reference(recordName: own.recordID.recordName)
        for number in 0..<1_001 { crowded["field\(number)"] = "x" }
        let share = Record(recordType: "cloudkit.share", recordID: post("share").recordID)
        good["body"] = "good"
        good["file"] = try file("public")
        let results = try await database.modifyRecords(saving: [absent, sealed, child, crowded, share, good])
        #expect(results.saveResults[absent.recordID]?.failureCode == .assetFileNotFound)
        #expect(results.saveResults[share.recordID]?.failureCode == .badDatabase)
        #expect(results.saveResults[crowded.recordID]?.failureCode == .limitExceeded)
        for record in [sealed, child] {
            #expect(results.saveResults[record.recordID]?.failureCode == .invalidArguments)
        }
        _ = try #require(results.saveResults[good.recordID]).get()
        #expect(try await database.record(for: good.recordID)["body"] == "good")
    }
}
