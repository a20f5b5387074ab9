import Foundation
import NIOCore
import SealKitTesting
import SealLab
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Assets of more than one part.
@Suite(.timeLimit(.minutes(60))) struct AssetPartsTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    private static let part = 128 * 65_536
    /// How often a part on its way is tried within a minute: after a tenth of a second, then twice that, and so on.
    private static let tries = 10

    private func file(_ content: Data) throws -> URL {
        let url = temporary.url.appendingPathComponent(UUID().uuidString)
        try content.write(to: url)
        return url
    }

    private func content(of id: Record.ID, _ person: Person) async throws -> Data {
        let asset: Asset? = try await person.own.record(for: id)["file"]
        return try Data(contentsOf: try #require(asset?.fileURL))
    }

    /// The last path component of every part that was sent, in order.
    private func parts(_ network: LossyTransport) -> [String] {
        network.calls.filter { $0.contains("/parts/") }.map { String($0.split(separator: "/").last ?? "") }
    }

    @Test(arguments: [part, part + 1, 2 * part + 1_000_000]) func comeBackByteForByte(_ size: Int) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "nothing", [])
        let device = try ann.through(network)
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: try file(pattern(size)))
        record = try await device.own.save(record)
        // A part more or less shows; so does padding, which makes some parts of a file that fits one.
        #expect(parts(network).isEmpty == (size == Self.part))
        #expect(try await content(of: record.recordID, ann) == pattern(size))
    }

    @Test func ofThePublicDatabaseToo() async throws {
        let ann = try await Person()
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "/parts/1", [.request])
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let all = device.container.publicDatabase
        var record = Record(recordType: "Post", recordID: Record.ID(recordName: UUID().uuidString))
        record["file"] = Asset(fileURL: try file(pattern(Self.part + 1)))
        record = try await all.save(record)
        #expect(parts(network) == ["0", "1", "1"])
        let asset: Asset? = try await all.record(for: record.recordID)["file"]
        #expect(try Data(contentsOf: try #require(asset?.fileURL)) == pattern(Self.part + 1))
    }

    /// Requests and answers are lost at every step: each costs its own step again.
    @Test(arguments: ["/begin", "/parts/0", "/parts/1", "/finish"]) func aLossCostsOneStep(_ step: String) async throws
    {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: step, [.answer, .request])
        let device = try ann.through(network, pacing: FakePacing().pacing)
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: try file(pattern(Self.part + 100_000)))
        record = try await device.own.save(record)
        let calls = network.calls.filter { $0.contains("/assets/") }
        #expect(calls.count == 6)
        #expect(calls.filter { $0.hasSuffix(step) }.count == 3)
        #expect(Set(calls.map { $0.components(separatedBy: "/assets/")[1].prefix(40) }).count <= 6)
        #expect(try await content(of: record.recordID, ann) == pattern(Self.part + 100_000))
    }

    /// The server takes its time for a part: the next two are on their way meanwhile, and no fourth one.
    @Test func theNextPartsLeaveWhileOneIsStored() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = HesitantTransport(try HTTPTransport(server: ann.server.origin))
        let device = try ann.through(network)
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: try file(pattern(3 * Self.part + 5)))
        record = try await device.own.save(record)
        #expect(network.mostUnderWay == 3)
        #expect(try await content(of: record.recordID, ann) == pattern(3 * Self.part + 5))
    }

    /// The network is gone for longer than the save waits; saved again, it goes on.
    @Test func aSaveThatFailedIsGoneOnWith() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let gone = Array(repeating: LossyTransport.Loss.request, count: Self.tries)
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "/parts/1", gone)
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let url = try file(pattern(2 * Self.part + 5))
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: url)
        let draft = record
        #expect(await failure { try await device.own.save(draft) } == .networkFailure)
        let saved = try await device.own.save(draft)
        #expect(parts(network) == ["0"] + Array(repeating: "1", count: Self.tries + 1) + ["2"])
        #expect(Set(network.calls.filter { $0.hasSuffix("/begin") }).count == 1, "under one id")
        #expect(try await content(of: saved.recordID, ann) == pattern(2 * Self.part + 5))
    }

    /// A save of a file of a part and some bytes, which breaks off between the two.
    private func brokenSave(_ ann: Person, of url: URL) async throws -> (
        device: Person, network: LossyTransport, draft: Record
    ) {
        let zone = try await ann.makeZone()
        let gone = Array(repeating: LossyTransport.Loss.request, count: Self.tries)
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "/parts/1", gone)
        let device = try ann.through(network, pacing: FakePacing().pacing)
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: url)
        let draft = record
        #expect(await failure { try await device.own.save(draft) } == .networkFailure)
        return (device, network, draft)
    }

    /// Another file under the same name is another upload, under an id and a key of its own.
    @Test func aFileThatWasReplacedMeanwhileIsNotGoneOnWith() async throws {
        let ann = try await Person()
        let url = try file(pattern(Self.part + 5))
        let (device, network, draft) = try await brokenSave(ann, of: url)
        var other = pattern(Self.part + 5)
        other[100] ^= 1
        try other.write(to: url, options: .atomic)
        let saved = try await device.own.save(draft)
        #expect(Set(network.calls.filter { $0.hasSuffix("/begin") }).count == 2)
        #expect(try await content(of: saved.recordID, ann) == other)
    }

    /// Somebody writes into the file and sets its time back: what the server has of it is compared byte for byte.
    @Test func aFileThatLooksUnchangedIsCompared() async throws {
        let ann = try await Person()
        let url = try file(pattern(Self.part + 5))
        let time = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)]
        try FileManager.default.setAttributes(time, ofItemAtPath: url.path)
        let (device, _, draft) = try await brokenSave(ann, of: url)
        let handle = try FileHandle(forWritingTo: url)
        try handle.seek(toOffset: 100)
        try handle.write(contentsOf: [pattern(101)[100] ^ 1])
        try handle.close()
        try FileManager.default.setAttributes(time, ofItemAtPath: url.path)
        #expect(await failure { try await device.own.save(draft) } == .assetFileModified)
    }

    /// Whoever cancels a save pauses its uploads: what was sent is not given up.
    @Test func aSaveThatWasCancelledIsGoneOnWith() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/parts/1",
            [.refusal(SealKitError(.operationCancelled, "the user waits no longer"))])
        let device = try ann.through(network)
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: try file(pattern(2 * Self.part + 5)))
        let draft = record
        #expect(await failure { try await device.own.save(draft) } == .operationCancelled)
        let saved = try await device.own.save(draft)
        #expect(parts(network) == ["0", "1", "1", "2"])
        let given = network.calls.filter { $0.hasSuffix("/abandon") }
        #expect(given.isEmpty)
        #expect(try await content(of: saved.recordID, ann) == pattern(2 * Self.part + 5))
    }

    /// A server that is started again meanwhile costs a large upload some seconds.
    @Test func aPartOnItsWayWaitsForTheServer() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let gone = Array(repeating: LossyTransport.Loss.request, count: Self.tries - 1)
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "/parts/1", gone)
        let device = try ann.through(network, pacing: FakePacing().pacing)
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: try file(pattern(Self.part + 5)))
        let saved = try await device.own.save(record)
        #expect(try await content(of: saved.recordID, ann) == pattern(Self.part + 5))
    }

    /// A process that ends and goes on with nothing leaves nothing on the bill, and no file.
    @Test func whatNobodyGoesOnWithIsAbandoned() async throws {
        let ann = try await Person()
        let before = try await ann.account.storageUsage().bytes
        let (device, network, draft) = try await brokenSave(ann, of: try file(pattern(Self.part + 5)))
        let broken = try await ann.account.storageUsage().bytes
        #expect(broken > before + Int64(Self.part))
        await device.container.abandonBrokenUploads()
        let after = try await ann.account.storageUsage().bytes
        #expect(after < before + 100_000)
        // Saved all the same, it is another upload.
        let saved = try await device.own.save(draft)
        #expect(Set(network.calls.filter { $0.hasSuffix("/begin") }).count == 2)
        #expect(try await content(of: saved.recordID, ann) == pattern(Self.part + 5))
    }

    /// A connection still pulls for a request that was answered early, while the next one is on its way.
    @Test func chunksThatAreAskedForAtOnceStayWhatTheyAre() async throws {
        let upload = AssetUpload(try AssetFile(try file(pattern(Self.part))), isSealed: true)
        let starts = stride(
            from: 0, to: upload.chunks.count - upload.chunks.count % AssetChunks.atOnce, by: Int(AssetChunks.atOnce))
        for start in starts { _ = try upload.chunks.read(start..<start + AssetChunks.atOnce) }
        let leaves = upload.chunks.leaves
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                for start in starts { group.addTask { _ = try upload.chunks.read(start..<start + AssetChunks.atOnce) } }
            }
            try await group.waitForAll()
        }
        #expect(!leaves.isEmpty)
        #expect(upload.chunks.leaves == leaves)
    }

    /// A server names the parts that it has in their order, each once.
    @Test func partsThatAreNamedTwiceAreRefused() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (device, network) = try ann.behindAttacker()
        network.rewrite("/begin", Sealkit_V1_UploadState.self) { state in
            let part = Sealkit_V1_PartRange.with { $0.count = 1 }
            state.parts = [part, part]
        }
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: try file(pattern(Self.part + 5)))
        let draft = record
        #expect(await failure { try await device.own.save(draft) } == .serverRejectedRequest)
        #expect(network.uploads.isEmpty)
    }

    /// The server has given the upload up meanwhile: all of it is sent again, under the same key and the same bytes.
    @Test func whatTheServerGaveUpIsSentAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let gone = SealKitError(.assetNotAvailable, "given up")
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "/parts/1", [.refusal(gone)])
        let device = try ann.through(network, pacing: FakePacing().pacing)
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: try file(pattern(Self.part + 5)))
        record = try await device.own.save(record)
        #expect(parts(network) == ["0", "1", "1"])
        #expect(try await content(of: record.recordID, ann) == pattern(Self.part + 5))
    }
}

/// Answers the first two parts only once the third one has come.
private final class HesitantTransport: PassingTransport {
    let next: any Transport
    private let third = Mutex(false)
    private let underWay = Mutex((now: 0, most: 0))

    init(_ next: any Transport) { self.next = next }

    var mostUnderWay: Int { underWay.withLock(\.most) }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        underWay.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
        defer { underWay.withLock { $0.now -= 1 } }
        if path.hasSuffix("/parts/2") { third.withLock { $0 = true } }
        let answer = try await next.upload(path, length: length, parts: parts, token: token)
        if path.hasSuffix("/parts/0") || path.hasSuffix("/parts/1") { await thirdBegun() }
        return answer
    }

    private func thirdBegun() async {
        while !third.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
    }
}
