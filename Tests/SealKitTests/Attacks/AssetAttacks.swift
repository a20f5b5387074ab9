import Foundation
import SealClient
import SealCoding
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit

/// Attacks on assets: on their chunks, on whose they are, and on uploads.
@Suite(.timeLimit(.minutes(60))) struct AssetAttacks {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String, _ content: Data) throws -> URL {
        let url = folder.url.appendingPathComponent(name)
        try content.write(to: url)
        return url
    }

    /// A saved record with a file, and what opens the file.
    private func saveFile(_ person: Person, _ zone: RecordZone.ID, _ content: Data, name: String = "with a file")
        async throws -> (Record.ID, SealedAsset)
    {
        var record = person.note(in: zone, "x", name: name)
        record["file"] = Asset(fileURL: try file(UUID().uuidString, content))
        record = try await (zone.isCurrentUsers ? person.own : person.shared).save(record)
        guard case .asset(let asset)? = record.fields["file"], let sealed = asset.remote?.sealed else {
            throw SealError.missingKey
        }
        return (record.recordID, sealed)
    }

    private static func chunks(_ bytes: Data) -> [Data] {
        stride(from: 0, to: bytes.count, by: 65_552).map { Data(bytes.dropFirst($0).prefix(65_552)) }
    }

    private static func leaf(_ chunk: Data) -> Data {
        Data(chunk.withUnsafeBytes { AssetHash.leaf($0) }.bytes)
    }

    /// Downloads, and expects that not one byte is handed out.
    private func expectNothing(_ person: Person, _ id: Record.ID, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let database = (id.zoneID.isCurrentUsers ? person.own : person.shared).fetchingAssets(.onDemand)
        let asset: Asset = try #require(try await database.record(for: id)["file"])
        let place = folder.url.appendingPathComponent("out-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        await expectRefused(.integrityFailure, by: .invalidProof, sourceLocation: sourceLocation) {
            try await database.download(asset, of: id, to: place.appendingPathComponent("file"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty, sourceLocation: sourceLocation)
    }

    private func expectWhole(_ person: Person, _ id: Record.ID, _ content: Data) async throws {
        let asset: Asset? = try await (id.zoneID.isCurrentUsers ? person.own : person.shared).record(for: id)["file"]
        #expect(try Data(contentsOf: try #require(asset?.fileURL)) == content)
    }

    @Test(
        "An asset's chunks reordered, dropped, repeated, cut, lengthened or spliced: an error before a wrong byte is handed out."
    )
    func attack30_chunksOutOfPlace() async throws {
        let (ann, network) = try await Person().behindAttacker()
        let zone = try await ann.makeZone()
        let content = pattern(300_000)
        let (id, sealed) = try await saveFile(ann, zone, content)
        _ = try await saveFile(ann, zone, Data(content.reversed()), name: "another")
        let blobs = network.uploads.map(\.bytes)
        let stored = Self.chunks(blobs[0].prefix(Int(sealed.layout.sealedBytes)))
        let foreign = Self.chunks(blobs[1].prefix(Int(sealed.layout.sealedBytes)))
        // Every chunk is the author's, and opens at its place.
        for (index, chunk) in stored.enumerated() {
            #expect(try open(chunk, UInt64(index), sealed) == content.dropFirst(index * 65_536).prefix(65_536))
        }
        var (swapped, repeated, cut, spliced) = (stored, stored, stored, stored)
        swapped.swapAt(0, 1)
        repeated[1] = stored[0]
        cut[1].removeLast()
        spliced[2] = foreign[2]
        let lies = [
            swapped, repeated, cut, spliced, Array(stored.dropLast()), Array(stored.dropFirst()), stored + [stored[0]],
            stored + [Data([0])],
            Array(stored.reversed()), [],
        ]
        let split = sealed.layout.sealedBytes
        for lie in lies {
            for rehashes in [false, true] {
                network.beHonest()
                network.rewriteBlobs { _, range, bytes in
                    if range.lowerBound < split { return lie.reduce(Data(), +).dropFirst(Int(range.lowerBound)) }
                    // The tree's leaves to go with it: what they lead to is no root that anybody signed.
                    return rehashes ? lie.reduce(Data()) { $0 + Self.leaf($1) } : bytes
                }
                try await expectNothing(ann, id)
            }
        }
        network.beHonest()
        try await expectWhole(ann, id, content)
    }

    private func open(_ chunk: Data, _ index: UInt64, _ asset: SealedAsset) throws -> Data {
        var plaintext = Data(count: chunk.count - 16)
        try chunk.withUnsafeBytes { sealed in
            try plaintext.withUnsafeMutableBytes { try AssetCipher(asset).open(chunk: index, sealed, into: $0) }
        }
        return plaintext.prefix(Int(min(65_536, asset.size - index * 65_536)))
    }

    @Test("An asset of one record or field that is attached to another is refused.")
    func attack31_anAssetAttachedElsewhere() async throws {
        let world = try await AttackedZone()
        let content = pattern(100_000)
        let (id, _) = try await saveFile(world.ann, world.zone, content)
        let (otherID, _) = try await saveFile(world.ann, world.zone, Data(content.reversed()), name: "other")
        let (bob, network) = try world.bob.behindAttacker()
        let mine = Record.ID(recordName: id.recordName, zoneID: world.joined)
        let base = try #require(try await bob.shared.record(for: mine).base)
        let wire = try #require(network.records.last)
        let field = try WireField(try #require(wire.fields.first { $0.name == "file" }))
        let view = try await world.view(bob)
        // Bob may write and has every key: he carries commitment and descriptor over as they are.
        let moves = [
            (Forgery.statement(by: bob, view, name: "taken"), "file"),
            (Forgery.statement(by: bob, view, name: id.recordName, following: base), "picture"),
        ]
        for (statement, name) in moves {
            let forged = try Forgery.record(
                statement, [], stored: [(name, field)], by: bob, key: try view.currentKey(),
                recordKey: base.recordKey)
            #expect(try Forgery.verifies(forged, view.roster) && Forgery.opens(forged, with: try view.currentKey()))
            let (ann, hostile) = try world.ann.freshBehindAttacker()
            hostile.show([forged])
            await expectRefused(.integrityFailure, by: .authenticationFailed) {
                _ = try await ann.own.record(for: Record.ID(recordName: statement.recordName, zoneID: world.zone))
            }
        }
        // The server answers with the other one's bytes, which are as good in themselves.
        let (ann, hostile) = try world.ann.behindAttacker()
        hostile.inject(.exchangedAsset(of: id, field: "file", with: otherID))
        try await expectNothing(ann, id)
        hostile.beHonest()
        try await expectWhole(ann, id, content)
        try await expectWhole(ann, otherID, Data(content.reversed()))
    }

    @Test("A reader and the server replace one chunk of an asset: refused before it is opened, in a resumed read too.")
    func attack58_aReaderReplacesAChunk() async throws {
        let world = try await AttackedZone(bob: .readOnly)
        let content = pattern(300_000)
        let (id, _) = try await saveFile(world.ann, world.zone, content)
        // Bob may read: he has the file's key, and seals a chunk of his own at the right place.
        let mine = Record.ID(recordName: id.recordName, zoneID: world.joined)
        let asset: Asset = try #require(try await world.bob.shared.fetchingAssets(.onDemand).record(for: mine)["file"])
        let sealed = try #require(asset.remote?.sealed)
        let forgedPlaintext = Data(repeating: 0x42, count: 65_536)
        var chunk = Data(count: 65_552)
        try forgedPlaintext.withUnsafeBytes { plaintext in
            try chunk.withUnsafeMutableBytes { try AssetCipher(sealed).seal(chunk: 1, plaintext, into: $0) }
        }
        let forged = chunk
        #expect(try open(forged, 1, sealed) == forgedPlaintext, "with the key alone it opens")
        let place = Int(sealed.layout.sealedRange(ofChunk: 1).lowerBound)
        let split = sealed.layout.sealedBytes
        let (ann, network) = try world.ann.behindAttacker()
        for rehashes in [false, true] {
            network.beHonest()
            network.rewriteBlobs { _, range, bytes in
                var bytes = bytes
                if range.lowerBound < split {
                    let start = place - Int(range.lowerBound)
                    bytes.replaceSubrange(max(0, start)..<start + forged.count, with: forged.dropFirst(max(0, -start)))
                } else if rehashes {
                    bytes.replaceSubrange(32..<64, with: Self.leaf(forged))
                }
                return bytes
            }
            try await expectNothing(ann, id)
            try await expectNothing(
                world.carol.through(network), Record.ID(recordName: id.recordName, zoneID: world.joined))
        }
        // A read that broke off in the middle of the chunk before goes on with a range: no difference.
        network.beHonest()
        network.rewriteBlobs { _, range, bytes in
            var bytes = bytes
            guard range.lowerBound < split else { return bytes }
            let start = place - Int(range.lowerBound)
            bytes.replaceSubrange(start..<start + forged.count, with: forged)
            return bytes
        }
        let broken = network.breakDownloads(startingAt: 0, after: 40_000)
        try await expectNothing(ann, id)
        #expect(broken.value == 1)
        network.beHonest()
        try await expectWhole(ann, id, content)
    }

    @Test("An upload that goes on after the local file changed never seals two plaintexts with one key and nonce.")
    func attack63_anUploadAfterTheFileChanged() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (first, second) = (pattern(200_000), Data(pattern(200_000).reversed()))
        let url = try file("changing", first)
        let network = try HostileNetwork(ann.server)
        let device = try ann.through(network, pacing: FakePacing().pacing)
        var record = device.note(in: zone, "x", name: "with a file")
        record["file"] = Asset(fileURL: url)
        // All of the upload arrives and its answer is lost; before the next attempt the file is another.
        network.loseNextUpload { try? second.write(to: url) }
        let draft = record
        let code = await failure { try await device.own.save(draft) }
        #expect(code == nil || code == .assetFileModified)
        if code != nil {
            record["file"] = Asset(fileURL: url)
            try await device.own.save(record)
        }
        let blobs = network.uploads.map { Self.chunks($0.bytes)[0] }
        #expect(blobs.count >= 2)
        // With one key and nonce the two ciphertexts would differ exactly as the plaintexts do.
        let (one, other) = (try #require(blobs.first), try #require(blobs.last))
        let ciphertexts = zip(one, other).map { $0 ^ $1 }.prefix(65_536)
        let plaintexts = zip(first, second).map { $0 ^ $1 }.prefix(65_536)
        #expect(zip(ciphertexts, plaintexts).filter { $0 == $1 }.count < 1_000)
        let asset: Asset? = try await ann.own.record(for: record.recordID)["file"]
        #expect([first, second].contains(try Data(contentsOf: try #require(asset?.fileURL))))
        AttackOutcome.held("each upload has a key, a salt and a blob of its own")
    }

    @Test("An upload in parts that goes on under its key never sends other bytes, however the file was changed.")
    func attack69_anUploadInPartsAfterTheFileChanged() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let touch = URL(fileURLWithPath: "/usr/bin/touch")
        let part = 128 * 65_536
        let first = pattern(part + 300_000)
        // The first part is on the server, the second was sent and lost: a change of either has to show.
        for place in [100_000, part + 100_000] {
            let url = try file(UUID().uuidString, first)
            let times = try file(UUID().uuidString, Data())
            #expect(try await Command.finished(touch, ["-r", url.path, times.path]).status == 0)
            let network = try HostileNetwork(ann.server)
            let losing = LossyTransport(
                network, losing: "/parts/1",
                Array(repeating: .late(SealKitError(.networkFailure, "the network went")), count: 10))
            let device = try ann.through(losing, pacing: FakePacing().pacing)
            var record = device.note(in: zone, "x", name: "with a file, changed at \(place)")
            record["file"] = Asset(fileURL: url)
            let draft = record
            #expect(await failure { try await device.own.save(draft) } == .networkFailure)
            let sent = network.uploads
            // Other bytes of the same length, in the same file, with the same time.
            let handle = try FileHandle(forWritingTo: url)
            try handle.seek(toOffset: UInt64(place))
            try handle.write(contentsOf: Data([first[place] ^ 1]))
            try handle.close()
            #expect(try await Command.finished(touch, ["-r", times.path, url.path]).status == 0)
            #expect(await failure { try await device.own.save(draft) } == .assetFileModified)
            // Whatever left the device since is what had left it before: chunk by chunk, at the same places.
            for upload in network.uploads.dropFirst(sent.count) {
                let before = try #require(sent.first { $0.path == upload.path })
                #expect(before.bytes.starts(with: upload.bytes.prefix(before.bytes.count)))
            }
            // A new attempt is another upload, with another key.
            let saved = try await device.own.save(draft)
            let begun = Set(network.exchanges.filter { $0.path.hasSuffix("/begin") }.map(\.path))
            #expect(begun.count == 2, "each device's own")
            var second = first
            second[place] ^= 1
            let asset: Asset? = try await ann.own.record(for: saved.recordID)["file"]
            #expect(try Data(contentsOf: try #require(asset?.fileURL)) == second)
        }
        AttackOutcome.held("a chunk whose hash differs from the one that was sent under its key is not sent")
    }
}
