import Foundation
import SealKit
import SealLab
import SealStatements
import Testing

/// What the SDK exports raw, another implementation opens: the independent verifier, with nothing but the key file.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ExportTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Standard output of `verify.py`, one JSON object a line, and its exit status.
    func verify(_ folder: URL, keyFile: URL? = nil, url: String? = nil) async throws -> (
        lines: [[String: Any]], status: Int32
    ) {
        let command = try await Command.finished(
            Self.root.appendingPathComponent(".build/verifier/bin/python"),
            ["-B", Self.root.appendingPathComponent("Vectors/verify.py").path, "--export", folder.path]
                + (keyFile.map { ["--key-file", $0.path] } ?? []) + (url.map { ["--url", $0] } ?? []))
        let lines = try command.output.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        return (lines, command.status)
    }

    @Test func `The independent verifier opens a real record, asset and URL`() async throws {
        try #require(
            FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(".build/verifier/bin/python").path),
            "run Tests/Support/verifier first: it installs what the verifier needs")
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let anna = try await Person(server)
        let database = anna.own
        let keyFile = server.folder.appendingPathComponent("anna.key")
        try KeyFile.write(anna.account, to: keyFile, passphrase: nil)
        let zone = try await database.save(RecordZone(zoneName: "Notes"))
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        let file = server.folder.appendingPathComponent("scan.bin")
        try bytes.write(to: file)
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: "first", zoneID: zone.zoneID))
        record.encryptedValues["title"] = "Für mich"
        record["city"] = "Berlin"
        record["scan"] = Asset(fileURL: file)
        _ = try await database.save(record)
        var share = Share(recordZoneID: zone.zoneID)
        share.title = "Groceries"
        share = try await database.save(share)

        let folder = server.folder.appendingPathComponent("export")
        let export = try await database.exportRaw(zone.zoneID, to: folder)
        #expect(export.assets == 1)
        #expect(export.entries == 2)
        let (lines, status) = try await verify(folder, keyFile: keyFile, url: share.url)
        #expect(status == 0)
        func field(_ name: String) -> [String: Any]? {
            lines.first { $0["field"] as? String == name && $0["record"] as? String == "first" }
        }
        #expect((field("title")?["value"] as? [String: Any])?["string"] as? String == "Für mich")
        #expect(field("title")?["class"] as? String == "encrypted")
        #expect((field("city")?["value"] as? [String: Any])?["string"] as? String == "Berlin")
        #expect(field("scan")?["size"] as? Int == bytes.count)
        let preview = lines.compactMap { $0["preview"] as? [String: Any] }.first
        #expect(preview?["title"] as? String == "Groceries")
        #expect(lines.first { $0["url"] != nil }?["shareWide"] as? Bool == true)

        // It is no rubber stamp.
        let blob = folder.appendingPathComponent("asset-0.blob")
        var altered = try Data(contentsOf: blob)
        altered[100] ^= 1
        try altered.write(to: blob)
        #expect(try await verify(folder, keyFile: keyFile).status != 0)

        await #expect { try await database.exportRaw(zone.zoneID, to: folder) } throws: {
            ($0 as? SealKitError)?.code == .constraintViolation
        }
        let other = server.folder.appendingPathComponent("other")
        await #expect { try await database.exportRaw(zone.zoneID, recordNames: ["nobody"], to: other) } throws: {
            ($0 as? SealKitError)?.code == .unknownItem
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: server.folder.path).filter {
            $0.hasPrefix("other")
        }
        #expect(left.isEmpty, "nothing is left of an export that failed")
    }

    @Test
    func `The independent verifier follows records that went with others, and refuses a notice that does not hold`()
        async throws
    {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let anna = try await Person(server)
        let keyFile = server.folder.appendingPathComponent("anna.key")
        try KeyFile.write(anna.account, to: keyFile, passphrase: nil)
        let zone = try await anna.own.save(RecordZone(zoneName: "Lists")).zoneID
        let list = anna.note(in: zone, "list", name: "list")
        var item = anna.note(in: zone, "item", name: "item")
        item["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        item["rank"] = 1
        var detail = anna.note(in: zone, "detail", name: "detail")
        detail["items"] = [Record.Reference(recordName: "item", action: .deleteSelf)]
        _ = try await anna.own.modifyRecords(saving: [list, item, detail, anna.note(in: zone, "stays", name: "stays")])
        try await anna.own.deleteRecord(withID: list.recordID)

        let folder = server.folder.appendingPathComponent("gone")
        #expect(try await anna.own.exportRaw(zone, to: folder).records == 4)
        let (lines, status) = try await verify(folder, keyFile: keyFile)
        #expect(status == 0)
        func line(_ record: String) -> [String: Any]? {
            lines.first { $0["record"] as? String == record && $0["statement"] != nil }
        }
        for record in ["item", "detail"] {
            #expect(line(record)?["statement"] as? String == "gone")
            #expect(line(record)?["with"] as? String == "list")
            #expect(line(record)?["author"] as? String == anna.name)
            #expect(line(record)?["type"] as? String == "Note")
        }
        #expect(line("list")?["statement"] as? String == "delete")
        #expect(line("stays")?["statement"] as? String == "save")
        #expect(lines.last?["gone"] as? Int == 2)

        // One that was made again is a record like any other, and so is its target.
        try await anna.own.save(anna.note(in: zone, "again", name: "item"))
        try await anna.own.save(anna.note(in: zone, "again", name: "list"))
        let later = server.folder.appendingPathComponent("later")
        _ = try await anna.own.exportRaw(zone, to: later)
        let again = try await verify(later, keyFile: keyFile)
        #expect(again.status == 0)
        #expect(again.lines.last?["gone"] as? Int == 1)

        // Each lie about the first export is refused.
        let file = folder.appendingPathComponent("export.json")
        let whole = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let notices = try #require(whole["notices"] as? [[String: Any]])
        // By name, as they are in the deletion's tree.
        try #require(notices.count == 2)
        let (first, second) = (notices[0], notices[1])
        func with(_ notice: [String: Any], _ key: String, _ value: Any) -> [String: Any] {
            notice.merging([key: value]) { $1 }
        }
        let stays = try #require((whole["records"] as? [[String: Any]])?.last).filter { $0.key != "fields" }
        let lies: [(String, [[String: Any]])] = [
            ("twice", [second, second]), ("without a path", [with(second, "path", [String]())]),
            ("another record's place", [with(second, "index", 0)]),
            ("another record's path", [with(second, "path", first["path"] ?? [])]),
            ("another count", [with(second, "count", 3)]),
            ("a record that did not go", [with(second, "record", stays)]),
            ("a record that was not deleted as target", [with(second, "tombstone", stays)]),
        ]
        for (what, lie) in lies {
            try JSONSerialization.data(withJSONObject: whole.merging(["notices": lie]) { $1 }).write(to: file)
            let told = try await verify(folder, keyFile: keyFile)
            #expect(told.status == 1, "\(what)")
            #expect(told.lines.isEmpty, "\(what)")
        }
        // And whole again it holds.
        try JSONSerialization.data(withJSONObject: whole).write(to: file)
        #expect(try await verify(folder, keyFile: keyFile).status == 0)
    }

    @Test func `The independent verifier checks public records by their authors`() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (anna, bert) = (try await Person(server), try await Person(server))
        let file = server.folder.appendingPathComponent("map.bin")
        let bytes = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 * 3) })
        try bytes.write(to: file)
        var berlin = Record(recordType: "Place", recordID: Record.ID(recordName: "berlin"))
        berlin["city"] = "Berlin"
        berlin["map"] = Asset(fileURL: file)
        try await anna.container.publicDatabase.save(berlin)
        var paris = Record(recordType: "Place", recordID: Record.ID(recordName: "paris"))
        paris["city"] = "Paris"
        try await bert.container.publicDatabase.save(paris)

        let folder = server.folder.appendingPathComponent("places")
        let export = try await anna.container.publicDatabase.exportRaw(
            .default, recordNames: ["berlin", "paris"], to: folder)
        #expect(export.records == 2)
        #expect(export.assets == 1)
        #expect(export.entries == 0)
        let (lines, status) = try await verify(folder)
        #expect(status == 0)
        #expect(lines.first?["authors"] as? [String] == [anna.name, bert.name].sorted())
        func line(_ record: String, _ field: String?) -> [String: Any]? {
            lines.first { $0["record"] as? String == record && $0["field"] as? String == field }
        }
        #expect(line("berlin", nil)?["author"] as? String == anna.name)
        #expect(line("paris", nil)?["author"] as? String == bert.name)
        #expect((line("paris", "city")?["value"] as? [String: Any])?["string"] as? String == "Paris")
        #expect(line("berlin", "map")?["size"] as? Int == bytes.count)

        await #expect {
            try await anna.container.publicDatabase.exportRaw(.default, to: server.folder.appendingPathComponent("all"))
        } throws: {
            ($0 as? SealKitError)?.code == .invalidArguments
        }
        let absent = server.folder.appendingPathComponent("absent")
        await #expect {
            try await anna.container.publicDatabase.exportRaw(.default, recordNames: ["rome"], to: absent)
        } throws: {
            ($0 as? SealKitError)?.code == .unknownItem
        }

        // Another's name on a record, an author withheld, one too many, a changed field, a changed asset.
        let json = folder.appendingPathComponent("export.json")
        let whole = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: json)) as? [String: Any])
        let authors = try #require(whole["authors"] as? [[String: Any]])
        var records = try #require(whole["records"] as? [[String: Any]])
        var lies: [[String: Any]] = [
            ["authors": [authors[0]]], ["authors": [authors[1]]], ["authors": authors + authors],
        ]
        lies += [
            ["records": [records[0]], "assets": whole["assets"] ?? ""], ["records": records + [records[1]]],
            ["authors": [Any]()],
        ]
        lies += [
            ["user": anna.name], ["zoneName": "other"],
            ["notices": [["steps": [Any](), "tombstone": [String: Any]()]]],
        ]
        (records[0]["signature"], records[1]["signature"]) = (records[1]["signature"], records[0]["signature"])
        lies.append(["records": records])
        for lie in lies {
            try JSONSerialization.data(withJSONObject: whole.merging(lie) { $1 }).write(to: json)
            let told = try await verify(folder)
            #expect(told.status == 1, "\(lie.keys)")
            #expect(told.lines.isEmpty, "\(lie.keys)")
        }
        try JSONSerialization.data(withJSONObject: whole).write(to: json)
        var altered = bytes
        altered[70_000] ^= 1
        try altered.write(to: folder.appendingPathComponent("asset-0.blob"))
        #expect(try await verify(folder).status == 1)
        try bytes.write(to: folder.appendingPathComponent("asset-0.blob"))
        #expect(try await verify(folder).status == 0)
    }

    @Test func `Of an export made by the verifier itself no flipped bit goes unnoticed`() async throws {
        let python = Self.root.appendingPathComponent(".build/verifier/bin/python")
        let command = try await Command.finished(
            python,
            [
                "-B", "-c",
                "import sys; sys.path.insert(0, sys.argv[1]); from verifier.selftest import main; sys.exit(main())",
                Self.root.appendingPathComponent("Vectors").path,
            ])
        #expect(command.status == 0, "\(command.output)\(command.errors)")
        #expect(command.output.contains("0 failures"), "\(command.output)\(command.errors)")
    }
}
