import ConsumerBystander
import ConsumerMemberImports
import ConsumerSwift5
import ConsumerSwift6
import Foundation
import SealKit
import Testing

/// Code as a CloudKit programmer writes it, in each language mode.
@Suite(.timeLimit(.minutes(60))) struct ConsumerTests {
    private let zone = RecordZone.ID(zoneName: "Notes")
    private let scan = URL(fileURLWithPath: "/tmp/plans.pdf")
    private let kinds = [
        "title": "text", "pages": "number 4", "isPinned": "number 1", "weight": "number 1.5", "due": "other", "tags": "other",
        "thumbnail": "other", "scan": "asset", "folder": "reference", "count": "number 7", "place": "place 52.5",
    ]

    private func emptyFile() throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(UUID().uuidString)")
        try Data().write(to: file)
        return file
    }

    /// Nobody is signed in: every call fails at once.
    private func database() throws -> Database {
        let accounts = AccountProvider()
        accounts.signOut()
        return try Container("org.example.notes", accounts: accounts).privateDatabase
    }

    @Test func inSwift5Mode() async throws {
        let record = ConsumerSwift5.Note.record(in: zone, scan: scan)
        let read = ConsumerSwift5.Note(record: record)
        let note = try #require(read)
        #expect(note.title == "Plans" && note.pages == 4 && note.isPinned && note.tags == ["a", "b"])
        #expect(note.body == "Tomatoes go left" && note.scan == scan && note.folder?.recordName == "folder" && note.due != nil)
        let (seen, share) = (ConsumerSwift5.Habits.kinds(of: record), ConsumerSwift5.Habits.share(of: zone))
        #expect(seen == kinds && share.title == "Our notes")
        let database = try database()
        let isSignedIn = try await ConsumerSwift5.Habits.isSignedIn(database, record)
        let codes = try await ConsumerSwift5.Habits.save(record, in: database)
        let code = try await ConsumerSwift5.Habits.read(try emptyFile(), into: record, database)
        #expect(!isSignedIn && codes.count == 3 && code == .notAuthenticated)
    }

    @Test func inSwift6Mode() async throws {
        let record = ConsumerSwift6.Note.record(in: zone, scan: scan)
        let read = ConsumerSwift6.Note(record: record)
        let note = try #require(read)
        #expect(note.title == "Plans" && note.pages == 4 && note.isPinned && note.tags == ["a", "b"])
        #expect(note.body == "Tomatoes go left" && note.scan == scan && note.folder?.recordName == "folder" && note.due != nil)
        let (seen, share) = (ConsumerSwift6.Habits.kinds(of: record), ConsumerSwift6.Habits.share(of: zone))
        #expect(seen == kinds && share.title == "Our notes")
        let database = try database()
        let isSignedIn = try await ConsumerSwift6.Habits.isSignedIn(database, record)
        let codes = try await ConsumerSwift6.Habits.save(record, in: database)
        let code = try await ConsumerSwift6.Habits.read(try emptyFile(), into: record, database)
        #expect(!isSignedIn && codes.count == 3 && code == .notAuthenticated)
    }

    @Test func withMemberImportVisibility() throws {
        let record = ConsumerMemberImports.Note.record(in: zone, scan: scan)
        let (note, seen) = (ConsumerMemberImports.Note(record: record), ConsumerMemberImports.Habits.kinds(of: record))
        #expect(note?.pages == 4 && seen == kinds)
        let query = try ConsumerMemberImports.Habits.query("work")
        let text = ConsumerMemberImports.Habits.text(of: record.plainValue("pages"))
        #expect(query.recordType == "Note" && text == "4")
    }

    @Test func besideOtherPackages() {
        #expect(Bystander.names().contains("Note") && Bystander.names().first == "changed")
        #expect(Bystander.isMissing(CocoaError(.fileNoSuchFile)) && Bystander.isMissing(SealKitError(.unknownItem, "")))
        #expect(!Bystander.isMissing(SealKitError(.zoneNotFound, "")))
    }
}
