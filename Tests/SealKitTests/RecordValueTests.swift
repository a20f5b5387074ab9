import Foundation
import SealStatements
import Testing

@testable import SealKit

/// What an app puts into records and keeps of them: values, ids, errors.
@Suite(.timeLimit(.minutes(60))) struct RecordValueTests {
    @Test func boolsFloatsAndReferencesAreStoredAsCloudKitStoresThem() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "x")
        record["done"] = true
        record["flags"] = [true, false]
        record["ratio"] = Float(0.5)
        record["one"] = Record.Reference(recordName: "a")
        record["many"] = [Record.Reference(recordName: "a"), Record.Reference(recordName: "b", action: .deleteSelf)]
        record.encryptedValues["secretly"] = false
        try await ann.own.save(record)
        let found = try await ann.onFreshDevice().own.record(for: record.recordID)
        #expect(found["done"] == true)
        #expect(found["flags"] == [true, false])
        #expect(found["ratio"] == Float(0.5))
        #expect(found.encryptedValues["secretly"] == false)
        #expect(found["one"] == Record.Reference(recordName: "a"))
        #expect(
            found["many"] == [
                Record.Reference(recordName: "a"), Record.Reference(recordName: "b", action: .deleteSelf),
            ])
        // To the server, to queries and to older versions of an app they are numbers.
        #expect(found.plainValue("done") == .int64(1))
        #expect(found.plainValue("ratio") == .double(0.5))
        let matches = try await ann.own.records(
            matching: Query(recordType: "Note", predicate: try Query.Predicate("done = %@", true)), inZoneWith: zone)
        #expect(matches.matchResults.map(\.0) == [record.recordID])
        // The builder needs nothing but this module either.
        let built = Query(
            recordType: "Note", predicate: Query.Field<Bool>("done") == true && Query.Field<Double>("ratio") < 1)
        #expect(try await ann.own.records(matching: built, inZoneWith: zone).matchResults.map(\.0) == [record.recordID])
        // What is neither 0 nor 1 is no Bool, and what is no integer neither.
        record["done"] = 2
        #expect(record["done"] as Bool? == nil)
        #expect(record["done"] as Int? == 2)
        #expect(record["ratio"] as Bool? == nil)
        record["done"] = nil as Bool?
        #expect(record.plainValue("done") == nil)
    }

    @Test func referencesCannotBeEncrypted() async throws {
        let ann = try await Person()
        var record = ann.note(in: try await ann.makeZone(), "x")
        record.encryptedValues["list"] = [Record.Reference(recordName: "a")]
        #expect(await failure { try await ann.own.save(record) } == .invalidArguments)
    }

    @Test func idsAndReferencesAreCodable() throws {
        struct Kept: Codable, Equatable {
            var record = Record.ID(
                recordName: "a", zoneID: RecordZone.ID(zoneName: "z", ownerName: "_0123456789abcdef0123456789abcdef"))
            var zone = RecordZone.ID.default
            var reference = Record.Reference(recordName: "b", action: .deleteSelf)
        }
        let data = try JSONEncoder().encode(Kept())
        #expect(try JSONDecoder().decode(Kept.self, from: data) == Kept())
        let wrong = String(decoding: data, as: UTF8.self).replacingOccurrences(of: #""action":1"#, with: #""action":7"#)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Kept.self, from: Data(wrong.utf8)) }
    }

    @Test func parentsAreSetByRecordAndByID() {
        let parent = Record(recordType: "Note", recordID: Record.ID(recordName: "parent"))
        var child = Record(recordType: "Note")
        child.setParent(parent)
        #expect(child.parent == Record.Reference(recordName: "parent"))
        child.setParent(nil as Record?)
        #expect(child.parent == nil)
        child.setParent(parent.recordID)
        #expect(child.parent?.recordName == "parent")
        #expect(child.parent?.action == Record.Reference.Action.none)
        #expect(RecordZone.default().zoneID == Record.ID().zoneID)
    }

    @Test func errorsSayTheirReasonWhereAppsShowThem() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        do {
            _ = try await ann.own.record(for: Record.ID(recordName: "absent", zoneID: zone))
            Issue.record("there is no such record")
        } catch {
            #expect((error as any Error).localizedDescription == error.reason)
            #expect((error as any LocalizedError).recoverySuggestion == error.remedy)
        }
        #expect((SealKitError(.internalError, "why") as any LocalizedError).recoverySuggestion == nil)
    }

    /// One id that cannot be asked for does not take the others along.
    @Test func eachZoneHasItsOwnResult() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let foreign = RecordZone.ID(zoneName: "z", ownerName: bob.name)
        let nobodys = RecordZone.ID(zoneName: "z", ownerName: "bob")
        let found = try await ann.own.recordZones(for: [zone, foreign, nobodys])
        #expect(found[zone]?.failureCode == nil)
        #expect(found[foreign]?.failureCode == .badDatabase)
        #expect(found[nobodys]?.failureCode == .invalidArguments)
        #expect(found.count == 3)
        let changes = try await ann.own.recordZoneChanges(inZonesWith: [
            zone: .init(), foreign: .init(), nobodys: .init(),
        ])
        #expect(changes[zone]?.failureCode == nil)
        #expect(changes[foreign]?.failureCode == .badDatabase)
        #expect(changes[nobodys]?.failureCode == .invalidArguments)
        #expect(await failure { _ = try await ann.shared.record(for: Record.ID(zoneID: nobodys)) } == .invalidArguments)
    }
}
