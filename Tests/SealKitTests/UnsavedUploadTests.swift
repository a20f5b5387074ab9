import Foundation
import NIOCore
import SealKitTesting
import SealLab
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// What the server has of assets whose records are not saved: it is not sent again.
@Suite(.timeLimit(.minutes(60))) struct UnsavedUploadTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    private static let part = 128 * 65_536
    private static let tries = 10
    private static let gone = Array(repeating: LossyTransport.Loss.request, count: tries)

    private func file(_ content: Data) throws -> URL {
        let url = temporary.url.appendingPathComponent(UUID().uuidString)
        try content.write(to: url)
        return url
    }

    private func draft(_ device: Person, in zone: RecordZone.ID, _ url: URL) -> Record {
        var record = device.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: url)
        return record
    }

    private func content(of id: Record.ID, _ person: Person) async throws -> Data {
        let asset: Asset? = try await person.onFreshDevice().own.record(for: id)["file"]
        return try Data(contentsOf: try #require(asset?.fileURL))
    }

    private func parts(_ network: LossyTransport) -> [String] {
        network.calls.filter { $0.contains("/parts/") }.map { String($0.split(separator: "/").last ?? "") }
    }

    private func count(_ suffix: String, _ network: LossyTransport) -> Int {
        network.calls.count { $0.hasSuffix(suffix) }
    }

    /// Uploads in one request.
    private func whole(_ network: LossyTransport) -> Int {
        network.calls.count { $0.contains("/assets/") && ($0.split(separator: "/").last ?? "").count == 32 }
    }

    /// The server has all of it, and the device was not told.
    @Test func anEndWhoseAnswerIsLostIsNoUploadThatIsTaken() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/finish",
            [.late(SealKitError(.operationCancelled, "the user waits no longer"))])
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let draft = draft(device, in: zone, try file(pattern(Self.part + 5)))
        #expect(await failure { try await device.own.save(draft) } == .operationCancelled)
        let saved = try await device.own.save(draft)
        #expect(parts(network) == ["0", "1"])
        #expect(count("/begin", network) == 1)
        #expect(count("/finish", network) == 2)
        #expect(try await content(of: saved.recordID, ann) == pattern(Self.part + 5))
    }

    /// Somebody writes into the file after that, and sets its time back.
    @Test func aFileOfAnUploadThatMayBeWholeIsCompared() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/finish",
            [.late(SealKitError(.operationCancelled, "the user waits no longer"))])
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let url = try file(pattern(Self.part + 5))
        try setTime(of: url)
        let draft = draft(device, in: zone, url)
        #expect(await failure { try await device.own.save(draft) } == .operationCancelled)
        try changeInPlace(url)
        #expect(await failure { try await device.own.save(draft) } == .assetFileModified)
        let saved = try await device.own.save(draft)
        #expect(try await content(of: saved.recordID, ann) == (try Data(contentsOf: url)))
    }

    private func setTime(of url: URL) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: url.path)
    }

    private func changeInPlace(_ url: URL) throws {
        let handle = try FileHandle(forWritingTo: url)
        try handle.seek(toOffset: 100)
        try handle.write(contentsOf: [pattern(101)[100] ^ 1])
        try handle.close()
        try setTime(of: url)
    }

    /// A batch over a network that breaks in the middle gets on with each attempt.
    @Test func whatWasSentBeforeTheBatchBrokeIsNotSentAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/parts/1", [.nothing] + Self.gone)
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let contents = [pattern(10_000), pattern(Self.part + 5), pattern(Self.part + 6)]
        let drafts = try contents.map { draft(device, in: zone, try file($0)) }
        #expect(await failure { _ = try await device.own.modifyRecords(saving: drafts) } == .networkFailure)
        let progress = Mutex<[Int64]>([])
        let results = try await device.own.modifyRecords(saving: drafts) { sent, total in
            progress.withLock { $0 += [sent, total] }
        }
        #expect(results.saveResults.values.allSatisfy { $0.isSuccess })
        #expect(parts(network) == ["0", "1", "0"] + Array(repeating: "1", count: Self.tries + 1))
        #expect(whole(network) == 1)
        // What is there already counts as sent.
        #expect(progress.withLock { $0.suffix(2).first == $0.last && !$0.isEmpty })
        for (draft, content) in zip(drafts, contents) {
            #expect(try await self.content(of: draft.recordID, ann) == content)
        }
    }

    @Test(arguments: [false, true]) func aSaveWithoutAnAnswerSendsNoFileAgain(inPublic: Bool) async throws {
        let ann = try await Person()
        let zone = inPublic ? RecordZone.ID.default : try await ann.makeZone()
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "records/modify", Self.gone)
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let database = device.container.database(with: inPublic ? .public : .private)
        let url = try file(pattern(10_000))
        var draft = Record(recordType: "Post", recordID: Record.ID(recordName: UUID().uuidString, zoneID: zone))
        draft["file"] = Asset(fileURL: url)
        let first = draft
        #expect(await failure { try await database.save(first) } == .networkFailure)
        network.lose([])
        var saved = try await database.save(first)
        #expect(whole(network) == 1)
        // The record has it now: the same file once more is another asset.
        saved["file"] = Asset(fileURL: url)
        saved = try await database.save(saved)
        #expect(whole(network) == 2)
        let asset: Asset? = try await database.record(for: saved.recordID)["file"]
        #expect(try Data(contentsOf: try #require(asset?.fileURL)) == pattern(10_000))
    }

    /// Its size and time are what they were, its bytes are not.
    @Test func aFileThatLooksUnchangedIsComparedBeforeItIsNotSent() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "records/modify", Self.gone)
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let url = try file(pattern(10_000))
        try setTime(of: url)
        let draft = draft(device, in: zone, url)
        #expect(await failure { try await device.own.save(draft) } == .networkFailure)
        network.lose([])
        try changeInPlace(url)
        let saved = try await device.own.save(draft)
        #expect(whole(network) == 2)
        #expect(try await content(of: saved.recordID, ann) == (try Data(contentsOf: url)))
    }

    /// The save was made, its answer lost, and what it saved was replaced by somebody else: the file is sent again.
    @Test func whatTheServerHasNoMoreIsSentAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "records/modify",
            [.late(SealKitError(.operationCancelled, "the user waits no longer"))])
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let url = try file(pattern(10_000))
        let draft = draft(device, in: zone, url)
        #expect(await failure { try await device.own.save(draft) } == .operationCancelled)
        let other = try ann.onFreshDevice()
        var there = try await other.own.record(for: draft.recordID)
        there["file"] = Asset(fileURL: try file(pattern(5_000)))
        there = try await other.own.save(there)
        var mine = try await device.own.fetchingAssets(.onDemand).record(for: draft.recordID)
        mine["file"] = Asset(fileURL: url)
        let saved = try await device.own.save(mine)
        #expect(whole(network) == 2)
        #expect(try await content(of: saved.recordID, ann) == pattern(10_000))
    }

    /// A batch may have more files than a process may have open.
    @Test func filesAreOpenedWhenTheirTurnComes() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let drafts = try (0..<30).map { draft(ann, in: zone, try file(pattern(1_000 + $0))) }
        let most = Mutex(0)
        let folder = temporary.url.path
        _ = try await ann.own.modifyRecords(saving: drafts) { _, _ in
            let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            let own = open.count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(folder)
                    ?? false
            }
            most.withLock { $0 = max($0, own) }
        }
        #expect(most.withLock { $0 } <= 2)
    }

    @Test func whatKeepsAFileFromBeingOpenedIsSaid() throws {
        let url = temporary.url.appendingPathComponent("file")
        #expect(SealKitError.unreadable(url, EMFILE).code == .internalError)
        #expect(SealKitError.unreadable(url, ENFILE).reason.contains("too many files"))
        let denied = SealKitError.unreadable(url, EACCES)
        #expect(denied.code == .assetFileNotFound)
        #expect(denied.reason.contains("may not be read"))
        #expect(throws: SealKitError(.assetFileNotFound, "")) { try AssetFile(url) }
    }

    // MARK: Servers

    /// A server that says that a body came too slowly: the way to it was bad, and what it has is good still.
    @Test(arguments: [part + 5, 10_000]) func aBodyThatCameTooSlowlyIsSentAgain(_ size: Int) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let slow = SlowTransport(try HTTPTransport(server: ann.server.origin))
        let network = LossyTransport(slow, losing: "nothing", [])
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let saved = try await device.own.save(draft(device, in: zone, try file(pattern(size))))
        #expect(slow.wasSlow)
        #expect(count("/abandon", network) == 0)
        #expect(size < Self.part ? whole(network) == 2 : parts(network) == ["0", "0", "1"])
        #expect(try await content(of: saved.recordID, ann) == pattern(size))
    }

    /// Nothing is signed for that was not read.
    @Test(arguments: [false, true]) func aServerThatHasAFileBeforeItWasSentIsNotBelieved(inPublic: Bool) async throws {
        let ann = try await Person()
        let zone = inPublic ? RecordZone.ID.default : try await ann.makeZone()
        let hasty = HastyTransport(try HTTPTransport(server: ann.server.origin))
        let network = LossyTransport(hasty, losing: "nothing", [])
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let database = device.container.database(with: inPublic ? .public : .private)
        var record = Record(recordType: "Post", recordID: Record.ID(recordName: UUID().uuidString, zoneID: zone))
        record["file"] = Asset(fileURL: try file(pattern(5_000_000)))
        let draft = record
        #expect(await failure { try await database.save(draft) } == .serverRejectedRequest)
        #expect(count("records/modify", network) == 0)
    }

    @Test func aRootIsThatOfAllChunks() throws {
        let upload = AssetUpload(try AssetFile(try file(pattern(2_000_000))), isSealed: true)
        _ = try upload.chunks.read(0..<AssetChunks.atOnce)
        #expect(throws: SealKitError(.internalError, "")) { try upload.content() }
        try upload.chunks.readAll()
        _ = try upload.content()
    }
}

/// The first body is too slow for it.
private final class SlowTransport: PassingTransport {
    let next: any Transport
    private let isNext = Mutex(true)

    init(_ next: any Transport) { self.next = next }

    var wasSlow: Bool { !isNext.withLock { $0 } }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        let isSlow = isNext.withLock { isNext in
            defer { isNext = false }
            return isNext
        }
        guard isSlow else { return try await next.upload(path, length: length, parts: parts, token: token) }
        let failure = Sealkit_V1_Failure.with { failure in
            failure.code = "limitExceeded"
            failure.reason = "The request's body came too slowly; nothing was done."
        }
        return TransportResponse(status: 408, body: (try? failure.serializedData()) ?? Data())
    }
}

/// Answers once the first bytes of a file are there.
private final class HastyTransport: PassingTransport {
    let next: any Transport

    init(_ next: any Transport) { self.next = next }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        var pulled = parts.makeAsyncIterator()
        _ = try? await pulled.next()
        return TransportResponse(status: 201, body: Data())
    }
}
