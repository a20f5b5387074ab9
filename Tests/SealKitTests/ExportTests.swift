import Foundation
import SealLab
import SealKit
import Testing

/// What the SDK exports raw, another implementation opens: the independent verifier, with nothing but the key file.
@Suite(.serialized) struct ExportTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Standard output of `verify.py`, one JSON object a line, and its exit status.
    private func verify(_ folder: URL, keyFile: URL, url: String? = nil) throws -> (lines: [[String: Any]], status: Int32) {
        let command = try Command.run(
            Self.root.appendingPathComponent(".build/verifier/bin/python"),
            ["-B", Self.root.appendingPathComponent("Vectors/verify.py").path, "--export", folder.path, "--key-file", keyFile.path]
                + (url.map { ["--url", $0] } ?? []))
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
        #expect(export.assets == 1 && export.entries == 2)
        let (lines, status) = try verify(folder, keyFile: keyFile, url: try #require(share.url))
        #expect(status == 0)
        func field(_ name: String) -> [String: Any]? { lines.first { $0["field"] as? String == name && $0["record"] as? String == "first" } }
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
        #expect(try verify(folder, keyFile: keyFile).status != 0)

        await #expect { try await database.exportRaw(zone.zoneID, to: folder) } throws: {
            ($0 as? SealKitError)?.code == .constraintViolation
        }
        let other = server.folder.appendingPathComponent("other")
        await #expect { try await database.exportRaw(zone.zoneID, recordNames: ["nobody"], to: other) } throws: {
            ($0 as? SealKitError)?.code == .unknownItem
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: server.folder.path).filter { $0.hasPrefix("other") }
        #expect(left.isEmpty, "nothing is left of an export that failed")
    }
}
