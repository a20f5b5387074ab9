import CloudKit
import Testing

@Suite(.timeLimit(.minutes(60))) struct QueryTests {
    private func fill(_ database: CKDatabase, _ zone: CKRecordZone.ID) async throws {
        let records = (1...5).map { number in
            let record = CKRecord.note("\(number)", in: zone)
            record["number"] = number
            record["folder"] = number < 4 ? "work" : "home"
            record["tags"] = ["all", "n\(number)"]
            return record
        }
        _ = try await database.modifyRecords(saving: records, deleting: [])
    }

    private func names(
        _ database: CKDatabase, _ zone: CKRecordZone.ID, _ predicate: NSPredicate, order: [NSSortDescriptor]? = nil
    ) async throws -> [String] {
        let query = CKQuery(recordType: "Note", predicate: predicate)
        query.sortDescriptors = order ?? [NSSortDescriptor(key: "number", ascending: true)]
        let (matches, _) = try await database.records(matching: query, inZoneWith: zone)
        return try matches.map { try $1.get().recordID.recordName }
    }

    @Test func predicates() async throws {
        try await Cloud.runNotes { database, zone in
            try await fill(database, zone)
            func found(_ predicate: NSPredicate) async throws -> [String] { try await names(database, zone, predicate) }
            #expect(try await found(NSPredicate(value: true)) == ["1", "2", "3", "4", "5"])
            #expect(try await found(NSPredicate(value: false)) == [])
            #expect(try await found(NSPredicate(format: "number > %d", 3)) == ["4", "5"])
            #expect(try await found(NSPredicate(format: "%K = %@", "folder", "home")) == ["4", "5"])
            #expect(try await found(NSPredicate(format: "folder = 'work' AND number < 3")) == ["1", "2"])
            #expect(try await found(NSPredicate(format: "number IN %@", [1, 5])) == ["1", "5"])
            #expect(try await found(NSPredicate(format: "tags CONTAINS %@", "n2")) == ["2"])
            #expect(try await found(NSPredicate(format: "number = %@", argumentArray: [NSNumber(value: 2)])) == ["2"])
            let ids = ["2", "5"].map { CKRecord.ID(recordName: $0, zoneID: zone) }
            #expect(try await found(NSPredicate(format: "recordID IN %@", ids)) == ["2", "5"])
            #expect(try await found(NSPredicate(format: "recordID = %@", ids[0])) == ["2"])
            let references = ids.map { CKRecord.Reference(recordID: $0, action: .none) }
            #expect(try await found(NSPredicate(format: "recordID IN %@", references)) == ["2", "5"])
            #expect(NSPredicate(format: "%K = %@ AND n < %d", "a", "b", 3).predicateFormat == "a = \"b\" AND n < 3")
            let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
                NSPredicate(format: "folder = %@", "work"),
                NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "number = 1")),
            ])
            #expect(try await found(both) == ["2", "3"])
            let down = try await names(
                database, zone, NSPredicate(value: true), order: [NSSortDescriptor(key: "number", ascending: false)])
            #expect(down == ["5", "4", "3", "2", "1"])
        }
    }

    @Test func pages() async throws {
        try await Cloud.runNotes { database, zone in
            try await fill(database, zone)
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "number > 1"))
            query.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
            var page = try await database.records(
                matching: query, inZoneWith: zone, desiredKeys: ["folder"], resultsLimit: 2)
            var names = page.matchResults.map(\.0.recordName)
            #expect(names.count == 2)
            #expect(try page.matchResults[0].1.get().allKeys() == ["folder"])
            while let cursor = page.queryCursor {
                let data = try NSKeyedArchiver.archivedData(withRootObject: cursor, requiringSecureCoding: true)
                let kept = try #require(
                    try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryCursor.self, from: data))
                page = try await database.records(continuingMatchFrom: kept, resultsLimit: 2)
                names += page.matchResults.map(\.0.recordName)
            }
            #expect(names == ["2", "3", "4", "5"])
        }
    }

    @Test func whatCannotBeAskedIsRefused() async throws {
        try await Cloud.runNotes { database, zone in
            try await fill(database, zone)
            for predicate in [
                NSPredicate(format: "number = 1 OR number = 2"), NSPredicate(format: "number ="),
                NSPredicate(format: "number = %@"), NSPredicate(block: { _, _ in true }),
                NSPredicate(format: "number = %@", URL(fileURLWithPath: "/")),
                NSCompoundPredicate(orPredicateWithSubpredicates: [
                    NSPredicate(value: true), NSPredicate(value: false),
                ]),
                NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "number = 1 AND folder = 'a'")),
            ] {
                await expectFailure(.invalidArguments) { _ = try await names(database, zone, predicate) }
            }
            await expectFailure(.invalidArguments) {
                _ = try await names(
                    database, zone, NSPredicate(value: true),
                    order: [NSSortDescriptor(keyPath: \NSObject.hash, ascending: true)])
            }
        }
    }
}

/// Arguments are the app's, and changed by it when it likes.
@Suite(.timeLimit(.minutes(60))) struct PredicateArgumentTests {
    @Test func aPredicateHasWhatItsArgumentsWere() throws {
        let (text, list) = (NSMutableString(string: "before"), NSMutableArray(array: ["a"]))
        let record = CKRecord(recordType: "Folder")
        let predicate = NSPredicate(format: "title == %@ AND tag IN %@ AND folder == %@", text, list, record)
        let before = predicate.copy() as? NSPredicate
        text.setString("after")
        list.add("b")
        let said = (predicate as any CustomFormat).predicateFormat
        #expect(said.contains("before"))
        #expect(!said.contains("after"))
        #expect(before == predicate)
    }
}

private protocol CustomFormat { var predicateFormat: String { get } }
extension NSPredicate: CustomFormat {}
