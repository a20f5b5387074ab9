import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealPrimitives
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A server with its assets in an S3 store.
@Suite(.timeLimit(.minutes(60))) struct S3ServerTests {
    /// A place, and the store that it is in.
    private struct Place {
        let configuration: BlobsConfiguration
        let scripted: ScriptedStore?
    }

    private func with(_ kind: TestedStore, _ body: (Place) async throws -> Void) async throws {
        var scripted: ScriptedStore?
        if kind == .scripted { scripted = try await ScriptedStore() }
        let environment = ProcessInfo.processInfo.environment
        let url = try scripted.map { $0.url.replacing("?", with: "/assets?") } ?? TestedStore.ownPlace()
        try await body(
            Place(
                configuration: BlobsConfiguration(
                    url: url,
                    credentials: .keys(
                        accessKey: environment["AWS_ACCESS_KEY_ID"] ?? "key",
                        secretKey: environment["AWS_SECRET_ACCESS_KEY"] ?? "secret", sessionToken: nil)),
                scripted: scripted))
        await scripted?.stop()
    }

    private func stored(_ server: RunningServer) async throws -> [BlobID] {
        try await server.services.database.read { connection in
            try connection.rows("SELECT stored FROM blob ORDER BY created, id") { try $0.text("stored") }
        }.compactMap { BlobID($0) }
    }

    private func listed(_ blobs: any BlobStore) async throws -> [BlobID] {
        let blobs = try #require(blobs as? any ListedBlobs)
        var (found, last) = ([BlobID](), BlobID?.none)
        while true {
            let page = try await blobs.blobs(after: last)
            found += page.entries.map(\.id)
            guard !page.isLast else { return found }
            last = page.entries.last?.id
        }
    }

    @Test(arguments: TestedStore.ofS3) func assetsGoUpAndComeDown(_ kind: TestedStore) async throws {
        try await with(kind) { place in
            let folder = TemporaryFolder()
            try await RunningServer.with(folder: folder, blobs: place.configuration) { server in
                let anna = try await Person.ready(server)
                let (zone, assets) = (try await anna.makeSharedZone(), AssetTests())
                let bytes = AssetTests.blob(placedBytes(20_000_000))
                let id = try await assets.upload(anna, placedBytes(20_000_000), in: zone)
                #expect(try await assets.send(anna, .GET, id, in: zone).body == bytes)
                let range = try await assets.send(anna, .GET, id, in: zone, range: "bytes=9000000-9000099")
                #expect(range.status == 206 && range.body == Array(bytes[9_000_000..<9_000_100]))
                #expect(try await anna.codes([assets.write("a", blob: id, chunks: 305)], in: zone) == [nil])

                let upload = UploadTests.Upload(anna, zone, bytes: 2 * UploadTests.part + 100_000)
                try await upload.begin()
                for part in [2, 0, 1] { #expect(try await upload.put(part).status == 201) }
                try await upload.finish()
                try await upload.finish()
                #expect(try await upload.get().body == upload.blob)
                let given = UploadTests.Upload(anna, zone, bytes: UploadTests.part + 100)
                try await given.begin()
                for part in 0..<2 { #expect(try await given.put(part).status == 201) }
                try await given.abandon()
                try await server.sweep(now: server.clock.now)
                #expect(try await listed(server.services.blobs).count == 2)
                #expect(try await server.services.blobs.staleUploads(olderThan: .seconds(-3_600)) == [])
                #expect(!FileManager.default.fileExists(atPath: folder.file("data/blobs")))
            }
        }
    }

    /// Two servers before one store may have two contents of a part at once: what the rows say is never what the store
    /// has not.
    @Test func ofTwoContentsOfAPartTheStoreGetsTheOneThatWasNotedFirst() async throws {
        try await with(.scripted) { place in
            let scripted = try #require(place.scripted)
            try await RunningServer.with(blobs: place.configuration) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeSharedZone()
                let upload = UploadTests.Upload(anna, zone, bytes: UploadTests.part + 100)
                try await upload.begin()
                // The other server has noted what it is about to send.
                try await server.services.database.write(at: .everything) { connection in
                    try connection.execute(
                        """
                        INSERT INTO asset_part (owner, zone, id, part, stored, leaves) VALUES (
                            (SELECT owner FROM blob WHERE id = $1), (SELECT zone FROM blob WHERE id = $1), $1, 0, 0, $2)
                        """, [.text(upload.id), .blob([UInt8](repeating: 1, count: 128 * Digest.byteCount))])
                }
                scripted.play { $1() }
                #expect(try await upload.put(0).code == .assetFileModified)
                #expect(scripted.count("PUT part") == 0)
                #expect(try await upload.present() == [])

                // What the store did not take may be sent again, and nothing else in its place.
                scripted.answer("PUT", with: .error(507, ""))
                #expect(try await upload.put(1).code == .storageFull)
                scripted.play { $1() }
                #expect(try await upload.present() == [])
                var other = Array(upload.content.suffix(100))
                other[0] ^= 1
                let body = other + (try AssetTree.root([AssetTree.leaf(other)])).bytes
                #expect(
                    try await upload.put(1, .bytes(ByteBuffer(bytes: body))).code == .assetFileModified)
                #expect(try await upload.put(1).status == 201)
                #expect(try await upload.present() == [1])
            }
        }
    }

    /// A database that is put back from a moment within it names no file that is gone.
    @Test(arguments: TestedStore.available) func garbageHasAGraceTime(_ kind: TestedStore) async throws {
        func check(_ blobs: BlobsConfiguration?) async throws {
            try await RunningServer.with(blobs: blobs, garbageGrace: 7) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeSharedZone()
                _ = try await AssetTests().upload(anna, placedBytes(1_000), in: zone)
                let id = try #require(try await stored(server).first)
                let (day, now) = (Int64(86_400_000_000), server.clock.now)
                // Nobody's for a day, then garbage.
                for days in [2, 3, 6] as [Int64] {
                    try await server.sweep(now: now + days * day)
                    #expect(try await server.services.blobs.size(of: id) == 1_000)
                    #expect(try await server.rows(in: ["blob", "blob_garbage"]) == ["blob_garbage": 1])
                }
                try await server.sweep(now: now + 10 * day)
                await #expect(throws: BlobStoreError.notFound(id)) { try await server.services.blobs.size(of: id) }
                #expect(try await server.rows(in: ["blob", "blob_garbage"]) == [:])
            }
        }
        guard kind != .folder else { return try await check(nil) }
        try await with(kind) { try await check($0.configuration) }
    }

    @Test(arguments: TestedStore.ofS3) func theStoreIsComparedWithTheRows(_ kind: TestedStore) async throws {
        try await with(kind) { place in
            try await RunningServer.with(blobs: place.configuration, garbageGrace: 3) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeSharedZone()
                for _ in 0..<3 { _ = try await AssetTests().upload(anna, placedBytes(1_000), in: zone) }
                let known = try await stored(server)
                let blobs = try #require(server.services.blobs as? S3BlobStore)
                let unknown = [BlobID.random(), .random()]
                for id in unknown { _ = try await blobs.store([1], as: id) }
                let garbage = BlobID.random()
                _ = try await blobs.store([1], as: garbage)
                try await server.services.database.write(at: .everything) {
                    // More rows of one stretch than are read at once.
                    for id in [garbage] + (0..<2_500).map({ _ in BlobID.random() }) {
                        try $0.execute("INSERT INTO blob_garbage (stored) VALUES ($1)", [.text(id.description)])
                    }
                }
                try await blobs.delete(known[1])
                let day = Int64(86_400_000_000)
                // The server's own, which looks at its start, is over.
                try await waitUntil("its jobs have looked") { server.services.jobs.areIdle }
                try await server.services.jobs.run(.blobComparison)
                try await server.services.database.write(at: .everything) { try JobLease.releaseAll(in: $0) }
                let lease = JobLease(job: .blobComparison, holder: [1])
                func compare(days: Int64) async throws -> BlobComparison.Outcome {
                    let clock = server.clock
                    return try await BlobComparison(blobs: blobs, grace: 3 * day).run(
                        JobTurn(
                            database: server.services.database, lease: lease, now: clock.now + days * day,
                            clock: { clock.now }))
                }
                var outcome = try await compare(days: 2)
                #expect(outcome == .init(compared: 5, deleted: 0, lost: 1, names: [known[1].description]))
                // Another database has the place by now.
                let mark = try await blobs.client.send(S3Request(.GET, S3Mark.key)).body
                for (body, isOther) in [(S3Mark(owner: "2").body, true), (mark, false)] {
                    _ = try await blobs.client.send(S3Request(.PUT, S3Mark.key, body: body))
                    guard isOther else { continue }
                    var isRefused = false
                    do { _ = try await compare(days: 4) } catch is BlobStoreError { isRefused = true }
                    #expect(isRefused)
                    #expect(try await listed(blobs).count == 5)
                }
                outcome = try await compare(days: 4)
                #expect(outcome == .init(compared: 5, deleted: 2, lost: 1, names: [known[1].description]))
                outcome = try await compare(days: 4)
                #expect(outcome == .init(compared: 3, deleted: 0, lost: 1, names: [known[1].description]))
                #expect(Set(try await listed(blobs)) == [known[0], known[2], garbage])
            }
        }
    }

    // MARK: Which place

    private func refused(
        _ folder: TemporaryFolder, _ blobs: BlobsConfiguration?, _ isExpected: (any Error) -> Bool,
        at location: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: (any Error).self, sourceLocation: location) {
            try await RunningServer.with(folder: folder, blobs: blobs) { _ in }
        }
        #expect(error.map(isExpected) == true, "\(String(describing: error))", sourceLocation: location)
    }

    @Test(arguments: TestedStore.ofS3) func aDatabaseGoesWithItsAssets(_ kind: TestedStore) async throws {
        try await with(kind) { place in
            let folder = TemporaryFolder()
            try await RunningServer.with(folder: folder) { server in
                let anna = try await Person.ready(server)
                _ = try await AssetTests().upload(anna, placedBytes(1_000), in: try await anna.makeSharedZone())
            }
            let isMissing: (any Error) -> Bool = {
                guard case ConfigurationError.blobsMissing = $0 else { return false }
                return true
            }
            let isNotOurs: (any Error) -> Bool = {
                guard case BlobStoreError.notOurs(let name) = $0 else { return false }
                return name.hasPrefix("s3://")
            }
            // An empty place has not what the database names.
            await refused(folder, place.configuration, isNotOurs)
            // Somebody copies the folder there, by any tool.
            let client = try TestedStore.client(place.configuration.url)
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder.file("data/blobs")).filter {
                $0.split(separator: "/").count == 3
            }
            #expect(files.count == 1)
            let copied = {
                for file in files {
                    let bytes = try #require(FileManager.default.contents(atPath: folder.file("data/blobs/" + file)))
                    _ = try await client.send(S3Request(.PUT, file, body: ByteBuffer(bytes: bytes)))
                }
            }
            try await whatever(becomesOf: copied) { await client.close() }
            try await RunningServer.with(folder: folder, blobs: place.configuration) { server in
                let anna = try await Person.ready(server)
                _ = try await AssetTests().upload(anna, placedBytes(2_000), in: try await anna.makeSharedZone())
            }
            await refused(folder, nil, isMissing)
            // Another database may not have it.
            await refused(TemporaryFolder(), place.configuration, isNotOurs)
            if !TestPostgres.isForAll { try saysThatAssetsAreElsewhere(folder.file("data"), folder) }
        }
    }

    /// What is for files alone.
    private func saysThatAssetsAreElsewhere(_ data: String, _ folder: TemporaryFolder) throws {
        let backup = try Backup(
            dataFolder: data, secretsFolder: data + ".secrets", place: folder.file("backups"), recipient: nil,
            origin: nil, now: Date())
        let error = #expect(throws: BackupError.self) { try backup.run() }
        #expect(error?.kind == .badInput && error?.reason.contains("s3://") == true)
        let check = try DataCheck(dataFolder: data)
        defer { check.close() }
        #expect(try check.run().isEmpty)
        #expect(try check.blobsElsewhere()?.hasPrefix("s3://") == true)
    }

    // MARK: A store that fails

    /// As if the server were killed once the row is gone: the store deletes nothing, and the database writes nothing.
    @Test func aFileWhoseRowIsGoneIsGarbageAtOnce() async throws {
        try await with(.scripted) { place in
            let (scripted, hook) = (try #require(place.scripted), WriteHook())
            try await RunningServer.with(hook: hook, blobs: place.configuration) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeSharedZone()
                scripted.play { call, truly in
                    if call.name == "PUT" { return ScriptedStore.Answer.error(507, "") }
                    guard call.name == "DELETE" else { return truly() }
                    hook.arm { _ in throw TestFailure("killed") }
                    return ScriptedStore.Answer.error(403, "AccessDenied")
                }
                let body = HTTPClientRequest.Body.bytes(ByteBuffer(bytes: AssetTests.blob(placedBytes(1_000))))
                let answer = try await AssetTests().send(anna, .PUT, Hex.encode(randomBytes(16)), in: zone, body)
                // What the server writes at its end is written.
                hook.arm { _ in }
                #expect(answer.code == .storageFull)
                #expect(try await server.rows(in: ["blob", "blob_garbage"]) == ["blob_garbage": 1])
            }
        }
    }

    @Test func whatTheStoreDoesNotDoIsSaidAndLeavesNothing() async throws {
        try await with(.scripted) { place in
            let scripted = try #require(place.scripted)
            try await RunningServer.with(blobs: place.configuration) { server in
                let anna = try await Person.ready(server)
                let (zone, assets) = (try await anna.makeSharedZone(), AssetTests())
                let id = try await assets.upload(anna, placedBytes(100_000), in: zone)
                let keys = scripted.keys
                let body = HTTPClientRequest.Body.bytes(ByteBuffer(bytes: AssetTests.blob(placedBytes(100_000))))
                for (answer, code) in [
                    (ScriptedStore.Answer.error(403, "AccessDenied"), ErrorCode.serviceUnavailable),
                    (.error(507, ""), .storageFull), (.error(404, "NoSuchBucket"), .serviceUnavailable),
                ] {
                    scripted.answer("PUT", with: answer)
                    let other = Hex.encode(randomBytes(16))
                    #expect(try await assets.send(anna, .PUT, other, in: zone, body).code == code)
                    #expect(scripted.keys == keys)
                    #expect(try await server.rows(in: ["blob", "blob_garbage"]) == ["blob": 1])
                    scripted.answer("GET", with: answer)
                    if code != .storageFull { #expect(try await assets.send(anna, .GET, id, in: zone).code == code) }
                }
                // What it does not take away either is garbage, until it does.
                scripted.play { call, truly in
                    if call.name == "PUT" { return ScriptedStore.Answer.error(507, "") }
                    if call.name == "DELETE" { return ScriptedStore.Answer.error(403, "AccessDenied") }
                    return truly()
                }
                let third = Hex.encode(randomBytes(16))
                #expect(try await assets.send(anna, .PUT, third, in: zone, body).code == .storageFull)
                #expect(try await server.rows(in: ["blob", "blob_garbage"]) == ["blob": 1, "blob_garbage": 1])
                // Whole, and another one than was stored.
                scripted.play { $1() }
                let key = try #require(keys.first)
                scripted.set(key, placedBytes(99_999))
                #expect(try await assets.send(anna, .GET, id, in: zone).code == .serviceUnavailable)
                #expect(
                    try await assets.send(anna, .GET, id, in: zone, range: "bytes=0-9").code == .serviceUnavailable)
                scripted.remove(key)
                #expect(try await assets.send(anna, .GET, id, in: zone).code == .assetNotAvailable)

                // Of an upload that the store has lost a part of, the client begins another one.
                let upload = UploadTests.Upload(anna, zone, bytes: UploadTests.part + 100_000)
                try await upload.begin()
                for part in 0..<2 { #expect(try await upload.put(part).status == 201) }
                scripted.losePart(1)
                try await expectRefusal(.assetNotAvailable) { try await upload.finish() }
                try await expectRefusal(.assetNotAvailable) { _ = try await upload.state() }
                try await server.sweep(now: server.clock.now)
                #expect(scripted.keys == [] && scripted.uploadCount == 0)
            }
        }
    }
}
