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
        "title": "text", "pages": "number 4", "isPinned": "number 1", "weight": "number 1.5", "due": "other",
        "tags": "other",
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

    private func check<Note: AppNote, Habits: AppHabits>(_: Note.Type, _: Habits.Type) async throws {
        let record = Note.record(in: zone, scan: scan)
        let note = try #require(Note(record: record))
        #expect(note.title == "Plans")
        #expect(note.pages == 4)
        #expect(note.isPinned)
        #expect(note.tags == ["a", "b"])
        #expect(note.body == "Tomatoes go left")
        #expect(note.scan == scan)
        #expect(note.folder?.recordName == "folder")
        #expect(note.due != nil)
        let (seen, share) = (Habits.kinds(of: record), Habits.share(of: zone))
        #expect(seen == kinds)
        #expect(share.title == "Our notes")
        let database = try database()
        let isSignedIn = try await Habits.isSignedIn(database, record)
        let codes = try await Habits.save(record, in: database, attempts: 3)
        let code = try await Habits.read(try emptyFile(), into: record, database)
        let made = try await Habits.makeZone(of: record, in: database)
        #expect(made.refused == .notAuthenticated)
        #expect(made.children.allSatisfy { ($0["note"] as? Record.Reference)?.action == .deleteSelf })
        #expect(!isSignedIn)
        #expect(codes.count == 3)
        #expect(code == .notAuthenticated)
    }

    @Test func inSwift5Mode() async throws { try await check(ConsumerSwift5.Note.self, ConsumerSwift5.Habits.self) }

    @Test func inSwift6Mode() async throws { try await check(ConsumerSwift6.Note.self, ConsumerSwift6.Habits.self) }

    @Test func withMemberImportVisibility() throws {
        let record = ConsumerMemberImports.Note.record(in: zone, scan: scan)
        let (note, seen) = (ConsumerMemberImports.Note(record: record), ConsumerMemberImports.Habits.kinds(of: record))
        #expect(note?.pages == 4)
        #expect(seen == kinds)
        let query = try ConsumerMemberImports.Habits.query("work")
        let text = ConsumerMemberImports.Habits.text(of: record.plainValue("pages"))
        #expect(query.recordType == "Note")
        #expect(text == "4")
    }

    @Test func besideOtherPackages() {
        #expect(Bystander.names().contains("Note"))
        #expect(Bystander.names().first == "changed")
        #expect(Bystander.isMissing(CocoaError(.fileNoSuchFile)))
        #expect(Bystander.isMissing(SealKitError(.unknownItem, "")))
        #expect(!Bystander.isMissing(SealKitError(.zoneNotFound, "")))
    }
}

/// The same code of an app, whichever mode it was compiled in.
private protocol AppNote {
    var title: String { get }
    var pages: Int { get }
    var isPinned: Bool { get }
    var due: Date? { get }
    var tags: [String] { get }
    var body: String? { get }
    var scan: URL? { get }
    var folder: Record.Reference? { get }

    init?(record: Record)
    static func record(in zoneID: RecordZone.ID, scan: URL) -> Record
}

private protocol AppHabits {
    static func kinds(of record: Record) -> [String: String]
    static func share(of zoneID: RecordZone.ID) -> Share
    static func isSignedIn(_ database: Database, _ record: Record) async throws -> Bool
    static func makeZone(of record: Record, in database: Database) async throws -> (
        children: [Record], refused: SealKitError.Code?
    )
    static func save(_ record: Record, in database: Database, attempts: Int) async throws -> [SealKitError.Code]
    static func read(_ file: URL, into record: Record, _ database: Database) async throws -> SealKitError.Code?
}

extension ConsumerSwift5.Note: AppNote {}
extension ConsumerSwift5.Habits: AppHabits {}
extension ConsumerSwift6.Note: AppNote {}
extension ConsumerSwift6.Habits: AppHabits {}
