import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// Archives that nobody exported.
extension DataArchiveTests {
    /// Changes an archive, with sums that fit again where `resum` says so.
    func altered(
        _ name: String, resum: Bool = true, _ change: (URL) throws -> Void
    ) throws -> URL {
        let copy = temporary.url.appendingPathComponent("altered-\(name)")
        try FileManager.default.copyItem(at: archive, to: copy)
        try change(copy)
        guard resum else { return copy }
        let file = copy.appendingPathComponent("manifest.json")
        guard
            var manifest = try? ArchiveFormat.decoder.decode(ArchiveFormat.Manifest.self, from: Data(contentsOf: file))
        else { return copy }
        manifest.zones = try manifest.zones.map { zone in
            var sums: [String: String] = [:]
            for name in zone.sums.keys {
                let handle = try FileHandle(forReadingFrom: copy.appendingPathComponent(zone.folder + "/" + name))
                sums[name] = try ArchiveFile.sum(of: handle).sha256
            }
            return .init(
                folder: zone.folder, zoneName: zone.zoneName, ownerName: zone.ownerName, database: zone.database,
                records: zone.records, assets: zone.assets, sums: sums)
        }
        try ArchiveFormat.encoder.encode(manifest).write(to: file)
        return copy
    }

    /// Not the zones before the damaged one, either.
    @Test func ofADamagedArchiveNothingIsImported() async throws {
        let (ann, eve) = (try await Person(), try await Person())
        for name in ["First", "Second"] {
            let zone = try await ann.makeZone(name)
            try await ann.own.save(ann.note(in: zone, "text", name: "one"))
        }
        _ = try await ann.container.exportData(to: archive)
        for file in ["records.jsonl", "zone.json"] {
            let folder = try altered(file, resum: false) { folder in
                let handle = try FileHandle(forWritingTo: folder.appendingPathComponent("zones/2/" + file))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data("\n".utf8))
            }
            #expect(await failure { _ = try await eve.container.importData(from: folder) } == .integrityFailure)
            let zones = try await eve.own.madeRecordZones().map(\.zoneID.zoneName)
            #expect(!zones.contains("First"), "\(file): \(zones)")
        }
    }

    @Test func archivesThatNoExportMadeAreRefused() async throws {
        let (ann, eve) = (try await Person(), try await Person())
        let zone = try await ann.makeZone("Small")
        let file = temporary.url.appendingPathComponent("file")
        try Data("hello".utf8).write(to: file)
        var note = ann.note(in: zone, "text", name: "one")
        note["count"] = 7
        note["file"] = Asset(fileURL: file)
        try await ann.own.save(note)
        _ = try await ann.container.exportData(to: archive)
        let lines = "zones/1/records.jsonl"
        func edit(_ path: String, _ from: String, _ to: String) -> (URL) throws -> Void {
            { folder in
                let file = folder.appendingPathComponent(path)
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.contains(from), "\(from)")
                try Data(text.replacing(from, with: to).utf8).write(to: file)
            }
        }
        func link(_ path: String, to target: String) -> (URL) throws -> Void {
            { folder in
                let file = folder.appendingPathComponent(path)
                try FileManager.default.removeItem(at: file)
                try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: target)
            }
        }
        let cases: [(String, Bool, SealKitError.Code, (URL) throws -> Void)] = [
            ("a field, without its sum", false, .integrityFailure, edit(lines, "\"7\"", "\"8\"")),
            ("an asset", true, .integrityFailure, edit("zones/1/assets/1", "hello", "HELLO")),
            (
                "cut", false, .integrityFailure,
                { try FileHandle(forWritingTo: $0.appendingPathComponent(lines)).truncate(atOffset: 40) }
            ),
            (
                "cut, with its sum", true, .invalidArguments,
                { try FileHandle(forWritingTo: $0.appendingPathComponent(lines)).truncate(atOffset: 40) }
            ),
            (
                "an asset elsewhere", true, .invalidArguments,
                edit(lines, "\"file\":\"1\"", "\"file\":\"../../../../file\"")
            ),
            ("an absolute asset", true, .invalidArguments, edit(lines, "\"file\":\"1\"", "\"file\":\"/etc/passwd\"")),
            ("a linked asset", true, .invalidArguments, link("zones/1/assets/1", to: file.path)),
            ("linked lines", false, .invalidArguments, link(lines, to: archive.appendingPathComponent(lines).path)),
            (
                "a linked folder", false, .invalidArguments,
                link("zones/1", to: archive.appendingPathComponent("zones/1").path)
            ),
            (
                "a pipe", false, .invalidArguments,
                { folder in
                    try FileManager.default.removeItem(at: folder.appendingPathComponent(lines))
                    #expect(mkfifo(folder.appendingPathComponent(lines).path, 0o600) == 0)
                }
            ),
            (
                "a folder elsewhere", true, .invalidArguments,
                { folder in
                    try edit("manifest.json", "zones/1", "../archive/zones/1")(folder)
                }
            ),
            (
                "no manifest", false, .invalidArguments,
                { try FileManager.default.removeItem(at: $0.appendingPathComponent("manifest.json")) }
            ),
            (
                "an empty manifest", false, .invalidArguments,
                { try Data().write(to: $0.appendingPathComponent("manifest.json")) }
            ),
            ("another format", false, .invalidArguments, edit("manifest.json", "sealkit-data", "sealkit-raw")),
            (
                "a later version", false, .incompatibleVersion,
                edit("manifest.json", "\"version\" : 1", "\"version\" : 2")
            ),
            ("a huge number", true, .invalidArguments, edit(lines, "\"7\"", "\"9223372036854775808\"")),
            ("a number for text", true, .invalidArguments, edit(lines, "\"7\"", "7")),
            ("another type", true, .invalidArguments, edit(lines, "int64", "int128")),
            (
                "text for a number", true, .invalidArguments,
                edit(lines, "\"int64\",\"value\":\"7\"", "\"double\",\"value\":\"seven\"")
            ),
            (
                "a list that is none", true, .invalidArguments,
                edit(lines, "\"type\":\"int64\"", "\"list\":true,\"type\":\"int64\"")
            ),
            (
                "an encrypted reference", true, .invalidArguments,
                edit(
                    lines, "\"type\":\"int64\",\"value\":\"7\"",
                    "\"encrypted\":true,\"type\":\"reference\",\"value\":{\"recordName\":\"a\"}")
            ),
            ("a field name", true, .invalidArguments, edit(lines, "\"count\"", "\"c o\"")),
            (
                "a record name", true, .invalidArguments,
                edit(lines, "\"recordName\":\"one\"", "\"recordName\":\"\\u0000\"")
            ),
            ("a type's name", true, .invalidArguments, edit(lines, "\"Note\"", "\"9\"")),
            ("a zone's name", true, .invalidArguments, edit("manifest.json", "\"Small\"", "\"_own\"")),
            (
                "its own parent", true, .invalidArguments,
                edit(lines, "\"recordName\":\"one\"", "\"parent\":\"one\",\"recordName\":\"one\"")
            ),
            (
                "no parent", true, .referenceViolation,
                edit(lines, "\"recordName\":\"one\"", "\"parent\":\"nobody\",\"recordName\":\"one\"")
            ),
            (
                "twice the same", true, .invalidArguments,
                { folder in
                    let file = folder.appendingPathComponent(lines)
                    let line = try Data(contentsOf: file)
                    try (line + line).write(to: file)
                }
            ),
        ]
        for (index, (what, resum, code, change)) in cases.enumerated() {
            let folder = try altered("\(index)", resum: resum, change)
            let found = await failure { _ = try await eve.container.importData(from: folder) }
            #expect(found == code, "\(what)")
        }
        // Nothing came of any of them.
        let zones = try await eve.own.madeRecordZones().map(\.zoneID)
        for zone in zones {
            let records = try await eve.own.recordZoneChanges(inZoneWith: zone).modifications
            #expect(records.isEmpty)
        }
        #expect(
            await failure {
                _ = try await eve.container.importData(from: temporary.url.appendingPathComponent("nowhere"))
            } == .invalidArguments)
        // The archive itself is good.
        #expect(try await eve.container.importData(from: archive).records == 1)
    }
}
