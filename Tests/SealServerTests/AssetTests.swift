import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealEnvelope
@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct AssetTests {
    struct Answer {
        let status: UInt
        let body: [UInt8]
        let range: String?
        var code: ErrorCode? { try? Sealkit_V1_Failure(serializedBytes: body).errorCode }
    }

    func send(
        _ person: Person, _ method: HTTPMethod, _ id: String, in zone: TestZone, _ body: HTTPClientRequest.Body? = nil,
        range: String? = nil, path: String? = nil
    ) async throws -> Answer {
        let owner = zone.owner == person.user ? "-" : zone.owner.recordName
        let name = zone.name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let path = path ?? person.path("assets/\(owner)/\(name)/\(id)", shared: zone.owner != person.user)
        var request = HTTPClientRequest(url: person.client.server.origin + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(person.client.token)")
        request.headers.add(name: "Accept", value: "application/x-protobuf")
        if let range { request.headers.add(name: "Range", value: range) }
        request.body = body
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
        return Answer(
            status: response.status.code, body: [UInt8](buffer: try await response.body.collect(upTo: 1 << 26)),
            range: response.headers.first(name: "content-range"))
    }

    /// As many bytes that are good as a sealed asset, 49 or more: the first of these as its chunks, and the chunks'
    /// hashes behind them.
    static func blob(_ bytes: [UInt8]) -> [UInt8] {
        let count = (bytes.count + 65_583) / 65_584
        let content = Array(bytes.prefix(bytes.count - 32 * count))
        return content
            + stride(from: 0, to: content.count, by: 65_552).flatMap {
                AssetTree.leaf(Array(content[$0..<min($0 + 65_552, content.count)])).bytes
            }
    }

    func upload(_ person: Person, _ bytes: [UInt8], in zone: TestZone, id: String = Hex.encode(randomBytes(16)))
        async throws -> String
    {
        let answer = try await send(person, .PUT, id, in: zone, .bytes(ByteBuffer(bytes: Self.blob(bytes))))
        guard answer.status == 201 else { throw TestFailure("\(answer)") }
        Self.roots.withLock { $0[id] = Self.root(of: Self.blob(bytes)) }
        return id
    }

    /// Of what these tests have uploaded.
    private static let roots = Mutex<[String: Digest]>([:])

    /// Of the tree over a blob's chunks, whose hashes stand at its end.
    private static func root(of blob: [UInt8]) -> Digest? {
        let count = (blob.count + 65_583) / 65_584
        let leaves = blob.suffix(32 * count)
        return try? AssetTree.root(
            try stride(from: leaves.startIndex, to: leaves.endIndex, by: 32).map { try Digest(leaves[$0..<$0 + 32]) })
    }

    /// - Parameter root: nil for that of what was uploaded under the name.
    func write(
        _ name: String, blob: String, chunks: UInt64 = 1, root: Digest? = nil, after saved: SavedRecord? = nil,
        field: String = "photo"
    ) throws -> Write {
        var write = saved.map { Write(after: $0, nil) } ?? Write(name, nil)
        var random = SystemRandom()
        let asset = SealedAsset(
            fileKey: SecretBytes(random: &random), size: 5, salt: try Digest(randomBytes(32)), chunkCount: chunks,
            root: try root ?? Self.roots.withLock { $0[blob] } ?? Digest(randomBytes(32)))
        write.fields = [(field, .asset(asset))]
        write.blobs = [field: blob]
        return write
    }

    func withZone(_ name: String = "notes", _ body: @Sendable (Person, TestZone, RunningServer) async throws -> Void)
        async throws
    {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            try await body(anna, try await anna.makeSharedZone(name), server)
        }
    }

    @Test func bytesGoUpAndComeDown() async throws {
        try await withZone("a/b %c") { anna, zone, _ in
            let bytes = Self.blob((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let id = try await upload(anna, bytes, in: zone)
            #expect(try await send(anna, .GET, id, in: zone).body == bytes)
            let part = try await send(anna, .GET, id, in: zone, range: "bytes=100-199")
            #expect(part.status == 206)
            #expect(part.body == Array(bytes[100..<200]))
            #expect(part.range == "bytes 100-199/200000")
            #expect(try await send(anna, .GET, id, in: zone, range: "bytes=-5").body == bytes.suffix(5))
            #expect(try await send(anna, .GET, id, in: zone, range: "bytes=199990-").body == bytes.suffix(10))
            #expect(try await send(anna, .GET, id, in: zone, range: "bytes=200000-").status == 416)
            #expect(try await anna.codes([write("a", blob: id, chunks: 4)], in: zone) == [nil])
            #expect(try await send(anna, .GET, id, in: zone).body == bytes)
        }
    }

    @Test func whoIsRemovedDuringAnUploadDoesNotFinishIt() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            let shared = zone
            let (id, body) = (Hex.encode(randomBytes(16)), Self.blob(randomBytes(100)))
            let (parts, continuation) = AsyncStream<ByteBuffer>.makeStream()
            async let answer = send(bert, .PUT, id, in: shared, .stream(parts, length: .known(Int64(body.count))))
            continuation.yield(ByteBuffer(bytes: body.prefix(50)))
            try await waitUntil("the upload has begun") { try await values("id", of: "blob", server) == [id] }
            try await anna.remove(bert, from: &zone)
            continuation.yield(ByteBuffer(bytes: body.dropFirst(50)))
            continuation.finish()
            #expect(try await answer.code == .zoneNotFound)
            #expect(try await values("id", of: "blob", server).isEmpty)
        }
    }

    @Test func badUploadsAreRefusedAndLeaveNothing() async throws {
        try await withZone { anna, zone, server in
            let id = try await upload(anna, [UInt8](repeating: 1, count: 100), in: zone)
            let body = HTTPClientRequest.Body.bytes(ByteBuffer(bytes: Self.blob(randomBytes(50))))
            #expect(try await send(anna, .PUT, id, in: zone, body).code == .serverRejectedRequest)
            #expect(try await send(anna, .GET, id, in: zone).body.count == 100)
            for bad in ["short", String(repeating: "A", count: 32), String(repeating: "0", count: 33)] {
                #expect(try await send(anna, .PUT, bad, in: zone, body).code == .invalidArguments)
            }
            let other = Hex.encode(randomBytes(16))
            let chunked = try await send(
                anna, .PUT, other, in: zone, .stream([ByteBuffer(string: "x")].asAsyncStream, length: .unknown))
            #expect(chunked.status == 411)
            let nowhere = TestZone(name: "none", owner: zone.owner, roster: zone.roster, key: zone.key)
            #expect(try await send(anna, .PUT, other, in: nowhere, body).code == .zoneNotFound)
            #expect(try await send(anna, .GET, other, in: zone).code == .assetNotAvailable)
            // Cut short: the connection closes before the announced length.
            let cut = try? await send(
                anna, .PUT, other, in: zone,
                .stream([ByteBuffer(string: "x")].asAsyncStream, length: .known(Int64(1000))))
            #expect(cut == nil)
            // The server may begin with it only now, and takes the id back when the connection's end comes.
            try await waitUntil("the id is free") { try await send(anna, .PUT, other, in: zone, body).status == 201 }
            #expect(try await values("id", of: "blob", server).sorted() == [id, other].sorted())
        }
    }

    func values(_ column: StaticString, of table: String, _ server: RunningServer) async throws -> [String] {
        try await server.services.database.read {
            try $0.rows("SELECT \(column) FROM \(table)") { try $0.text(column) }
        }
    }

    @Test func recordsClaimTheirUploads() async throws {
        try await withZone { anna, made, server in
            var zone = made
            let bert = try await Person.ready(server)
            try await anna.share(&zone, with: bert)
            let shared = zone
            let bytes = Self.blob([UInt8](repeating: 1, count: 100))
            let mine = try await upload(anna, bytes, in: shared)
            // Staged: its uploader's alone.
            #expect(try await send(bert, .GET, mine, in: shared).code == .assetNotAvailable)
            #expect(try await bert.codes([try write("x", blob: mine)], in: shared) == [.assetFileNotFound])
            #expect(try await anna.codes([try write("x", blob: "nothing")], in: shared) == [.assetFileNotFound])
            #expect(try await anna.codes([try write("x", blob: mine, chunks: 3)], in: shared) == [.assetFileModified])
            #expect(try await anna.codes([try write("x", blob: mine, chunks: 0)], in: shared) == [.assetFileModified])
            #expect(
                try await anna.codes([try write("x", blob: mine, root: Digest(randomBytes(32)))], in: shared) == [
                    .assetFileModified
                ])
            #expect(
                try await anna.codes([try write("x", blob: mine), try write("y", blob: mine)], in: shared) == [
                    .batchRequestFailed, .invalidArguments,
                ])
            let first = try await anna.save([try write("x", blob: mine)], in: shared)[0]
            #expect(first.result.code == nil)
            #expect(try await send(bert, .GET, mine, in: shared).body == bytes)
            // Taken: no other record or field can have it; the same field keeps it, by others too.
            #expect(try await anna.codes([try write("y", blob: mine)], in: shared) == [.assetFileNotFound])
            #expect(
                try await anna.codes([try write("x", blob: mine, after: first, field: "other")], in: shared) == [
                    .assetFileNotFound
                ])
            let second = try await bert.save([try write("x", blob: mine, after: first)], in: shared)[0]
            #expect(second.result.code == nil)
            // Replaced: the old one goes, from the disk as well.
            let next = try await upload(bert, bytes, in: shared)
            let third = try await bert.save([try write("x", blob: next, after: second)], in: shared)[0]
            #expect(try await send(anna, .GET, mine, in: shared).code == .assetNotAvailable)
            #expect(try await anna.codes([Write(after: third, kind: .delete)], in: shared) == [nil])
            #expect(try await send(anna, .GET, next, in: shared).code == .assetNotAvailable)
            try await waitForFiles(0, server)
        }
    }

    func waitForFiles(_ count: Int, _ server: RunningServer) async throws {
        func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: server.folder.file("data/blobs")).filter {
                $0.utf8.count > 30
            }
        }
        try await waitUntil("there are \(count) files") { try files().count == count }
        // A file goes before its row does.
        try await waitUntil("no garbage is left") { try await values("stored", of: "blob_garbage", server).isEmpty }
    }

    @Test func assetsAreCarriedOver() async throws {
        try await withZone { anna, zone, server in
            let id = try await upload(anna, [UInt8](repeating: 1, count: 100), in: zone)
            let first = try await anna.save([try write("x", blob: id)], in: zone)[0]
            let digest = try await anna.lookup(["x"], in: zone, keys: []).results[0].record.fields[0].omitted
            var next = Write(after: first, nil)
            next.fields = [("photo", .carried(try Digest(digest))), ("title", .plain(.string("x")))]
            #expect(try await anna.codes([next], in: zone) == [nil])
            let record = try await anna.lookup(["x"], in: zone).results[0].record
            #expect(record.fields[0].asset.blob == id)
            _ = try anna.open(record, in: zone)
            try await waitForFiles(1, server)
        }
    }

    @Test func readersUploadNothingAndTheRemovedGetNothing() async throws {
        try await withZone { anna, made, server in
            var zone = made
            let bert = try await Person.ready(server)
            try await anna.share(&zone, with: bert, .readOnly)
            let body = HTTPClientRequest.Body.bytes(ByteBuffer(bytes: Self.blob(randomBytes(50))))
            #expect(try await send(bert, .PUT, Hex.encode(randomBytes(16)), in: zone, body).code == .permissionFailure)
            let id = try await upload(anna, [UInt8](repeating: 1, count: 100), in: zone)
            _ = try await anna.save([try write("x", blob: id)], in: zone)
            #expect(try await send(bert, .GET, id, in: zone).status == 200)
            try await anna.remove(bert, from: &zone)
            #expect(try await send(bert, .GET, id, in: zone).code == .zoneNotFound)
            #expect(try await send(bert, .PUT, id, in: zone, body).code == .zoneNotFound)
            let carl = try await Person.ready(server)
            #expect(try await send(carl, .GET, id, in: zone).code == .zoneNotFound)
            #expect(try await anna.deleteZone(zone).deleted)
            try await waitForFiles(0, server)
        }
    }

    @Test func whatNobodyClaimsIsSwept() async throws {
        try await withZone { anna, zone, server in
            let kept = try await upload(anna, [UInt8](repeating: 1, count: 100), in: zone)
            _ = try await anna.save([try write("x", blob: kept)], in: zone)
            let staged = try await upload(anna, randomBytes(60), in: zone)
            server.clock.advance(seconds: 80_000)
            try await server.sweep(now: server.clock.now)
            #expect(try await send(anna, .GET, staged, in: zone).status == 200)
            server.clock.advance(seconds: 10_000)
            try await server.sweep(now: server.clock.now)
            #expect(try await send(anna, .GET, staged, in: zone).code == .assetNotAvailable)
            #expect(try await send(anna, .GET, kept, in: zone).status == 200)
            try await waitForFiles(1, server)
        }
    }

    @Test func stagedUploadsAreBoundedByAccount() async throws {
        var limits = AbuseLimits()
        (limits.stagedBytesPerAccount, limits.stagedBlobsPerAccount) = (1000, 3)
        try await RunningServer.with(limits: limits) { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            let other = try await anna.makeZone("other")
            try await anna.share(&zone, with: bert)
            func put(_ person: Person, _ count: Int, _ zone: TestZone) async throws -> (id: String, code: ErrorCode?) {
                let id = Hex.encode(randomBytes(16))
                let body = HTTPClientRequest.Body.bytes(
                    ByteBuffer(bytes: Self.blob([UInt8](repeating: 1, count: count))))
                let answer = try await send(person, .PUT, id, in: zone, body)
                #expect(answer.status == 201 || answer.status == 413)
                return (id, answer.code)
            }
            // One asset of any size; then nothing until its record came.
            let first = try await put(anna, 2000, zone)
            #expect(first.code == nil)
            #expect(try await put(anna, 49, zone).code == .quotaExceeded)
            #expect(try await put(anna, 49, other).code == .quotaExceeded)
            // The account's, whichever container it is for.
            try await anna.register(in: "org.example.elsewhere")
            let elsewhere = try await send(
                anna, .PUT, "", in: zone, .bytes(ByteBuffer(bytes: [1, 2, 3])),
                path:
                    "/database/1/org.example.elsewhere/development/public/assets/-/_defaultZone/\(Hex.encode(randomBytes(16)))"
            )
            #expect(elsewhere.code == .quotaExceeded)
            #expect(try await put(bert, 900, zone).code == nil)
            #expect(
                try await anna.codes(
                    [
                        try write(
                            "x", blob: first.id, root: Self.root(of: Self.blob([UInt8](repeating: 1, count: 2000))))
                    ], in: zone) == [nil])
            #expect(try await put(anna, 600, zone).code == nil)
            let refused = try await put(anna, 401, zone)
            #expect(refused.code == .quotaExceeded)
            #expect(try await send(anna, .GET, refused.id, in: zone).code == .assetNotAvailable)
            #expect(try await values("id", of: "blob", server).count == 3)
            #expect(try await put(anna, 300, other).code == nil)
            #expect(try await put(anna, 50, zone).code == nil)
            // By number as well.
            #expect(try await put(anna, 49, zone).code == .quotaExceeded)
            // A zone that goes takes its uploads along, and so does time.
            #expect(try await anna.deleteZone(other).deleted)
            #expect(try await put(anna, 300, zone).code == nil)
            #expect(try await put(anna, 49, zone).code == .quotaExceeded)
            server.clock.advance(seconds: 90_000)
            try await server.sweep(now: server.clock.now)
            #expect(try await put(anna, 49, zone).code == nil)
        }
    }

    @Test func rangesAreRead() {
        for (header, expected) in [
            (nil, ByteRange.all), ("bytes=0-0", .part(0..<1)), ("bytes=5-", .part(5..<10)),
            ("bytes=5-99", .part(5..<10)),
            ("bytes=-3", .part(7..<10)), ("bytes=-99", .part(0..<10)), ("bytes=10-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable),
            ("bytes=3-2", .all), ("bytes=a-b", .all), ("bytes=0-1,3-4", .all), ("lines=0-1", .all), ("bytes=-", .all),
            ("bytes=99999999999999999999-", .all),
        ] as [(String?, ByteRange)] {
            #expect(ByteRange(header, size: 10) == expected, "\(header ?? "none")")
        }
    }
}
