import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealKit

/// Taking one's data out, opened, and bringing it in elsewhere.
@Suite(.timeLimit(.minutes(60))) struct DataArchiveTests {
    let temporary: TemporaryFolder
    var archive: URL { temporary.url.appendingPathComponent("archive") }

    init() throws { temporary = try TemporaryFolder() }

    private static let location = Location(
        latitude: 48.2082, longitude: -16.37, altitude: 151.5, horizontalAccuracy: 3, verticalAccuracy: -1,
        course: 359.9, speed: 0,
        time: -0.1)

    /// Every kind, at its ends.
    private static let values: [Value] = [
        .string(""), .string("a\u{0}\n\"\\ é 🏔️ \u{202E}"), .data([]), .data([0, 255, 10, 13]), .int64(.min),
        .int64(.max), .int64(0),
        .double(0), .double(-0.0), .double(.nan), .double(.infinity), .double(-.infinity),
        .double(.leastNonzeroMagnitude),
        .double(.greatestFiniteMagnitude), .double(0.1), .double(1e300), .date(0), .date(1), .date(-1), .date(0.1),
        .date(-0.1),
        .date(785_457_600.123456), .date(252_423_993_599.999969), .date(252_423_993_600), .date(1e300),
        .date(-.greatestFiniteMagnitude),
        .date(-63_113_904_000), .date((-63_113_904_000).nextDown), .date(.leastNonzeroMagnitude), .location(location),
        .list([]),
    ]
    private static let references: [Value] = [
        .reference(ReferenceValue(recordName: "elsewhere")),
        .reference(ReferenceValue(recordName: "a", action: .deleteSelf)),
    ]

    @Test func everyValueComesBackFromItsJSON() throws {
        var all = Self.values + Self.references
        for kind in ValueKind.allCases where kind != .asset {
            all.append(.list((Self.values + Self.references).filter { $0.kind == kind }))
        }
        for value in all {
            for isEncrypted in [false, true] {
                let data = try ArchiveFormat.encoder.encode(
                    ArchivedField(content: .value(value), isEncrypted: isEncrypted))
                let back = try ArchiveFormat.decoder.decode(ArchivedField.self, from: data)
                guard case .value(let found) = back.content else { throw SealError.malformed }
                #expect(
                    try found.canonicalBytes() == value.canonicalBytes() && back.isEncrypted == isEncrypted,
                    "\(String(decoding: data, as: UTF8.self))")
            }
        }
    }

    @Test(arguments: [
        #"{"type":"string","list":true,"value":[]}"#, #"{"list":true,"value":["a"]}"#,
        #"{"type":"date","value":"2025-11-21T22:40:00.10Z"}"#,
        #"{"type":"date","value":"@0"}"#, #"{"type":"date","value":0}"#, #"{"type":"asset","list":true,"value":[]}"#,
        #"{"value":[]}"#,
    ])
    func whatNoExportWritesIsNotRead(_ json: String) {
        #expect(throws: (any Error).self) {
            try ArchiveFormat.decoder.decode(ArchivedField.self, from: Data(json.utf8))
        }
    }

    private struct Content {
        let zone: RecordZone.ID
        let names: [String]
        let photo: Data
    }

    /// A zone with every kind of value, plain and encrypted, children that come before their parents in the feed, and
    /// files.
    private func fill(_ ann: Person) async throws -> Content {
        let zone = try await ann.makeZone("Archive")
        let photo = pattern(200_000)
        let file = temporary.url.appendingPathComponent("photo-\(UUID().uuidString)")
        try photo.write(to: file)
        let empty = temporary.url.appendingPathComponent("empty-\(UUID().uuidString)")
        try Data().write(to: empty)
        var all = Record(recordType: "Everything", recordID: Record.ID(recordName: "everything", zoneID: zone))
        for (index, value) in Self.values.enumerated() {
            // Texts with a NUL are for encrypted fields; plain ones the server compares.
            if case .string(let text) = value, text.contains("\u{0}") {
            } else {
                all.setPlainValue("plain\(index)", value)
            }
            all.encryptedValues.setValue("sealed\(index)", value)
            all.encryptedValues.setValue("list\(index)", value.kind == nil ? value : .list([value, value]))
        }
        all.setPlainValue("reference", Self.references[0])
        all["photo"] = Asset(fileURL: file)
        all["empty"] = Asset(fileURL: empty)
        try await ann.own.save(all)
        var names = ["everything"]
        // A chain, each below the one before; then saved again from the top, so that the feed has children first.
        var chain: [Record] = []
        for number in 0..<5 {
            var record = ann.note(in: zone, "link \(number)", name: "link\(number)")
            if let parent = chain.last { record.setParent(parent) }
            chain.append(try await ann.own.save(record))
            names.append("link\(number)")
        }
        for var record in chain.reversed() {
            record.encryptedValues["body"] = "again"
            try await ann.own.save(record)
        }
        try await ann.own.save(ann.note(in: zone, "gone", name: "gone"))
        try await ann.own.deleteRecord(withID: Record.ID(recordName: "gone", zoneID: zone))
        return Content(zone: zone, names: names, photo: photo)
    }

    @Test func anAccountComesBackInAnotherOne() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let content = try await fill(ann)
        var share = Share(recordZoneID: content.zone)
        share.title = "Garden"
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let url = try #require(try await ann.own.save(share).url)
        let export = try await ann.container.exportData(to: archive)
        #expect(export.records == 6)
        #expect(export.assets == 2)
        #expect(export.unreadable == 0)

        // Its user's alone, and without what opens a share or an account.
        let paths = try FileManager.default.subpathsOfDirectory(atPath: archive.path)
        for path in paths {
            let file = archive.appendingPathComponent(path)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(path)")
            guard !isFolder else { continue }
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            #expect(!text.contains(url))
            #expect(!text.contains(Base64URL.encode(ann.account.seed.bytes)))
        }
        let about = try String(contentsOf: archive.appendingPathComponent("zones/1/zone.json"), encoding: .utf8)
        #expect(about.contains(bob.name))
        #expect(about.contains("Garden"))

        // Elsewhere: another server.
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let eve = try await Person(server)
        let done = try await eve.container.importData(from: archive)
        #expect(done.records == 6)
        #expect(done.unchanged == 0)
        #expect(done.different.isEmpty)
        for name in content.names {
            let (id, copy) = (
                Record.ID(recordName: name, zoneID: content.zone),
                Record.ID(recordName: name, zoneID: RecordZone.ID(zoneName: "Archive"))
            )
            let (one, other) = (try await ann.own.record(for: id), try await eve.own.record(for: copy))
            #expect(one.recordType == other.recordType)
            #expect(one.parent == other.parent)
            #expect(one.allKeys() == other.allKeys())
            for key in one.allKeys() {
                #expect(try one.plainValue(key)?.canonicalBytes() == other.plainValue(key)?.canonicalBytes(), "\(key)")
                #expect(
                    try one.encryptedValues.value(key)?.canonicalBytes()
                        == other.encryptedValues.value(key)?.canonicalBytes(), "\(key)")
            }
            guard name == "everything" else { continue }
            #expect(try Data(contentsOf: try #require((other["photo"] as Asset?)?.fileURL)) == content.photo)
            #expect((other["empty"] as Asset?)?.size == 0)
        }
        #expect(
            await failure {
                _ = try await eve.own.record(
                    for: Record.ID(recordName: "gone", zoneID: RecordZone.ID(zoneName: "Archive")))
            } == .unknownItem)

        // Once more: nothing is saved; and what was changed there stays.
        var changed = try await eve.own.record(
            for: Record.ID(recordName: "link0", zoneID: RecordZone.ID(zoneName: "Archive")))
        changed.encryptedValues["body"] = "mine"
        try await eve.own.save(changed)
        try await eve.own.deleteRecord(
            withID: Record.ID(recordName: "link4", zoneID: RecordZone.ID(zoneName: "Archive")))
        let again = try await eve.container.importData(from: archive)
        #expect(again.records == 1)
        #expect(again.unchanged == 4)
        #expect(again.different.map(\.recordName) == ["link0"])
        let kept: String? = try await eve.own.record(for: changed.recordID).encryptedValues["body"]
        #expect(kept == "mine")
        // Exported from there: the same records.
        let second = temporary.url.appendingPathComponent("second")
        #expect(try await eve.container.exportData(to: second).records == 6)
        #expect(await failure { _ = try await eve.container.exportData(to: second) } == .constraintViolation)
    }

    @Test func sharedZonesComeAlongWhenAskedFor() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let shared = try await SharedZone(of: ann, with: [(bob, .readOnly)])
        try await ann.own.save(ann.note(in: shared.zoneID, "from Ann"))
        #expect(try await bob.container.exportData(to: archive).records == 0)
        let all = temporary.url.appendingPathComponent("all")
        let export = try await bob.container.exportData(to: all, includingShared: true)
        #expect(export.records == 1)
        // They are the other's: an import leaves them out, and says so.
        let done = try await bob.container.importData(from: all)
        #expect(done.records == 0)
        #expect(done.skipped.map(\.zoneName) == [shared.zoneID.zoneName])
        #expect(done.skipped.map(\.database) == [.shared])
        #expect(
            await failure {
                _ = try await bob.container.exportData(
                    to: all.appendingPathExtension("x"), zoneIDs: [RecordZone.ID(zoneName: "none")])
            } == .zoneNotFound)
        // Nothing is left of what did not come to its end.
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.url.path).sorted() == ["all", "archive"])
    }

    /// What changes while it is read is there in its last version, and what is deleted meanwhile is not: whether
    /// another device does it, so that the version before is in the archive too, or this one, which knows better by the
    /// time that the page comes.
    @Test(arguments: [true, false]) func changesMeanwhileAreInTheirLastVersion(byAnotherDevice: Bool) async throws {
        let (ann, eve) = (try await Person(), try await Person())
        let zone = try await ann.makeZone("Busy")
        for start in [0, 300] {
            _ = try await ann.own.modifyRecords(
                saving: (start..<start + 300).map { ann.note(in: zone, "old", name: "n\($0)") })
        }
        let network = try HostileNetwork(ann.server)
        let device = try ann.through(network)
        let writer = try byAnotherDevice ? ann.onFreshDevice() : ann
        let pages = Counter()
        network.lie { path, _, _ in
            // After the first page: the first of its records changes, and the second goes.
            guard path.hasSuffix("records/changes"), pages.next() == 1 else { return }
            var first = try await writer.own.record(for: Record.ID(recordName: "n0", zoneID: zone))
            first.encryptedValues["body"] = "new"
            try await writer.own.save(first)
            try await writer.own.deleteRecord(withID: Record.ID(recordName: "n1", zoneID: zone))
        }
        let export = try await device.container.exportData(to: archive)
        #expect(pages.value > 1, "there is more than one page")
        #expect(export.unreadable == 0)
        let violations = try await device.container.violations()
        #expect(violations.isEmpty, "the server has shown nothing but what it had")
        let about = try JSONDecoder().decode(
            ArchiveFormat.Zone.self, from: try Data(contentsOf: archive.appendingPathComponent("zones/1/zone.json")))
        #expect(about.repeated.sorted() == (byAnotherDevice ? ["n0", "n1"] : ["n0"]))
        _ = try await eve.container.importData(from: archive)
        let copy = RecordZone.ID(zoneName: "Busy")
        let body: String? = try await eve.own.record(for: Record.ID(recordName: "n0", zoneID: copy)).encryptedValues[
            "body"]
        #expect(body == "new")
        #expect(
            await failure { _ = try await eve.own.record(for: Record.ID(recordName: "n1", zoneID: copy)) }
                == .unknownItem)
        #expect(try await eve.container.exportData(to: temporary.url.appendingPathComponent("b")).records == 599)
    }

    /// Lists of references too, and nothing else that is called so.
    @Test func whoeverImportsTakesTheExportersPlaceInEveryReference() async throws {
        let (ann, eve) = (try await Person(), try await Person())
        let zone = try await ann.makeZone("References")
        let names = [ann.name, "first", ann.name]
        var record = ann.note(in: zone, ann.name, name: "first")
        record.setPlainValue("one", .reference(ReferenceValue(recordName: ann.name)))
        record.setPlainValue("many", .list(names.map { .reference(ReferenceValue(recordName: $0)) }))
        record.setPlainValue("text", .list([.string(ann.name)]))
        try await ann.own.save(record)
        _ = try await ann.container.exportData(to: archive, zoneIDs: [zone])
        _ = try await eve.container.importData(from: archive)
        let copy = try await eve.own.record(
            for: Record.ID(recordName: "first", zoneID: RecordZone.ID(zoneName: "References")))
        #expect(copy.plainValue("one") == .reference(ReferenceValue(recordName: eve.name)))
        let renamed = [eve.name, "first", eve.name].map { Value.reference(ReferenceValue(recordName: $0)) }
        #expect(copy.plainValue("many") == .list(renamed))
        #expect(copy.plainValue("text") == .list([.string(ann.name)]))
        #expect(copy.encryptedValues["body"] == ann.name)
        // Its own by then, it is the same at the next import.
        let again = try await eve.container.importData(from: archive)
        #expect(again.records == 0)
        #expect(again.unchanged == 1)
        #expect(again.different.isEmpty)
    }

    /// An asset of the same size and other bytes is another, sealed or public, and stays.
    @Test(arguments: [0, 1, 70_000, 1_100_000]) func anAssetIsTheSameByItsBytes(size: Int) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone("Files")
        let file = temporary.url.appendingPathComponent("file")
        try pattern(size).write(to: file)
        let name = "asset-\(UUID().uuidString)"
        var sealed = ann.note(in: zone, "x", name: name)
        sealed["file"] = Asset(fileURL: file)
        sealed = try await ann.own.save(sealed)
        var plain = Record(recordType: "Leaflet", recordID: Record.ID(recordName: name))
        plain["file"] = Asset(fileURL: file)
        plain = try await ann.container.publicDatabase.save(plain)
        _ = try await ann.container.exportData(to: archive)
        let same = try await ann.container.importData(from: archive, includingPublic: true)
        #expect(same.records == 0)
        #expect(same.different.isEmpty)
        #expect(same.differentPublic.isEmpty)
        #expect(same.unchanged >= 2)
        guard size > 0 else { return }
        var other = pattern(size)
        other[size - 1] ^= 1
        try other.write(to: file)
        sealed["file"] = Asset(fileURL: file)
        plain["file"] = Asset(fileURL: file)
        try await ann.own.save(sealed)
        try await ann.container.publicDatabase.save(plain)
        let done = try await ann.container.importData(from: archive, includingPublic: true)
        #expect(done.records == 0)
        #expect(done.different.map(\.recordName) == [name])
        #expect(done.differentPublic.map(\.recordName) == [name])
        let kept: Asset? = try await ann.own.record(for: sealed.recordID)["file"]
        #expect(try Data(contentsOf: try #require(kept?.fileURL)) == other)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// On a file system of its own, which the file does not fit on.
    @Test func aFullDiskIsToldWithWhatDidNotFit() async throws {
        let server = try ServerProcess.shared.get()
        let environment = ["SEALKIT_KEY_FILE": temporary.url.appendingPathComponent("ann").path]
        let file = temporary.url.appendingPathComponent("film")
        try pattern(2 << 20).write(to: file)
        for arguments in [
            ["account", "create", "--server", server.origin], ["zone", "create", "Notes"],
            ["record", "save", "--zone", "Notes", "--type", "Film", "--name", "film", "--asset", "film=" + file.path],
        ] {
            let said = try await Command.finished(ServerProcess.executable, arguments, environment: environment)
            #expect(said.status == 0, "\(said.errors)")
        }
        let script = """
            mount -t tmpfs -o size=1m,mode=0700 tmpfs "$1" 2>/dev/null || exit 99
            "$0" data export "$1/archive"
            status=$?
            ls -A "$1"
            exit $status
            """
        let disk = try TemporaryFolder()
        let said = try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["unshare", "-rm", "/bin/sh", "-c", script, ServerProcess.executable.path, disk.url.path],
            environment: environment)
        // Where no file system may be mounted there is nothing to see.
        guard said.status != 99, !said.errors.contains("unshare") else { return }
        #expect(said.status == 73, "\(said.output)\(said.errors)")
        #expect(said.output.isEmpty, "\(said.output)\(said.errors)")
        #expect(said.errors.contains("zones/1/assets/1 of the export at \(disk.url.path)/archive"))
        #expect(said.errors.contains("make room"))
    }

    @Test func theCommandsExportAndImport() async throws {
        let server = try ServerProcess.shared.get()
        func run(_ key: String, _ arguments: String...) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable, arguments + ["--key-file", temporary.url.appendingPathComponent(key).path])
        }
        for key in ["ann", "eve"] {
            #expect(try await run(key, "account", "create", "--server", server.origin).status == 0)
        }
        #expect(try await run("ann", "zone", "create", "Notes").status == 0)
        let saved = try await run(
            "ann", "record", "save", "--zone", "Notes", "--type", "Note", "--name", "first", "--seal", "title=Plans")
        #expect(saved.status == 0, "\(saved.errors)")
        let name = "public-\(UUID().uuidString)"
        let published = try await run(
            "ann", "record", "save", "--database", "public", "--type", "Place", "--name", name, "--set", "city=Berlin")
        #expect(published.status == 0, "\(published.errors)")
        let exported = try await run("ann", "data", "export", archive.path)
        #expect(exported.status == 0)
        #expect(exported.output.contains("2 records"))
        #expect(exported.errors.contains("not encrypted"))
        #expect(try await run("ann", "data", "export", archive.path).status == 73)
        let imported = try await run("eve", "data", "import", archive.path)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(imported.output.contains("1 record saved"), "\(imported.errors)")
        #expect(imported.errors.contains("1 record; import them with --public"))
        let publishing = try await run("eve", "data", "import", archive.path, "--public", "--json")
        #expect(publishing.status == 0, "\(publishing.output)")
        #expect(publishing.output.contains("\"differentPublic\":[\"\(name)\"]"), "\(publishing.output)")
        #expect(
            try await run("eve", "data", "import", archive.path, "--public").errors.contains(
                "left as it is in the public database: \(name)"))
        #expect(
            try await run("ann", "data", "import", archive.path, "--public").output.contains(
                "0 records saved, 2 were there"))
        #expect(try await run("eve", "record", "get", "first", "--zone", "Notes").output.contains("Plans"))
        #expect(try await run("eve", "data", "import", temporary.url.path).status == 65)
    }
}
