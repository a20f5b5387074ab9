import Foundation
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// What one has made in the public database goes into the archive, and out of it.
extension DataArchiveTests {
    func post(_ body: String, name: String = "post-\(UUID().uuidString)") -> Record {
        var record = Record(recordType: "Post", recordID: Record.ID(recordName: name))
        record["body"] = body
        return record
    }

    func manifest(_ folder: URL) throws -> ArchiveFormat.Manifest { try ArchiveReader(folder: folder).manifest() }

    func names(of person: Person) async throws -> [String] {
        try await person.container.publicDatabase.createdRecords(after: "").results.map(\.0.recordName)
    }

    @Test func whatOneHasPublishedComesBackOnAnotherServer() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let database = ann.container.publicDatabase
        let photo = pattern(100_000)
        let file = temporary.url.appendingPathComponent("photo")
        try photo.write(to: file)
        var own = try await ann.container.userRecord()
        own["nickname"] = "Ann"
        try await database.save(own)
        var full = post("with all", name: "full-\(UUID().uuidString)")
        full["photo"] = Asset(fileURL: file)
        full["by"] = Record.Reference(recordName: ann.name)
        // Neither of them is in the archive, nor on the other server.
        full["others"] = [
            Record.Reference(recordName: bob.name), Record.Reference(recordName: "nowhere", action: .deleteSelf),
        ]
        full = try await database.save(full)
        try await bob.container.publicDatabase.save(post("Bob's"))
        let gone = try await database.save(post("gone"))
        try await database.deleteRecord(withID: gone.recordID)

        let export = try await ann.container.exportData(to: archive)
        #expect(export.zones == 1)
        #expect(export.records == 2)
        #expect(export.assets == 1)
        #expect(export.unreadable == 0)
        let entry = try #require(try manifest(archive).zones.last)
        #expect(entry.database == .public)
        #expect(entry.zoneName == "_defaultZone")
        #expect(entry.ownerName == UserID(.zero).recordName)
        let lines = try String(contentsOf: archive.appendingPathComponent("zones/1/records.jsonl"), encoding: .utf8)
        #expect(lines.contains("with all"))
        #expect(!lines.contains("gone"))
        #expect(!lines.contains("Bob's"))

        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let eve = try await Person(server)
        // Nobody publishes by a slip.
        let kept = try await eve.container.importData(from: archive)
        #expect(kept.records == 0 && kept.skipped.map(\.database) == [.public] && kept.skipped.map(\.records) == [2])
        #expect(try await names(of: eve).isEmpty)
        let done = try await eve.container.importData(from: archive, includingPublic: true)
        #expect(done.records == 2)
        #expect(done.zones == 1)
        #expect(done.skipped.isEmpty)
        #expect(done.differentPublic.isEmpty)
        #expect(try await names(of: eve) == [eve.name, full.recordID.recordName])
        let copy = try await eve.container.publicDatabase.record(for: full.recordID)
        #expect(copy.creatorUserRecordID?.recordName == eve.name)
        #expect(copy["body"] == "with all")
        #expect(try Data(contentsOf: try #require((copy["photo"] as Asset?)?.fileURL)) == photo)
        // The exporter's name became the importer's; others are left as they are.
        #expect(copy["by"] == Record.Reference(recordName: eve.name))
        let others: [Record.Reference]? = copy["others"]
        #expect(
            others == [
                Record.Reference(recordName: bob.name), Record.Reference(recordName: "nowhere", action: .deleteSelf),
            ])
        #expect(try await eve.container.userRecord()["nickname"] == "Ann")
        // Once more: nothing is saved, and what was changed there stays.
        var changed = copy
        changed["body"] = "Eve's"
        try await eve.container.publicDatabase.save(changed)
        let again = try await eve.container.importData(from: archive, includingPublic: true)
        #expect(again.records == 0)
        #expect(again.unchanged == 1)
        #expect(again.different.isEmpty)
        #expect(again.differentPublic == [full.recordID])
        #expect(try await eve.container.exportData(to: temporary.url.appendingPathComponent("second")).records == 2)
    }

    @Test func namesThatSomebodyElseHasAreLeftToThem() async throws {
        let (ann, eve) = (try await Person(), try await Person())
        let zone = try await ann.makeZone("Mixed")
        try await ann.own.save(ann.note(in: zone, "private"))
        var own = try await ann.container.userRecord()
        own["nickname"] = "Ann"
        own = try await ann.container.publicDatabase.save(own)
        let post = try await ann.container.publicDatabase.save(post("Ann's"))
        #expect(try await ann.container.exportData(to: archive).records == 2 + 1)
        // The same server: the post is Ann's there, however alike; the own record is Eve's own.
        let done = try await eve.container.importData(from: archive, includingPublic: true)
        #expect(done.records == 2)
        #expect(done.unchanged == 0)
        #expect(done.different.isEmpty)
        #expect(done.differentPublic == [post.recordID])
        #expect(try await names(of: eve) == [eve.name])
        let found = try await eve.container.publicDatabase.record(for: post.recordID)
        #expect(found.creatorUserRecordID?.recordName == ann.name)
        #expect(found.recordChangeTag == post.recordChangeTag)
        // Ann herself has it all.
        let hers = try await ann.container.importData(from: archive, includingPublic: true)
        #expect(hers.records == 0)
        #expect(hers.unchanged == 3)
        #expect(hers.differentPublic.isEmpty)
    }

    @Test func nothingPublicHasNoEntryAndNamedZonesAreAlone() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone("Alone")
        try await ann.own.save(ann.note(in: zone, "private"))
        _ = try await ann.container.exportData(to: archive)
        #expect(try manifest(archive).zones.map(\.database) == [.private])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: archive.appendingPathComponent("zones").path) == ["1"])
        try await ann.container.publicDatabase.save(post("public"))
        let named = temporary.url.appendingPathComponent("named")
        _ = try await ann.container.exportData(to: named, zoneIDs: [zone])
        #expect(try manifest(named).zones.map(\.database) == [.private])
    }

    @Test func allPagesAreRead() async throws {
        let ann = try await Person()
        let prefix = UUID().uuidString
        for start in [0, 400] {
            let posts = (start..<start + 400).map { post("\($0)", name: "\(prefix)-\(10_000 + $0)") }
            _ = try await ann.container.publicDatabase.modifyRecords(saving: posts)
        }
        try await ann.container.publicDatabase.save(post("last", name: "\(prefix)-last"))
        let network = try HostileNetwork(ann.server)
        let export = try await ann.through(network).container.exportData(to: archive)
        #expect(export.records == 801)
        #expect(network.exchanges.count { $0.path.hasSuffix("public/records/created") } == 3)
        let lines = try String(contentsOf: archive.appendingPathComponent("zones/1/records.jsonl"), encoding: .utf8)
        #expect(lines.split(separator: "\n").count == 801)
    }

    // MARK: Archives

    @Test func publicEntriesThatNoExportMadeAreRefused() async throws {
        let (ann, eve) = (try await Person(), try await Person())
        let name = "post-\(UUID().uuidString)"
        try await ann.container.publicDatabase.save(post("hello", name: name))
        _ = try await ann.container.exportData(to: archive)
        let record = "\"recordName\":\"\(name)\""
        let cases: [(String, SealKitError.Code, path: String, from: String, to: String)] = [
            ("another database", .invalidArguments, "manifest.json", "\"public\"", "\"secret\""),
            ("another zone", .invalidArguments, "manifest.json", "_defaultZone", "Notes"),
            ("another container", .badContainer, "manifest.json", "org.example.notes", "org.example.other"),
            ("another environment", .badContainer, "manifest.json", "development", "production"),
            ("a parent", .invalidArguments, "zones/1/records.jsonl", record, "\"parent\":\"p\",\(record)"),
            ("a share", .invalidArguments, "zones/1/records.jsonl", record, "\"share\":\"s\",\(record)"),
            (
                "an encrypted value", .invalidArguments, "zones/1/records.jsonl", "\"type\":\"string\"",
                "\"encrypted\":true,\"type\":\"string\""
            ),
            ("a user's name", .invalidArguments, "zones/1/records.jsonl", name, "_0123456789abcdef0123456789abcdef"),
        ]
        for (index, (what, code, path, from, to)) in cases.enumerated() {
            let folder = try altered("public-\(index)") { folder in
                let file = folder.appendingPathComponent(path)
                let text = try String(contentsOf: file, encoding: .utf8)
                try #require(text.contains(from), "\(from)")
                try Data(text.replacing(from, with: to).utf8).write(to: file)
            }
            let found = await failure { _ = try await eve.container.importData(from: folder, includingPublic: true) }
            #expect(found == code, "\(what)")
        }
        #expect(try await names(of: eve).isEmpty)
    }

    /// A record that the server does not take is named in the error.
    @Test func whatIsNotTakenIsNamed() async throws {
        let (ann, eve) = (try await Person(), try await Person())
        let name = "post-\(UUID().uuidString)"
        try await ann.container.publicDatabase.save(post("hello", name: name))
        _ = try await ann.container.exportData(to: archive)
        try await ann.container.publicDatabase.deleteRecord(withID: Record.ID(recordName: name))
        let network = try HostileNetwork(eve.server)
        network.rewrite("public/records/modify", Sealkit_V1_ModifyRecordsResponse.self) {
            $0.results[0].failure = Sealkit_V1_Failure(
                .permissionFailure, "The caller's roles do not give it the right.")
        }
        let device = try eve.through(network)
        do {
            _ = try await device.container.importData(from: archive, includingPublic: true)
            Issue.record("it was imported")
        } catch {
            #expect(error.code == .permissionFailure)
            #expect(error.reason.contains(name))
        }
    }

    /// It is there, and this account cannot tell what it is: it is nobody's to write over.
    @Test func whatMayNotBeReadThereIsLeft() async throws {
        let ann = try await Person()
        let saved = try await ann.container.publicDatabase.save(post("hello"))
        _ = try await ann.container.exportData(to: archive)
        let network = try HostileNetwork(ann.server)
        network.rewrite("public/records/lookup", Sealkit_V1_LookupRecordsResponse.self) {
            $0.results[0].failure = Sealkit_V1_Failure(.permissionFailure, "Not for you.")
        }
        let done = try await ann.through(network).container.importData(from: archive, includingPublic: true)
        #expect(done.records == 0)
        #expect(done.differentPublic == [saved.recordID])
        #expect(network.exchanges.allSatisfy { !$0.path.hasSuffix("public/records/modify") })
    }
}
