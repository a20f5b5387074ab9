import Foundation
import NIOCore
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct AssetTests {
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

    /// Whoever may write chose the padding too: what is not zero there would be a second content that nobody is shown.
    @Test(arguments: [0, 10, 65_537]) func paddingThatIsNotZeroIsNoAsset(size: Int) throws {
        let layout = AssetLayout(size: UInt64(size))
        let padded = Int(layout.paddedSize)
        #expect(padded > size + 1)
        func open(altered place: Int?, to name: String) throws {
            var random = SystemRandom()
            let (key, salt) = (SecretBytes(random: &random, count: 32), Digest(random: &random))
            let cipher = AssetCipher(fileKey: key, salt: salt, layout: layout)
            var plain = [UInt8](repeating: 7, count: size) + [UInt8](repeating: 0, count: padded - size)
            if let place { plain[place] = 1 }
            var sealed: [[UInt8]] = []
            var start = 0
            for index in 0..<layout.chunkCount {
                let count = layout.plaintextBytes(ofChunk: index)
                var chunk = [UInt8](repeating: 0, count: count + 16)
                try plain[start..<start + count].withUnsafeBytes { bytes in
                    try chunk.withUnsafeMutableBytes { try cipher.seal(chunk: index, bytes, into: $0) }
                }
                sealed.append(chunk)
                start += count
            }
            let leaves = sealed.map { chunk in chunk.withUnsafeBytes { AssetHash.leaf($0) } }
            let asset = SealedAsset(
                fileKey: key, size: UInt64(size), salt: salt, chunkCount: layout.chunkCount,
                root: try AssetTree.root(leaves))
            let remote = Asset.Remote(
                content: .sealed(asset), blob: "blob", recordID: Record.ID(recordName: "film"), key: "file")
            let part = try PartFile(folder.appendingPathComponent(name), replaces: true)
            let opener = try AssetOpener(asset, remote, leafBytes: leaves.flatMap(\.bytes), file: part)
            do {
                for chunk in sealed { try opener.take(ByteBuffer(bytes: chunk)) }
                try opener.finish()
            } catch {
                part.abandon()
                throw error
            }
        }
        try open(altered: nil, to: "good")
        #expect(try Data(contentsOf: folder.appendingPathComponent("good")) == Data(repeating: 7, count: size))
        for place in [size, size + 1, padded - 1] {
            do {
                try open(altered: place, to: "bad")
                Issue.record("byte \(place) of the padding was taken")
            } catch {
                #expect((error as? SealKitError)?.code == .integrityFailure, "\(error)")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["good"])
    }

    /// Sealed bytes belong to one field: in another, or in another record, they are sealed and sent again.
    @Test func aFetchedAssetIsSealedAgainForAnotherField() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let file = folder.appendingPathComponent("original")
        try pattern(70_000).write(to: file)
        var record = ann.note(in: zone, "x", name: "first")
        record["file"] = Asset(fileURL: file)
        try await ann.own.save(record)
        record = try await ann.own.record(for: record.recordID)
        let asset: Asset? = record["file"]
        record["copy"] = asset
        var second = ann.note(in: zone, "y", name: "second")
        second["file"] = asset
        let results = try await ann.own.modifyRecords(saving: [record, second])
        #expect(results.saveResults.values.compactMap(\.failureCode).isEmpty)
        let reader = try ann.onFreshDevice()
        var blobs: Set<String> = []
        for (id, key) in [(record.recordID, "file"), (record.recordID, "copy"), (second.recordID, "file")] {
            let found: Asset? = try await reader.own.record(for: id)[key]
            #expect(try Data(contentsOf: try #require(found?.fileURL)) == pattern(70_000))
            blobs.insert(try #require(found?.remote?.blob))
        }
        #expect(blobs.count == 3)
        // What was not downloaded cannot be sealed.
        var remote = try await ann.own.fetchingAssets(.onDemand).record(for: record.recordID)
        remote["third"] = remote["file"] as Asset?
        let unsealed = remote
        #expect(await failure { try await ann.own.save(unsealed) } == .assetNotAvailable)
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
        let blobs = try #require(
            FileManager.default.enumerator(at: server.dataFolder, includingPropertiesForKeys: [.fileSizeKey]))
        let blob = try #require(
            blobs.compactMap { $0 as? URL }.first { url in
                (try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0 > 200_000
                    && !url.path.contains("sqlite")
            })
        let (id, copy) = (record.recordID, folder.appendingPathComponent("copy"))
        let saved = try #require(record["file"] as Asset?)
        for offset in [100, 70_000, 199_999] {
            let before = try Data(contentsOf: blob)
            var altered = before
            altered[offset] ^= 1
            try altered.write(to: blob)
            #expect(await failure { _ = try await ann.own.record(for: record.recordID) } == .integrityFailure)
            #expect(await failure { try await ann.own.download(saved, of: id, to: copy) } == .integrityFailure)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["original"],
                "nor is a part of it left")
            try before.write(to: blob)
        }
        let whole: Asset? = try await ann.own.record(for: record.recordID)["file"]
        #expect(try Data(contentsOf: try #require(whole?.fileURL)) == pattern(200_000))
    }
}
