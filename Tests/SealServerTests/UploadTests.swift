import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Assets that come in parts.
@Suite(.timeLimit(.minutes(60))) struct UploadTests {
    /// One upload as its client knows it: what the server makes of sealed chunks, it makes of any bytes.
    struct Upload: Sendable {
        var person: Person
        let zone: TestZone
        let isPublic: Bool
        let id: String
        let content: [UInt8]
        let leaves: [Digest]

        var chunk: Int { isPublic ? 65_536 : 65_552 }
        var partBytes: Int { 128 * chunk }
        var partCount: Int { (content.count + partBytes - 1) / partBytes }
        /// What is read in the end.
        var blob: [UInt8] { isPublic ? content : content + leaves.flatMap(\.bytes) }

        init(_ person: Person, _ zone: TestZone, bytes: Int, isPublic: Bool = false) {
            (self.person, self.zone, self.isPublic) = (person, zone, isPublic)
            id = Hex.encode(randomBytes(16))
            // Random at the places that tell parts and chunks from one another; the rest costs nothing.
            var content = [UInt8](repeating: 7, count: bytes)
            for place in stride(from: 0, to: bytes, by: 60_000) { content[place] = UInt8.random(in: 0...255) }
            self.content = content
            let chunk = isPublic ? 65_536 : 65_552
            leaves = stride(from: 0, to: bytes, by: chunk).map {
                AssetTree.leaf(Array(content[$0..<min($0 + chunk, bytes)]))
            }
        }

        func path(_ call: String) -> String {
            let asset =
                "assets/\(zone.owner == person.user || isPublic ? "-" : zone.owner.recordName)/\(isPublic ? Names.defaultZone : zone.name)/\(id)"
            let place = asset + (call.isEmpty ? "" : "/\(call)")
            return isPublic ? Person.publicPath(place) : person.path(place, shared: zone.owner != person.user)
        }

        /// The part's bytes, and the root over its chunks behind them.
        func body(_ part: Int) throws -> [UInt8] {
            let bytes = Array(content[part * partBytes..<min((part + 1) * partBytes, content.count)])
            return bytes + (try AssetTree.root(Array(leaves[part * 128..<min((part + 1) * 128, leaves.count)]))).bytes
        }

        @discardableResult
        func begin(_ bytes: Int? = nil) async throws -> Sealkit_V1_UploadState {
            try await person.client.call(
                path("begin"), Sealkit_V1_BeginUploadRequest.with { $0.contentBytes = UInt64(bytes ?? content.count) },
                as: Sealkit_V1_UploadState.self)
        }

        func state() async throws -> Sealkit_V1_UploadState {
            try await person.client.call(path("parts"), nil, as: Sealkit_V1_UploadState.self)
        }

        /// The numbers of the parts that the server has.
        func present() async throws -> [UInt32] { try await state().parts.flatMap { $0.first..<$0.first + $0.count } }

        func put(_ part: some CustomStringConvertible, _ body: HTTPClientRequest.Body?) async throws
            -> AssetTests.Answer
        {
            try await AssetTests().send(person, .PUT, id, in: zone, body, path: path("parts/\(part)"))
        }

        func put(_ part: Int) async throws -> AssetTests.Answer {
            try await put(part, .bytes(ByteBuffer(bytes: try body(part))))
        }

        func finish(_ root: Digest? = nil) async throws {
            let root = try root ?? AssetTree.root(leaves)
            _ = try await person.client.call(
                path("finish"), Sealkit_V1_FinishUploadRequest.with { $0.root = Data(root.bytes) },
                as: Sealkit_V1_FinishUploadResponse.self)
        }

        func abandon() async throws {
            _ = try await person.client.call(
                path("abandon"), Sealkit_V1_AbandonUploadRequest(), as: Sealkit_V1_AbandonUploadResponse.self)
        }

        func get() async throws -> AssetTests.Answer {
            try await AssetTests().send(person, .GET, id, in: zone, path: path(""))
        }
    }

    static let part = 128 * 65_552

    /// What nobody knows any more: the row goes first, and a crash may take only that.
    @Test func stagedFilesThatNoRowNamesGoAfterTwoDays() async throws {
        try await RunningServer.with { server in
            var generator = SystemRandomNumberGenerator()
            let ages: [Double] = [3_600, 86_400, 3 * 86_400, 30 * 86_400]
            var names: [String] = []
            for age in ages {
                let name = BlobID(random: &generator).description
                let file = server.folder.file("data/blobs/staged/\(name)")
                try Data([1]).write(to: URL(fileURLWithPath: file))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date().addingTimeInterval(-age)], ofItemAtPath: file)
                names.append(name)
            }
            try await server.sweep(now: server.clock.now)
            #expect(try staged(server).sorted() == names.prefix(2).sorted())
        }
    }

    private func staged(_ server: RunningServer) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: server.folder.file("data/blobs/staged"))
    }

    @Test func partsComeInAnyOrderAndMakeOneAsset() async throws {
        try await AssetTests().withZone { anna, zone, server in
            let upload = Upload(anna, zone, bytes: 2 * Self.part + 100_000)
            let state = try await upload.begin()
            #expect(state.partChunks == 128)
            #expect(state.partCount == 3)
            #expect(state.parts.isEmpty)
            #expect(state.contentBytes == UInt64(upload.content.count))
            #expect(state.expires == server.clock.now + 86_400_000_000)
            for part in [2, 0] { #expect(try await upload.put(part).status == 201) }
            #expect(try await upload.present() == [0, 2])
            try await expectRefusal(.constraintViolation) { try await upload.finish() }
            // Nobody reads what is not whole, not even its uploader.
            #expect(try await upload.get().code == .assetNotAvailable)
            #expect(
                try await anna.codes([try AssetTests().write("x", blob: upload.id, chunks: 258)], in: zone) == [
                    .assetFileNotFound
                ])
            #expect(try await upload.put(1).status == 201)
            try await upload.finish()
            #expect(try await upload.get().body == upload.blob)
            #expect(
                try await anna.codes(
                    [
                        try AssetTests().write(
                            "x", blob: upload.id, chunks: UInt64(upload.leaves.count),
                            root: AssetTree.root(upload.leaves))
                    ], in: zone) == [nil])
            #expect(try staged(server).isEmpty)
            let rows = try await server.services.database.read { try $0.exists("SELECT 1 FROM asset_part") }
            #expect(!rows)
        }
    }

    @Test func anAssetOfThePublicDatabaseComesInPartsToo() async throws {
        try await AssetTests().withZone { anna, zone, _ in
            let upload = Upload(anna, zone, bytes: 128 * 65_536 + 1, isPublic: true)
            #expect(try await upload.begin().partCount == 2)
            for part in 0..<2 { #expect(try await upload.put(part).status == 201) }
            try await upload.finish()
            #expect(try await upload.get().body == upload.content)
        }
    }

    @Test func whatIsCutOffCostsOnePartAndIsGoneOnWith() async throws {
        let folder = TemporaryFolder()
        let clock = TestClock()
        let kept = Mutex<Upload?>(nil)
        try await RunningServer.with(folder: folder, clock: clock) { server in
            let anna = try await Person.ready(server)
            let upload = Upload(anna, try await anna.makeZone(), bytes: Self.part + 100_000)
            try await upload.begin()
            #expect(try await upload.put(0).status == 201)
            // The connection breaks in the middle of the second.
            let half = try upload.body(1).prefix(50_000)
            let cut = try? await upload.put(
                1, .stream([ByteBuffer(bytes: half)].asAsyncStream, length: .known(Int64(100_032))))
            #expect(cut == nil)
            #expect(try await upload.present() == [0])
            // A beginning whose answer was lost finds it; another length does not.
            let parts = try await upload.begin().parts
            var first = Sealkit_V1_PartRange()
            first.count = 1
            #expect(parts == [first])
            try await expectRefusal(.serverRejectedRequest) { try await upload.begin(Self.part) }
            kept.withLock { $0 = upload }
        }
        // The server was stopped meanwhile.
        try await RunningServer.with(folder: folder, clock: clock) { server in
            var upload = try #require(kept.withLock { $0 })
            upload.person = upload.person.at(server)
            #expect(try await upload.present() == [0])
            #expect(try await upload.put(1).status == 201)
            try await upload.finish()
            #expect(try await upload.get().body == upload.blob)
        }
    }

    /// A server that was killed between two of its own steps.
    @Test func everyStepCanBeTheLastOfAServer() async throws {
        try await AssetTests().withZone { anna, zone, server in
            let database = server.services.database
            // Between the row and the file.
            let first = Upload(anna, zone, bytes: 100_000)
            try await first.begin()
            for name in try staged(server) {
                try FileManager.default.removeItem(atPath: server.folder.file("data/blobs/staged/\(name)"))
            }
            try await first.begin()
            #expect(try await first.put(0).status == 201)
            // Between what is taken down of a part and its bytes.
            try await database.write(at: .everything) { try $0.execute("UPDATE asset_part SET stored = 0") }
            #expect(try await first.present().isEmpty)
            try await expectRefusal(.constraintViolation) { try await first.finish() }
            #expect(try await first.put(0).status == 201)
            // Between the file's name and its row.
            let id = first.id
            let saved = try await database.read { connection in
                try connection.first("SELECT leaves FROM asset_part WHERE id = $1", [.text(id)]) {
                    try $0.bytes("leaves")
                }
            }
            let leaves = try #require(saved)
            try await first.finish()
            try await database.write(at: .everything) { connection in
                try connection.execute("UPDATE blob SET size = NULL, root = NULL WHERE id = $1", [.text(id)])
                try connection.execute(
                    """
                    INSERT INTO asset_part (owner, zone, id, part, stored, leaves)
                    SELECT owner, zone, id, 0, 1, $2 FROM blob WHERE id = $1
                    """, [.text(id), .blob(leaves)])
            }
            try await first.finish()
            #expect(try await first.get().body == first.blob)
            // A file that is gone is never made again beneath its parts.
            let second = Upload(anna, zone, bytes: 100_000)
            try await second.begin()
            #expect(try await second.put(0).status == 201)
            for name in try staged(server) {
                try FileManager.default.removeItem(atPath: server.folder.file("data/blobs/staged/\(name)"))
            }
            try await second.begin()
            try await expectRefusal(.assetNotAvailable) { try await second.finish() }
        }
    }

    @Test func thePartsAndTheirEndMayBeSaidTwice() async throws {
        try await AssetTests().withZone { anna, zone, server in
            let upload = Upload(anna, zone, bytes: Self.part + 100_000)
            try await upload.begin()
            for part in [0, 0, 1, 1] { #expect(try await upload.put(part).status == 201) }
            // At once, too.
            let other = Upload(anna, zone, bytes: Self.part + 1_000)
            try await other.begin()
            try await withThrowingTaskGroup(of: UInt.self) { group in
                for _ in 0..<4 { for part in 0..<2 { group.addTask { try await other.put(part).status } } }
                for try await status in group { #expect(status == 201) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await other.finish() } }
                try await group.waitForAll()
            }
            #expect(try await other.get().body == other.blob)
            try await upload.finish()
            try await upload.finish()
            #expect(try await upload.get().body == upload.blob)
            // As another asset it was never finished; and it is no open upload any more.
            try await expectRefusal(.assetNotAvailable) { try await upload.finish(Digest.zero) }
            try await expectRefusal(.assetNotAvailable) { _ = try await upload.state() }
            #expect(try await upload.put(1).code == .assetNotAvailable)
            try await expectRefusal(.serverRejectedRequest) { try await upload.begin() }
            #expect(try staged(server).isEmpty)
        }
    }

    /// A request whose client is gone lingers, and what it holds of a part is written over; one that goes on after all
    /// is held against what was stored.
    @Test func theNewestRequestWithAPartHasIt() async throws {
        try await AssetTests().withZone { anna, zone, _ in
            let upload = Upload(anna, zone, bytes: Self.part)
            let other = Upload(anna, zone, bytes: Self.part)
            try await upload.begin()
            for late in [upload, other] {
                let body = try late.body(0)
                let (rest, goOn) = AsyncStream<ByteBuffer>.makeStream()
                goOn.yield(ByteBuffer(bytes: body.prefix(3 << 20)))
                async let lingering = upload.put(
                    0, .stream(rest, length: .known(Int64(body.count))))
                // Some of it has come by then, or not: it makes no difference.
                try await Task.sleep(for: .milliseconds(50))
                #expect(try await upload.put(0).status == 201)
                goOn.yield(ByteBuffer(bytes: body.dropFirst(3 << 20)))
                goOn.finish()
                let answer = try await lingering
                if late.id == upload.id {
                    #expect(answer.status == 201)
                } else {
                    #expect(answer.code == .assetFileModified)
                }
            }
            try await upload.finish()
            #expect(try await upload.get().body == upload.blob)
        }
    }

    @Test func ofTwoThatSendOtherBytesOneHasThePart() async throws {
        try await AssetTests().withZone { anna, zone, _ in
            for _ in 0..<5 {
                let upload = Upload(anna, zone, bytes: Self.part)
                let other = Upload(anna, zone, bytes: Self.part)
                try await upload.begin()
                let bodies = try [upload.body(0), other.body(0)]
                let codes = try await withThrowingTaskGroup(of: (Int, ErrorCode?).self) { group in
                    for number in 0..<6 {
                        group.addTask {
                            let answer = try await upload.put(0, .bytes(ByteBuffer(bytes: bodies[number % 2])))
                            return (number % 2, answer.code)
                        }
                    }
                    return try await group.reduce(into: [Set<ErrorCode?>(), []]) { $0[$1.0].insert($1.1) }
                }
                let winner = codes[0].contains(nil) ? upload : other
                #expect(codes[0].contains(nil) != codes[1].contains(nil))
                #expect(codes[0].union(codes[1]).isSubset(of: [nil, .assetFileModified, .zoneBusy]))
                try await upload.finish(AssetTree.root(winner.leaves))
                #expect(try await upload.get().body == winner.blob)
            }
        }
    }

    @Test func partsThatAreNotWhatTheySayAreRefused() async throws {
        try await AssetTests().withZone { anna, zone, server in
            let upload = Upload(anna, zone, bytes: Self.part + 100_000)
            // Before it was begun.
            #expect(try await upload.put(1).code == .assetNotAvailable)
            try await upload.begin()
            let good = try upload.body(1)
            func code(_ part: some CustomStringConvertible, _ bytes: [UInt8]) async throws -> ErrorCode? {
                try await upload.put(part, .bytes(ByteBuffer(bytes: bytes))).code
            }
            for part in ["2", "-1", "x", "01", "99999999999999999999"] {
                #expect(try await code(part, good) == .invalidArguments)
            }
            for wrong in [Array(good.dropLast()), good + [0], Array(good.dropFirst(32)), []] {
                #expect(try await code(1, wrong) == .invalidArguments)
            }
            #expect(
                try await upload.put(1, .stream([ByteBuffer(bytes: good)].asAsyncStream, length: .unknown)).code
                    == .invalidArguments)
            // Altered on its way, anywhere.
            for place in [0, 65_552, 99_999, good.count - 1] {
                var altered = good
                altered[place] ^= 1
                #expect(try await code(1, altered) == .assetFileModified)
            }
            #expect(try await upload.present().isEmpty)
            #expect(try await code(1, good) == nil)
            // Other bytes under what may be the same key, whole in themselves.
            let other = Upload(anna, zone, bytes: upload.content.count)
            #expect(try await code(1, other.body(1)) == .assetFileModified)
            // Parts of two assets are none.
            #expect(try await code(0, other.body(0)) == nil)
            try await expectRefusal(.assetFileModified) { try await upload.finish() }
            try await expectRefusal(.assetFileModified) { try await upload.finish(AssetTree.root(other.leaves)) }
            #expect(try await upload.get().code == .assetNotAvailable)
            try await upload.abandon()
            try await upload.abandon()
            try await expectRefusal(.assetNotAvailable) { _ = try await upload.state() }
            // A job removes it, beside the answer.
            try await waitUntil("its file is gone") { try staged(server).isEmpty }
        }
    }

    /// As if it had been given up, and its file collected, before that had the name under which it is read.
    @Test("An upload is given up while it is finished, again and again: no file stays that nobody is billed for.")
    func attack91_givenUpWhileItIsFinished() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let upload = Upload(anna, zone, bytes: 100_000)
            try await upload.begin()
            #expect(try await upload.put(0).status == 201)
            hook.arm { try $0.execute("DELETE FROM blob") }
            try await expectRefusal(.assetNotAvailable) { try await upload.finish() }
            #expect(!hook.isArmed)
            try await AssetTests().waitForFiles(0, server)
            AttackOutcome.held("no file is left")
        }
    }

    @Test func lengthsThatNoAssetHasAreRefused() async throws {
        try await AssetTests().withZone { anna, zone, _ in
            let upload = Upload(anna, zone, bytes: 100)
            for bytes in [0, 1, 16, 65_552 + 16] {
                try await expectRefusal(.invalidArguments) { try await upload.begin(bytes) }
            }
            for bytes in [17 << 30, Int.max] {
                try await expectRefusal(.limitExceeded) { try await upload.begin(bytes) }
            }
        }
    }

    @Test func anUploadIsItsAccountsAlone() async throws {
        try await AssetTests().withZone { anna, made, server in
            var zone = made
            let bert = try await Person.ready(server)
            try await anna.share(&zone, with: bert)
            let upload = Upload(bert, zone, bytes: 100_000)
            try await upload.begin()
            var foreign = upload
            foreign.person = anna
            let stranger = foreign
            #expect(try await stranger.put(0).code == .assetNotAvailable)
            try await expectRefusal(.assetNotAvailable) { _ = try await stranger.state() }
            try await expectRefusal(.assetNotAvailable) { try await stranger.finish() }
            try await expectRefusal(.serverRejectedRequest) { try await stranger.begin() }
            try await stranger.abandon()
            // Another device of the same account goes on.
            var device = upload
            device.person = try await bert.onAnotherDevice()
            let other = device
            #expect(try await other.put(0).status == 201)
            // Who may not write any more cannot finish.
            try await anna.remove(bert, from: &zone)
            try await expectRefusal(.zoneNotFound) { try await upload.finish() }
        }
    }

    @Test func anEndedSessionEndsIt() async throws {
        try await AssetTests().withZone { phone, zone, server in
            var client = phone.client.onAnotherDevice()
            client.token = try await client.login().token
            let upload = Upload(Person(client: client, keys: phone.keys, chain: phone.chain), zone, bytes: 300_000)
            try await upload.begin()
            let bytes = try upload.body(0)
            let (parts, continuation) = AsyncStream<ByteBuffer>.makeStream()
            let revoked = client.device
            async let answer = upload.put(0, .stream(parts, length: .known(Int64(bytes.count))))
            continuation.yield(ByteBuffer(bytes: bytes[..<100_000]))
            try await Task.sleep(for: .milliseconds(50))
            try await phone.client.revoke(revoked)
            continuation.yield(ByteBuffer(bytes: bytes[100_000...]))
            let sent = try await answer
            #expect(sent.code == .sessionExpired)
            continuation.finish()
            for code in [
                try await refusal { _ = try await upload.state() }, try await refusal { try await upload.finish() },
            ] {
                #expect(code == .sessionExpired)
            }
            var ours = upload
            ours.person = phone
            #expect(try await ours.present().isEmpty)
        }
    }

    @Test func whatIsAnnouncedCountsFromTheBeginning() async throws {
        var limits = ServerLimits()
        limits.storageQuota = 100_000
        try await RunningServer.with(serverLimits: limits) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            try await expectRefusal(.quotaExceeded) { try await Upload(anna, zone, bytes: 100_000).begin() }
            let first = Upload(anna, zone, bytes: 60_000)
            try await first.begin()
            // Nothing of it has come, and its room is taken.
            let second = Upload(anna, zone, bytes: 60_000)
            try await expectRefusal(.quotaExceeded) { try await second.begin() }
            let whole = try await AssetTests().send(
                anna, .PUT, second.id, in: zone,
                .bytes(ByteBuffer(bytes: AssetTests.blob([UInt8](repeating: 1, count: 60_000)))))
            #expect(whole.code == .quotaExceeded)
            try await first.abandon()
            try await second.begin()
        }
    }

    @Test func whatGetsNoPartForADayIsGivenUp() async throws {
        try await AssetTests().withZone { anna, zone, server in
            let upload = Upload(anna, zone, bytes: Self.part + 100_000)
            let idle = Upload(anna, zone, bytes: 100_000)
            try await upload.begin()
            try await idle.begin()
            server.clock.advance(seconds: 80_000)
            #expect(try await upload.put(1).status == 201)
            server.clock.advance(seconds: 80_000)
            try await server.sweep(now: server.clock.now)
            #expect(try await upload.present() == [1])
            try await expectRefusal(.assetNotAvailable) { _ = try await idle.state() }
            try await waitUntil("one file is left") { try staged(server).count == 1 }
            server.clock.advance(seconds: 80_000)
            try await server.sweep(now: server.clock.now)
            #expect(try await upload.put(1).code == .assetNotAvailable)
            try await AssetTests().waitForFiles(0, server)
            let rows = try await server.services.database.read { connection in
                try connection.first("SELECT (SELECT COUNT(*) FROM asset_part) + (SELECT COUNT(*) FROM blob) AS count")
                {
                    try $0.int64("count")
                }
            }
            #expect(rows == 0)
        }
    }

    @Test func aZoneAndAnAccountTakeTheirUploadsAlong() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone("one")
            for name in ["two", "three"] {
                let upload = Upload(anna, name == "two" ? zone : try await anna.makeZone(name), bytes: 100_000)
                try await upload.begin()
                #expect(try await upload.put(0).status == 201)
            }
            #expect(try await anna.deleteZone(zone).deleted)
            try await waitUntil("its file is gone") { try staged(server).count == 1 }
            let deletion = AccountDeletionTests()
            _ = try await deletion.delete(anna.client)
            try await deletion.waitUntilErased(server)
            try await AssetTests().waitForFiles(0, server)
        }
    }

    /// In one request as well: what was altered on its way is not said to be there.
    @Test func aWholeAssetIsHeldAgainstItsHashes() async throws {
        try await AssetTests().withZone { anna, zone, server in
            let good = AssetTests.blob((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            for place in [0, 70_000, 199_000, good.count - 1] {
                var altered = good
                altered[place] ^= 1
                let id = Hex.encode(randomBytes(16))
                #expect(
                    try await AssetTests().send(anna, .PUT, id, in: zone, .bytes(ByteBuffer(bytes: altered))).code
                        == .assetFileModified)
                #expect(try await AssetTests().send(anna, .GET, id, in: zone).code == .assetNotAvailable)
            }
            for length in [1, 48, 65_584 + 48] {
                let body = ByteBuffer(repeating: 1, count: length)
                #expect(
                    try await AssetTests().send(anna, .PUT, Hex.encode(randomBytes(16)), in: zone, .bytes(body)).code
                        == .invalidArguments)
            }
            try await AssetTests().waitForFiles(0, server)
        }
    }
}
