import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import SealServer
@testable import SealStorage

/// An S3 store that is away, slow, full, of others, or lies: what is told of it, and that nothing half-written stays.
@Suite(.timeLimit(.minutes(60))) struct S3FaultTests {
    private static let content = placedBytes(1_500_000)
    private static let long = placedBytes((8 << 20) + 100_000)
    private static let id = BlobID.random()
    private static var key: String { S3BlobStore.key(id) }

    private func with(
        _ settings: (inout S3Client.Settings) -> Void = { _ in },
        _ body: (_ store: S3BlobStore, _ scripted: ScriptedStore) async throws -> Void
    ) async throws {
        let scripted = try await ScriptedStore()
        let store = try await S3BlobStore.open(try TestedStore.client(scripted.url, settings), owner: "1")
        try await whatever(becomesOf: { try await body(store, scripted) }) {
            await store.close()
            await scripted.stop()
        }
    }

    /// Whether it is an error of that kind, which says a text.
    private func expect(
        _ kind: String, _ text: String = "", at location: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: BlobStoreError.self, sourceLocation: location) { try await body() }
        let found =
            switch error {
            case .unavailable(let what): ("unavailable", what)
            case .refused(let what): ("refused", what)
            case .untrue(let what): ("untrue", what)
            case .full: ("full", "")
            case .incomplete: ("incomplete", "")
            case .notFound: ("not found", "")
            case .alreadyExists: ("already there", "")
            case .notOurs: ("not ours", "")
            default: ("\(String(describing: error))", "")
            }
        #expect(found.0 == kind && (text.isEmpty || found.1.contains(text)), "\(found)", sourceLocation: location)
    }

    // MARK: Away, slow, full

    @Test func aStoreThatIsAwayIsToldAtOnce() async throws {
        await expect("unavailable") {
            _ = try await S3BlobStore.open(
                try TestedStore.client("s3://away?endpoint=http://127.0.0.1:1"), owner: "1")
        }
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            _ = try await store.store(Self.content, as: Self.id)
            await scripted.stop()
            await expect("unavailable") { _ = try await store.size(of: Self.id) }
            await expect("unavailable") { _ = try await store.bytes(of: Self.id) }
            await expect("unavailable") { _ = try await store.store(Self.content, as: .random()) }
            await expect("unavailable") { try await store.delete(Self.id) }
            await expect("unavailable") { _ = try await store.staleUploads(olderThan: .zero) }
        }
    }

    @Test func aStoreThatIsSlowIsWaitedForOnlySoLong() async throws {
        try await with({ $0.idle = .milliseconds(150) }) { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            var slow = ScriptedStore.Answer(200, ["content-length": "3"])
            slow.delay = .milliseconds(600)
            scripted.answer("HEAD", with: slow)
            await expect("unavailable") { _ = try await store.size(of: Self.id) }
            #expect(scripted.calls.count == 5)
            scripted.answer("HEAD", 2, with: slow)
            await expect("not found") { _ = try await store.size(of: Self.id) }
        }
    }

    @Test(arguments: [
        (507, "", "full"), (500, "XMinioStorageFull", "full"), (403, "QuotaExceeded", "full"),
        (503, "SlowDown", "unavailable"), (500, "InternalError", "unavailable"), (429, "", "unavailable"),
        (403, "SignatureDoesNotMatch", "refused"), (403, "AccessDenied", "refused"), (403, "", "refused"),
        (403, "InvalidAccessKeyId", "refused"), (403, "RequestTimeTooSkewed", "refused"),
        (404, "NoSuchBucket", "refused"), (301, "PermanentRedirect", "refused"), (307, "", "refused"),
        (400, "AuthorizationHeaderMalformed", "refused"), (418, "", "refused"),
    ])
    func whatAStoreSaysIsTold(_ status: Int, _ code: String, _ kind: String) async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            for (call, content) in [("PUT", Self.content), ("PUT part", Self.long), ("POST uploads", Self.long)] {
                var answer = ScriptedStore.Answer.error(status, code)
                answer.headers = ["location": scripted.url.replacing("s3://", with: "http://")]
                scripted.answer(call, with: answer)
                await expect(kind, kind == "full" ? "" : code) { _ = try await store.store(content, as: Self.id) }
                #expect(scripted.keys == [] && scripted.uploadCount == 0, "\(call)")
                let isTriedAgain = kind == "unavailable" || code == "XMinioStorageFull" || status == 507
                if !isTriedAgain { #expect(scripted.count(call) <= 2) }
            }
            scripted.set(Self.key, Self.content)
            scripted.answer("GET", with: .error(status, code))
            await expect(kind, kind == "full" ? "" : code) { _ = try await store.bytes(of: Self.id) }
        }
    }

    @Test func whatAnOperatorCanDoIsSaid() async throws {
        for (status, code, remedy) in [
            (403, "RequestTimeTooSkewed", "clock"), (404, "NoSuchBucket", "no such bucket"),
            (403, "SignatureDoesNotMatch", "secret key"), (403, "ExpiredToken", "--s3-credentials"),
            (301, "PermanentRedirect", "region="), (403, "", "access key"), (404, "", "no S3 store"),
        ] {
            let error = BlobStoreError(S3Failure(status: status, code: code))
            #expect("\(error)".contains(remedy))
        }
        // Nothing that a store makes up gets into a log.
        #expect("\(BlobStoreError(S3Failure(status: 418, code: "a\nb")))".contains("418"))
        #expect(!"\(BlobStoreError(S3Failure(status: 418, code: "a\nb")))".contains("\n"))
    }

    @Test func whatPassesIsTriedAgain() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            for answer in [ScriptedStore.Answer.error(503, "SlowDown"), .error(500, ""), nil] {
                for call in ["POST uploads", "PUT part", "POST upload", "HEAD"] {
                    let id = BlobID.random()
                    scripted.answer(call, 2, with: answer)
                    #expect(try await store.store(Self.long, as: id) == Int64(Self.long.count))
                    scripted.answer("GET", 2, with: answer)
                    #expect(try await store.bytes(of: id) == Self.long)
                }
                let id = BlobID.random()
                scripted.answer("PUT", 2, with: answer)
                #expect(try await store.store(Self.content, as: id) == Int64(Self.content.count))
            }
            #expect(scripted.uploadCount == 0)
        }
    }

    /// The store did it, and nobody heard: it is not done twice, and not taken for somebody else's.
    @Test func anAnswerThatIsLostIsLookedFor() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            for (call, content) in [("PUT", Self.content), ("POST upload", Self.long), ("PUT part", Self.long)] {
                let id = BlobID.random()
                scripted.answer(call, 1, doing: true, with: nil)
                #expect(try await store.store(content, as: id) == Int64(content.count))
                scripted.play { $1() }
                #expect(try await store.bytes(of: id) == content)
                await expect("already there") { _ = try await store.store(content, as: id) }
            }
            #expect(scripted.uploadCount == 0)
        }
    }

    @Test func othersCredentialsAreTaken() async throws {
        let scripted = try await ScriptedStore()
        let name = Mutex("old")
        var settings = S3Client.Settings()
        settings.pauses = [.milliseconds(1)]
        let client = try S3Client(S3Place(scripted.url), settings: settings) {
            let accessKey = name.withLock { $0 }
            return try #require(S3Credentials(accessKey: accessKey, secretKey: "secret", sessionToken: "token"))
        }
        let store = try await S3BlobStore.open(client, owner: "1")
        scripted.play { call, truly in
            guard call.headers["authorization"].first?.contains("Credential=new/") == true else {
                return .error(403, "ExpiredToken")
            }
            return truly()
        }
        await expect("refused", "ExpiredToken") { _ = try await store.store(Self.content, as: Self.id) }
        name.withLock { $0 = "new" }
        #expect(try await store.store(Self.content, as: Self.id) == Int64(Self.content.count))
        #expect(scripted.calls.allSatisfy { $0.headers["x-amz-security-token"] == ["token"] })
        await store.close()
        await scripted.stop()
    }

    // MARK: Downloads

    @Test func aConnectionThatEndsIsGoneOnWith() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            scripted.set(Self.key, Self.content)
            let count = Mutex(0)
            scripted.play { call, truly in
                guard call.name == "GET" else { return truly() }
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                return number < 4 ? truly().cut(after: 300_000) : truly()
            }
            #expect(try await store.bytes(of: Self.id) == Self.content)
            let ranges = scripted.calls.compactMap { $0.headers["range"].first }
            let goesOn = ranges.allSatisfy { $0.hasSuffix("-1499999") && !$0.hasPrefix("bytes=0-") }
            #expect(ranges.count >= 3 && goesOn)
            scripted.answer("GET", with: ScriptedStore.Answer(200, ["content-length": "1500000"], [1]).cut(after: 1))
            await expect("untrue") { _ = try await store.bytes(of: Self.id) }
            scripted.play { call, truly in call.name == "GET" ? truly().cut(after: 0) : truly() }
            await expect("unavailable") { _ = try await store.bytes(of: Self.id) }
        }
    }

    /// Whatever bytes come, they are those of the range, or none.
    @Test func aStoreThatLiesAboutRangesIsNotBelieved() async throws {
        typealias Answer = ScriptedStore.Answer
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            scripted.set(Self.key, Self.content)
            let some = Array(repeating: UInt8(1), count: 100)
            for (lie, answer) in [
                ("the whole", Answer(200, [:], some)),
                ("no range", Answer(206, [:], some)),
                ("a shifted range", Answer(206, ["content-range": "bytes 101-200/1500000"], some)),
                ("an earlier range", Answer(206, ["content-range": "bytes 0-99/1500000"], some)),
                ("a shorter range", Answer(206, ["content-range": "bytes 100-198/1500000"], Array(some.dropLast()))),
                ("a longer range", Answer(206, ["content-range": "bytes 100-200/1500000"], some + [1])),
                ("another length", Answer(206, ["content-range": "bytes 100-199/1500000"], some + [1])),
                ("a size within", Answer(206, ["content-range": "bytes 100-199/150"], some)),
                ("no size", Answer(206, ["content-range": "bytes 100-199/*"], some)),
                ("no number", Answer(206, ["content-range": "bytes x-199/1500000"], some)),
                ("too large a number", Answer(206, ["content-range": "bytes 100-199/99999999999999999999"], some)),
                ("nothing there", Answer.error(416, "InvalidRange")),
            ] {
                scripted.answer("GET", with: answer)
                await expect("untrue") { _ = try await store.bytes(of: Self.id, 100..<200) }
                #expect(scripted.count("GET") == 1, "\(lie)")
            }
            // Where it goes on, another length than before.
            let count = Mutex(0)
            scripted.play { call, truly in
                guard call.name == "GET" else { return truly() }
                let isFirst = count.withLock {
                    $0 += 1
                    return $0 == 1
                }
                guard !isFirst else { return truly().cut(after: 1_000) }
                return Answer(
                    206, ["content-range": "bytes 1000-1499999/1500001"], Array(Self.content.dropFirst(1_000)))
            }
            await expect("untrue") { _ = try await store.bytes(of: Self.id) }
        }
    }

    // MARK: Uploads

    @Test func aCompletionThatIsNoneIsNotBelieved() async throws {
        typealias Answer = ScriptedStore.Answer
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            let error = Answer(200, [:], Array("<Error><Code>InternalError</Code></Error>".utf8))
            // First as if it were done, then it is.
            scripted.answer("POST upload", 1, with: error)
            #expect(try await store.store(Self.long, as: Self.id) == Int64(Self.long.count))
            #expect(try await store.bytes(of: Self.id) == Self.long)
            // It said an error, and had done it.
            let second = BlobID.random()
            scripted.answer("POST upload", 1, doing: true, with: error)
            #expect(try await store.store(Self.long, as: second) == Int64(Self.long.count))
            let keys = scripted.keys
            for (answer, kind) in [
                (error, "unavailable"), (Answer(200, [:], Array("<html></html>".utf8)), "untrue"),
                (Answer(200, [:], Array("done".utf8)), "untrue"), (Answer(200), "untrue"),
                (Answer(200, [:], Array("<CompleteMultipartUploadResult/>".utf8)), "untrue"),
            ] {
                scripted.answer("POST upload", with: answer)
                await expect(kind) { _ = try await store.store(Self.long, as: .random()) }
                #expect(scripted.keys == keys && scripted.uploadCount == 0)
            }
        }
    }

    @Test func partsThatAreLostAreMissed() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            let (id, part) = (BlobID.random(), placedBytes(8_390_656))
            try await store.beginParts(id)
            try await store.write(ByteBuffer(bytes: part), to: id, at: 0)
            try await store.write(ByteBuffer(bytes: part), to: id, at: Int64(part.count))
            scripted.losePart(2)
            await expect("incomplete") {
                try await store.finishParts(id, tail: ByteBuffer(bytes: [1]), size: Int64(2 * part.count + 1))
            }
            #expect(scripted.keys == [])
            try await store.write(ByteBuffer(bytes: part), to: id, at: Int64(part.count))
            try await store.finishParts(id, tail: ByteBuffer(bytes: [1]), size: Int64(2 * part.count + 1))
            #expect(try await store.bytes(of: id) == part + part + [1])
        }
    }

    @Test func whatIsNoListIsNotBelieved() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            for body in [
                "", "<ListBucketResult>", "<Other/>",
                "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
                "<ListBucketResult><Contents><Key>sealkit</Key></Contents></ListBucketResult>",
            ] {
                scripted.answer("GET list", with: ScriptedStore.Answer(200, [:], Array(body.utf8)))
                await expect("untrue") { _ = try await store.blobs(after: nil) }
                scripted.answer("GET list", with: ScriptedStore.Answer(200, [:], Array(body.utf8)))
                await expect("untrue") { _ = try await store.staleUploads(olderThan: .zero) }
            }
            let endless =
                "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>"
                + "</ListMultipartUploadsResult>"
            scripted.answer("GET uploads", with: ScriptedStore.Answer(200, [:], Array(endless.utf8)))
            await expect("untrue") { _ = try await store.staleUploads(olderThan: .zero) }
            // Out of order, again from the beginning, and at a time that no clock shows.
            let names = [String(repeating: "c", count: 32), String(repeating: "a", count: 32)]
            func listed(_ name: String, _ time: String) -> String {
                let key = BlobID(name).map(S3BlobStore.key) ?? ""
                return "<Contents><Key>\(key)</Key><LastModified>\(time)</LastModified></Contents>"
            }
            let day = "2026-11-01T00:00:00Z"
            for (objects, after) in [
                (names.map { listed($0, day) }, nil), ([listed(names[1], day)], BlobID(names[1])),
                ([listed(names[1], "300000-01-01T00:00:00Z")], nil),
            ] {
                let body = "<ListBucketResult>\(objects.joined())</ListBucketResult>"
                scripted.answer("GET list", with: ScriptedStore.Answer(200, [:], Array(body.utf8)))
                await expect("untrue") { _ = try await store.blobs(after: after) }
            }
            let list =
                "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>"
                + "</ListBucketResult>"
            scripted.answer("GET list", with: ScriptedStore.Answer(200, [:], Array(list.utf8)))
            await expect("untrue") { _ = try await store.blobs(after: nil) }
        }
    }

    @Test func aListThatLeadsRoundIsNotFollowed() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            let count = Mutex(0)
            // In turns of two pages, or on for ever without an entry.
            for period in [2, Int.max] {
                scripted.play { call, truly in
                    let lists = [
                        "GET list": ("ListBucketResult", "NextContinuationToken"),
                        "GET uploads": ("ListMultipartUploadsResult", "NextKeyMarker"),
                        "GET upload": ("ListPartsResult", "NextPartNumberMarker"),
                    ]
                    guard let (name, marker) = lists[call.name] else { return truly() }
                    let number = count.withLock { count in
                        count += 1
                        return count % period
                    }
                    let body =
                        "<\(name)><IsTruncated>true</IsTruncated><\(marker)>\(number + 1)</\(marker)></\(name)>"
                    return ScriptedStore.Answer(200, [:], Array(body.utf8))
                }
                await expect("untrue") { _ = try await store.blobs(after: nil) }
                guard period == 2 else { continue }
                await expect("untrue") { _ = try await store.staleUploads(olderThan: .zero) }
                let others: [@Sendable () async throws -> Void] = [
                    { _ = try await store.objects(below: "staged/") },
                    { _ = try await store.parts(of: "upload", Self.id) },
                ]
                for other in others {
                    var mayPass: Bool?
                    do { try await other() } catch let failure as S3Failure { mayPass = failure.mayPass }
                    #expect(mayPass == false)
                }
            }
        }
    }

    /// What something between answers is not what the store says.
    @Test func aPageOfSomeProxyIsNoMissingBlob() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            scripted.set(Self.key, Self.content)
            scripted.answer("HEAD", with: ScriptedStore.Answer(404, [:], []))
            await expect("untrue") { _ = try await store.size(of: Self.id) }
            for call in ["GET", "DELETE"] {
                scripted.answer(call, with: ScriptedStore.Answer(404, [:], Array("<html></html>".utf8)))
                await expect("refused", "no S3 store") {
                    if call == "GET" { _ = try await store.bytes(of: Self.id) } else { try await store.delete(Self.id) }
                }
            }
            let id = BlobID.random()
            try await store.beginParts(id)
            scripted.answer("PUT part", with: ScriptedStore.Answer(404, [:], Array("<html></html>".utf8)))
            await expect("refused") { try await store.write(ByteBuffer(bytes: Self.long), to: id, at: 0) }
        }
    }

    /// Two servers sent it at once, as clients do who try again.
    @Test func aPartThatIsListedTwiceIsOne() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            let id = BlobID.random()
            try await store.beginParts(id)
            try await store.write(ByteBuffer(bytes: Self.long), to: id, at: 0)
            scripted.play { call, truly in
                guard call.name == "GET upload" else { return truly() }
                var answer = truly()
                let text = String(decoding: answer.body, as: UTF8.self)
                let older = text.replacing(/<LastModified>[^<]*</, with: "<LastModified>2020-01-01T00:00:00Z<")
                    .replacing(/<ETag>[^<]*</, with: "<ETag>&quot;other&quot;<")
                guard let first = older.firstMatch(of: /<Part>.*<\/Part>/) else { return answer }
                let both = text.replacing("<Part>", with: first.0 + "<Part>", maxReplacements: 1)
                    .replacing("</ListPartsResult>", with: first.0 + "</ListPartsResult>")
                answer.body = Array(both.utf8)
                return answer
            }
            try await store.finishParts(id, tail: ByteBuffer(), size: Int64(Self.long.count))
            #expect(scripted.bytes(of: S3BlobStore.key(id)) == Self.long)
        }
    }

    @Test func partsLargerThanAnyAreNotBelieved() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            let id = BlobID.random()
            try await store.beginParts(id)
            let part = { (number: Int) in
                "<Part><PartNumber>\(number)</PartNumber><ETag>a</ETag><Size>9223372036854775807</Size></Part>"
            }
            let body = "<ListPartsResult>\(part(1))\(part(2))</ListPartsResult>"
            scripted.answer("GET upload", with: ScriptedStore.Answer(200, [:], Array(body.utf8)))
            await expect("untrue") { try await store.finishParts(id, tail: ByteBuffer(), size: 1) }
        }
    }

    // MARK: Names that are given once

    @Test func aStoreThatForgetsNamesIsAskedFirst() async throws {
        for refusal in [nil, ScriptedStore.Answer.error(501, "NotImplemented")] {
            let scripted = try await ScriptedStore()
            scripted.forgetNames()
            scripted.play { call, truly in
                guard let refusal, !call.headers["if-none-match"].isEmpty else { return truly() }
                return refusal
            }
            let store = try await S3BlobStore.open(try TestedStore.client(scripted.url), owner: "1")
            #expect(!store.keepsNames)
            for content in [Self.content, Self.long] {
                let id = BlobID.random()
                _ = try await store.store(content, as: id)
                await #expect(throws: BlobStoreError.alreadyExists(id)) { try await store.store([1], as: id) }
                #expect(try await store.bytes(of: id) == content)
            }
            await store.close()
            await scripted.stop()
        }
    }

    @Test func aPlaceIsOneOwners() async throws {
        let scripted = try await ScriptedStore()
        let open: (String, Bool) async throws -> Void = { owner, mayBegin in
            let store = try await S3BlobStore.open(
                try TestedStore.client(scripted.url), owner: owner, mayBegin: { _ in mayBegin })
            #expect(store.keepsNames)
            _ = try await store.holdForDeleting()
            await store.close()
        }
        await expect("not ours") { try await open("1", false) }
        #expect(scripted.keys == [])
        try await open("1", true)
        try await open("1", false)
        await expect("not ours") { try await open("2", true) }
        // Two that begin at once: the store has the other one's mark in the end.
        scripted.remove("sealkit")
        scripted.play { call, truly in
            guard call.name == "PUT" else { return truly() }
            scripted.set("sealkit", Array("2\n".utf8))
            return ScriptedStore.Answer(200)
        }
        await expect("not ours") { try await open("1", true) }
        await scripted.stop()
    }

    /// Somebody has taken its mark away, or put another one there, while a server has it.
    @Test func aPlaceThatIsAnothersByNowLosesNothing() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            #expect(try await store.holdForDeleting() != nil)
            scripted.remove(S3Mark.key)
            await expect("not ours") { _ = try await store.holdForDeleting() }
            scripted.set(S3Mark.key, Array("2\n".utf8))
            await expect("not ours") { _ = try await store.holdForDeleting() }
        }
    }

    /// What is there can be read, and given up, while nothing new has room.
    @Test func aStoreThatIsFullLetsAServerStart() async throws {
        try await with { (store: S3BlobStore, scripted: ScriptedStore) async throws in
            _ = try await store.store(Self.content, as: Self.id)
            scripted.answer("PUT", with: .error(507, ""))
            let again = try await S3BlobStore.open(try TestedStore.client(scripted.url), owner: "1")
            #expect(try await again.size(of: Self.id) == Int64(Self.content.count))
            await again.close()
        }
    }
}
