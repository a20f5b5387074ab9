import Foundation
import SealLab
import Testing

@testable import SealKit

@Suite struct AssetTests {
    private let temporary: TemporaryFolder
    private var folder: URL { temporary.url }

    init() throws { temporary = try TemporaryFolder() }

    @Test(arguments: [0, 1, 31, 65_536, 65_537, 1_048_576, 3_000_001])
    func assetsOfEverySizeComeBackByteForByte(size: Int) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = folder.appendingPathComponent("original")
        try pattern(size).write(to: file)
        var record = ann.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: file)
        record = try await ann.own.save(record)
        let found = try await ann.own.record(for: record.recordID)
        let asset: Asset? = found["file"]
        let url = try #require(asset?.fileURL)
        #expect(try Data(contentsOf: url) == pattern(size))
        #expect(asset?.size == UInt64(size))
        #expect(url.path.hasPrefix(TemporaryAssets.folder.path))

        // A change of another field leaves the stored asset alone.
        var edited = found
        edited.encryptedValues["body"] = "edited"
        try await ann.own.save(edited)
        let again: Asset? = try await ann.own.record(for: record.recordID)["file"]
        #expect(try Data(contentsOf: try #require(again?.fileURL)) == pattern(size))
    }

    @Test func missingAndChangingFilesAreTypedErrors() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "x")
        record["file"] = Asset(fileURL: folder.appendingPathComponent("absent"))
        #expect(await failure { try await ann.own.save(record) } == .assetFileNotFound)
        record["file"] = Asset(fileURL: folder)
        #expect(await failure { try await ann.own.save(record) } == .assetFileNotFound)
    }

    @Test func assetsOnDemandStayOnTheServer() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = folder.appendingPathComponent("original")
        try pattern(200_000).write(to: file)
        var record = ann.note(in: zone, "x")
        record["file"] = Asset(fileURL: file)
        try await ann.own.save(record)
        let found = try await ann.own.fetchingAssets(.onDemand).record(for: record.recordID)
        let asset: Asset? = found["file"]
        #expect(asset?.fileURL == nil)
        let target = folder.appendingPathComponent("copy")
        try await ann.own.download(try #require(asset), of: record.recordID, to: target)
        #expect(try Data(contentsOf: target) == pattern(200_000))
    }

    /// The server's folder is in the hands of an attacker: one byte changes, and nothing of the asset is handed out.
    @Test func anAlteredBlobIsRefusedBeforeAnythingIsHandedOut() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        let file = folder.appendingPathComponent("original")
        try pattern(200_000).write(to: file)
        var record = ann.note(in: zone, "x")
        record["file"] = Asset(fileURL: file)
        record = try await ann.own.save(record)
        let blobs = try #require(FileManager.default.enumerator(at: server.dataFolder, includingPropertiesForKeys: [.fileSizeKey]))
        let blob = try #require(blobs.compactMap { $0 as? URL }.first { url in
            (try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0 > 200_000 && !url.path.contains("sqlite")
        })
        for offset in [100, 70_000, 199_999] {
            let before = try Data(contentsOf: blob)
            var altered = before
            altered[offset] ^= 1
            try altered.write(to: blob)
            #expect(await failure { _ = try await ann.own.record(for: record.recordID) } == .integrityFailure)
            try before.write(to: blob)
        }
        let whole: Asset? = try await ann.own.record(for: record.recordID)["file"]
        #expect(try Data(contentsOf: try #require(whole?.fileURL)) == pattern(200_000))
    }
}
