import Foundation
import SealLab
import SealStatements
import Testing

@testable import SealKit

/// Raw exports of zones with shared hierarchies: every scope, each with its own roster and keys.
extension ExportTests {
    /// Ann's zone: a list with an item that she shares with Bob, a diary that she shared once, and a note.
    private func world(_ server: ServerProcess) async throws -> (
        ann: Person, bob: Person, zone: RecordZone.ID, url: String
    ) {
        let (ann, bob) = (try await Person(server), try await Person(server))
        let zone = try await ann.own.save(RecordZone(zoneName: "Lists")).zoneID
        let list = ann.note(in: zone, "the list", name: "list")
        var item = ann.note(in: zone, "the item", name: "item")
        item.setParent(list)
        let diary = ann.note(in: zone, "the diary", name: "diary")
        var page = ann.note(in: zone, "a page", name: "page")
        page.setParent(diary)
        _ = try await ann.own.modifyRecords(saving: [
            list, item, diary, page, ann.note(in: zone, "the note", name: "note"),
        ])
        var url = ""
        for name in ["diary", "list"] {
            let root = try await ann.own.record(for: Record.ID(recordName: name, zoneID: zone))
            var share = Share(rootRecord: root, shareID: Record.ID(recordName: "share-\(name)", zoneID: zone))
            share.title = "All of the \(name)"
            share.addParticipant(try await ann.participant(bob, .readWrite))
            let saved = try await ann.own.save(share, rootRecord: root).share
            url = try #require(saved.url)
            _ = try await bob.join(url)
        }
        let share = try await ann.own.share(withID: Record.ID(recordName: "share-diary", zoneID: zone))
        try await ann.own.deleteRecord(withID: share.recordID)
        return (ann, bob, zone, url)
    }

    private func bodies(_ lines: [[String: Any]]) -> [String: String] {
        var found: [String: String] = [:]
        for line in lines where line["field"] as? String == "body" {
            guard let record = line["record"] as? String else { continue }
            found[record] = (line["value"] as? [String: Any])?["string"] as? String
        }
        return found
    }

    @Test func `The independent verifier opens every scope of a zone, those of shares that ended too`() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob, zone, url) = try await world(server)
        let (keyFile, bobs) = (
            server.folder.appendingPathComponent("ann.key"), server.folder.appendingPathComponent("bob.key")
        )
        try KeyFile.write(ann.account, to: keyFile, passphrase: nil)
        try KeyFile.write(bob.account, to: bobs, passphrase: nil)
        let folder = server.folder.appendingPathComponent("all")
        let export = try await ann.own.exportRaw(zone, to: folder)
        // Five records, the share's record, and the tombstone of the one that ended.
        #expect(export.records == 7)
        let (lines, status) = try await verify(folder, keyFile: keyFile, url: url)
        #expect(status == 0)
        #expect(lines.compactMap { $0["shareRecordName"] as? String } == ["", "share-diary", "share-list"])
        let all = ["list": "the list", "item": "the item", "diary": "the diary", "page": "a page", "note": "the note"]
        #expect(bodies(lines) == all)
        let preview = lines.compactMap { $0["preview"] as? [String: Any] }.first
        #expect(preview?["title"] as? String == "All of the list")

        // Bob exports what he reads: the list, and nothing beside it.
        let part = server.folder.appendingPathComponent("part")
        let joined = RecordZone.ID(zoneName: "Lists", ownerName: ann.name)
        #expect(try await bob.shared.exportRaw(joined, to: part).records == 3)
        let (seen, bobsStatus) = try await verify(part, keyFile: bobs)
        #expect(bobsStatus == 0)
        #expect(seen.compactMap { $0["shareRecordName"] as? String } == ["share-list"])
        #expect(bodies(seen) == ["list": "the list", "item": "the item"])
        #expect(try await verify(part, keyFile: keyFile).status == 1)
    }

    @Test func `An export whose scopes were exchanged or left out is refused`() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, _, zone, _) = try await world(server)
        let keyFile = server.folder.appendingPathComponent("ann.key")
        try KeyFile.write(ann.account, to: keyFile, passphrase: nil)
        let folder = server.folder.appendingPathComponent("all")
        _ = try await ann.own.exportRaw(zone, to: folder)
        let file = folder.appendingPathComponent("export.json")
        let whole = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let hierarchies = try #require(whole["hierarchies"] as? [[String: Any]])
        #expect(hierarchies.count == 2)
        func with(_ hierarchy: [String: Any], _ key: String, _ value: Any?) -> [String: Any] {
            hierarchy.merging([key: value ?? ""]) { $1 }
        }
        let lies: [(String, String, Any)] = [
            ("left out", "hierarchies", [hierarchies[0]]), ("none", "hierarchies", [[String: Any]]()),
            ("twice", "hierarchies", hierarchies + [hierarchies[1]]),
            (
                "another's roster", "hierarchies",
                [hierarchies[0], with(hierarchies[1], "roster", hierarchies[0]["roster"])]
            ),
            (
                "another's grants", "hierarchies",
                [hierarchies[0], with(hierarchies[1], "grants", hierarchies[0]["grants"])]
            ),
            ("no grants", "hierarchies", [hierarchies[0], with(hierarchies[1], "grants", [Any]())]),
            ("another name", "hierarchies", [hierarchies[0], with(hierarchies[1], "shareRecordName", "other")]),
            ("no name", "hierarchies", [hierarchies[0], with(hierarchies[1], "shareRecordName", "")]),
            ("the zone's roster left out", "roster", [Any]()), ("a share as the zone", "shareRecordName", "share-list"),
            ("an older format", "version", 2),
        ]
        for (what, key, value) in lies {
            try JSONSerialization.data(withJSONObject: whole.merging([key: value]) { $1 }).write(to: file)
            let told = try await verify(folder, keyFile: keyFile)
            #expect(told.status == 1, "\(what)")
            #expect(told.lines.isEmpty, "\(what)")
        }
        try JSONSerialization.data(withJSONObject: whole).write(to: file)
        #expect(try await verify(folder, keyFile: keyFile).status == 0)
    }
}
