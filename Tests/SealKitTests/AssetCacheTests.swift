import Foundation
import NIOCore
import SealEnvelope
import SealLab
import SealPrimitives
import SealSystem
import Synchronization
import Testing

@testable import SealKit

/// Files of fetched assets: opened once, handed out safely, and gone when nobody needs them.
@Suite(.timeLimit(.minutes(60))) struct AssetCacheTests {
    private let temporary: TemporaryFolder
    private var folder: URL { temporary.url }

    init() throws { temporary = try TemporaryFolder() }

    /// Counts downloads of assets.
    private final class CountingTransport: PassingTransport {
        let next: any Transport
        private let counted = Mutex(0)

        init(_ next: HTTPTransport) { self.next = next }

        var downloads: Int { counted.withLock { $0 } }

        func download(
            _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
        ) async throws(SealKitError) {
            counted.withLock { $0 += 1 }
            try await next.download(path, range: range, token: token, consume: consume)
        }
    }

    private func asset(of id: Record.ID, by person: Person) async throws -> Asset {
        try #require((try await person.own.record(for: id)["file"]) as Asset?)
    }

    private func bytes(of asset: Asset) throws -> Data { try Data(contentsOf: try #require(asset.fileURL)) }

    // MARK: With a server

    @Test func aFileIsDownloadedOnceHoweverOftenItIsFetchedAndMovedAway() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let original = folder.appendingPathComponent("original")
        try pattern(100_000).write(to: original)
        var record = ann.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: original)
        record = try await ann.own.save(record)

        let transport = CountingTransport(try HTTPTransport(server: ann.server.origin))
        let reader = try ann.onFreshDevice(transport: transport)
        let first = try await asset(of: record.recordID, by: reader)
        let downloads = transport.downloads
        #expect(downloads > 0)
        let second = try await asset(of: record.recordID, by: reader)
        #expect(first.fileURL != second.fileURL)
        // What one part of an app takes away is still there for the others, and for what is fetched from now on.
        let kept = folder.appendingPathComponent("kept")
        try FileManager.default.moveItem(at: try #require(first.fileURL), to: kept)
        #expect(try bytes(of: second) == pattern(100_000))
        let third = try await asset(of: record.recordID, by: reader)
        #expect(try bytes(of: third) == pattern(100_000))
        #expect(transport.downloads == downloads)
        // What somebody has changed is nobody else's.
        let handle = try FileHandle(forWritingTo: kept)
        try handle.write(contentsOf: Data("altered".utf8))
        try handle.close()
        // Least of all in what was fetched before, and verified.
        #expect(try bytes(of: second) == pattern(100_000))
        #expect(try bytes(of: third) == pattern(100_000))
        #expect(try bytes(of: try await asset(of: record.recordID, by: reader)) == pattern(100_000))
        #expect(transport.downloads > downloads)
    }

    @Test func theNamesDoNotGrowWithTheFetches() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let original = folder.appendingPathComponent("original")
        try pattern(1_000).write(to: original)
        var record = ann.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: original)
        record = try await ann.own.save(record)
        var names: Set<String> = []
        for _ in 0..<5 { names.insert(try #require(try await asset(of: record.recordID, by: ann).fileURL).path) }
        #expect(names.count == 1)
    }

    @Test func signingOutRemovesWhatWasFetched() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let original = folder.appendingPathComponent("original")
        try pattern(1_000).write(to: original)
        var record = ann.note(in: zone, "with a file")
        record["file"] = Asset(fileURL: original)
        record = try await ann.own.save(record)
        let accounts = AccountProvider()
        accounts.signIn(ann.account)
        let database = try Container(ann.container.containerIdentifier, accounts: accounts).privateDatabase
        let found: Asset? = try await database.record(for: record.recordID)["file"]
        let url = try #require(found?.fileURL)
        let drawer = url.deletingLastPathComponent()
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(FileStatus(path: drawer.path)?.mode == 0o700)
        #expect(FileStatus(path: TemporaryAssets.folder.path)?.mode == 0o700)
        accounts.signOut()
        #expect(!FileManager.default.fileExists(atPath: drawer.path))
    }

    // MARK: Room

    private func remote(_ name: String, size: Int) -> Asset.Remote {
        var random = SystemRandom()
        let layout = AssetLayout(size: UInt64(size))
        let sealed = SealedAsset(
            fileKey: SecretBytes(random: &random, count: 32), size: UInt64(size), salt: Digest(random: &random),
            chunkCount: layout.chunkCount, root: Digest(random: &random))
        return Asset.Remote(content: .sealed(sealed), blob: "blob", recordID: Record.ID(recordName: name), key: "file")
    }

    private func fetch(_ remote: Asset.Remote, _ cache: AssetCache, _ drawer: TemporaryAssets.Drawer) async throws -> (
        hold: AssetCache.Hold, wasFetched: Bool
    ) {
        var wasFetched = false
        let hold = try await cache.file(of: remote, in: drawer) { file throws(SealKitError) in
            wasFetched = true
            do { try pattern(Int(remote.sealed?.size ?? 0)).write(to: file) } catch {
                throw SealKitError(.internalError, "no")
            }
        }
        return (hold, wasFetched)
    }

    @Test func whatNothingRefersToGoesForItsRoomAndWhatIsInUseDoesNot() async throws {
        let cache = AssetCache(limit: 2_500, block: 1)
        let drawer = TemporaryAssets.Drawer()
        defer { drawer.close() }
        let (one, two, three) = (remote("one", size: 1_000), remote("two", size: 1_000), remote("three", size: 1_000))
        var first: AssetCache.Hold? = try await fetch(one, cache, drawer).hold
        let url = try #require(first?.url)
        _ = try await fetch(two, cache, drawer)
        #expect(try await fetch(two, cache, drawer).wasFetched == false)
        // The second one has to go.
        let third = try await fetch(three, cache, drawer).hold
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(FileManager.default.fileExists(atPath: third.url.path))
        // Both that are left are in use.
        let refused = await failure { _ = try await fetch(two, cache, drawer) }
        #expect(refused == .limitExceeded)
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(FileManager.default.fileExists(atPath: third.url.path))
        // One that could never be there removes nothing.
        let tooLarge = await failure { _ = try await fetch(remote("four", size: 2_501), cache, drawer) }
        #expect(tooLarge == .limitExceeded)
        first = nil
        #expect(try await fetch(one, cache, drawer).wasFetched == false)
    }

    @Test func eachWhoHoldsAFileHasOneOfItsOwnAndItsRoomCounts() async throws {
        let cache = AssetCache(limit: 3_500, block: 1)
        let drawer = TemporaryAssets.Drawer()
        defer { drawer.close() }
        let one = remote("one", size: 1_000)
        let first = try await fetch(one, cache, drawer).hold
        let second = try await fetch(one, cache, drawer)
        var third: AssetCache.Hold? = try await fetch(one, cache, drawer).hold
        #expect(!second.wasFetched)
        #expect(first.url != second.hold.url)
        let url = try #require(third?.url)
        let identities = try [first.url, second.hold.url, url].map { try #require(FileStatus(path: $0.path)).identity }
        #expect(Set(identities).count == 3)
        #expect(await failure { _ = try await fetch(one, cache, drawer) } == .limitExceeded)
        // One that nobody has any more is the next one's, unless somebody wrote into it.
        third = nil
        third = try await fetch(one, cache, drawer).hold
        #expect(third?.url == url)
        try Data("altered".utf8).write(to: url)
        third = nil
        third = try await fetch(one, cache, drawer).hold
        let bytes = try Data(contentsOf: try #require(third?.url))
        #expect(third?.url != url)
        #expect(bytes == pattern(1_000))
        // Room is made of what nobody has.
        third = nil
        let other = try await fetch(remote("two", size: 1_000), cache, drawer)
        #expect(other.wasFetched)
        for kept in [first.url, second.hold.url, other.hold.url] {
            #expect(FileManager.default.fileExists(atPath: kept.path))
        }
    }

    @Test func aDrawerThatNobodyHasGoesWithItsFiles() async throws {
        let cache = AssetCache(limit: 1_000_000, block: 1)
        var drawer: TemporaryAssets.Drawer? = TemporaryAssets.Drawer()
        var hold: AssetCache.Hold? = try await fetch(remote("one", size: 1_000), cache, try #require(drawer)).hold
        let folder = try #require(hold?.url.deletingLastPathComponent().path)
        drawer = nil
        // As long as an asset is in memory.
        #expect(FileManager.default.fileExists(atPath: folder))
        hold = nil
        #expect(!FileManager.default.fileExists(atPath: folder))
        withExtendedLifetime(cache) {}
    }

    @Test func whatWasUsedLongestAgoGoesFirst() async throws {
        let cache = AssetCache(limit: 3_100, block: 1)
        let drawer = TemporaryAssets.Drawer()
        defer { drawer.close() }
        let remotes = Dictionary(
            uniqueKeysWithValues: ["one", "two", "three", "four"].map { ($0, remote($0, size: 1_000)) })
        func wasFetched(_ name: String) async throws -> Bool {
            try await fetch(try #require(remotes[name]), cache, drawer).wasFetched
        }
        for name in ["one", "two", "three"] { #expect(try await wasFetched(name)) }
        #expect(try await wasFetched("one") == false)
        #expect(try await wasFetched("four"))
        #expect(try await wasFetched("one") == false)
        #expect(try await wasFetched("three") == false)
        #expect(try await wasFetched("two"), "it was used longest ago")
    }

    /// A disk that is full is told by its name wherever a file of an asset is written, and by whatever says so.
    @Test func aFullDiskIsToldByItsName() throws {
        for reason in [ENOSPC, EDQUOT] {
            #expect(SealKitError.unwritten("a file", reason, remedy: "").code == .storageFull)
            let error = NSError(domain: NSPOSIXErrorDomain, code: Int(reason))
            #expect(error.systemReason == reason)
            let foundations = NSError(
                domain: NSCocoaErrorDomain, code: 640, userInfo: [NSUnderlyingErrorKey: error])
            #expect(foundations.systemReason == reason)
        }
        let other = SealKitError.unwritten("a file", EACCES, remedy: "choose another place")
        #expect(other.code == .internalError)
        #expect(other.remedy == "choose another place")
        #expect(NSError(domain: NSCocoaErrorDomain, code: 640).systemReason == 0)
        #expect(SealKitError(.internalError, "x").systemReason == 0)
    }

    /// Whoever may write can fill a record's fields with files of no bytes.
    @Test func emptyFilesTakeRoomToo() async throws {
        let cache = AssetCache(limit: 65_536, block: 4_096)
        let drawer = TemporaryAssets.Drawer()
        defer { drawer.close() }
        var folder: URL?
        for number in 0..<500 {
            folder = try await fetch(remote("\(number)", size: 0), cache, drawer).hold.url.deletingLastPathComponent()
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: try #require(folder).path).count
        // Each has a name for whoever asks next.
        #expect(left <= 2 * 16)
    }

    @Test func aFailedDownloadTakesNoRoom() async throws {
        let cache = AssetCache(limit: 1_000, block: 1)
        let drawer = TemporaryAssets.Drawer()
        defer { drawer.close() }
        for _ in 0..<3 {
            let failed = await failure {
                _ = try await cache.file(of: remote("x", size: 1_000), in: drawer) { _ throws(SealKitError) in
                    throw SealKitError(.networkFailure, "no network")
                }
            }
            #expect(failed == .networkFailure)
        }
        #expect(try await fetch(remote("y", size: 1_000), cache, drawer).wasFetched)
    }

    @Test func manyWhoWantOneFileFetchItOnce() async throws {
        let cache = AssetCache(limit: 1_000_000, block: 1)
        let drawer = TemporaryAssets.Drawer()
        defer { drawer.close() }
        let wanted = remote("one", size: 1_000)
        let fetches = LockedValue(0)
        let (isGoing, go) = AsyncStream<Void>.makeStream()
        let urls = try await withThrowingTaskGroup(of: URL.self) { group in
            for index in 0..<8 {
                group.addTask {
                    if index == 7 { go.finish() }
                    return try await cache.file(of: wanted, in: drawer) { file throws(SealKitError) in
                        fetches.change { $0 += 1 }
                        for await _ in isGoing {}
                        do { try Data(repeating: 1, count: 1_000).write(to: file) } catch {
                            throw SealKitError(.internalError, "no")
                        }
                    }.url
                }
            }
            var urls: [URL] = []
            for try await url in group { urls.append(url) }
            return urls
        }
        #expect(urls.count == 8)
        #expect(fetches.value == 1)
    }

    @Test func nothingIsHandedOutOfADrawerThatWasClosedMeanwhile() async throws {
        let cache = AssetCache(limit: 1_000_000, block: 1)
        let drawer = TemporaryAssets.Drawer()
        let code = await failure {
            _ = try await cache.file(of: remote("one", size: 10), in: drawer) { file throws(SealKitError) in
                do { try Data(repeating: 1, count: 10).write(to: file) } catch {
                    throw SealKitError(.internalError, "no")
                }
                drawer.close()
            }
        }
        #expect(code == .notAuthenticated)
    }

    // MARK: What others have left

    @Test func foldersOfProcessesThatHaveGoneAreRemovedAndThoseOfOthersStay() throws {
        let living = try #require(ProcessFolder(in: folder))
        #expect(FileStatus(path: living.url.path)?.mode == 0o700)
        try Data("theirs".utf8).write(to: living.url.appendingPathComponent("file"))
        // Killed: its lock went with it.
        let dead = folder.appendingPathComponent("sealkit-assets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: dead.appendingPathComponent("drawer"), withIntermediateDirectories: true)
        try Data("left".utf8).write(to: dead.appendingPathComponent("drawer/file"))
        let outside = folder.appendingPathComponent("outside")
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        try Data("ours".utf8).write(to: outside.appendingPathComponent("file"))
        let link = folder.appendingPathComponent("sealkit-assets-link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
        try FileManager.default.createSymbolicLink(at: dead.appendingPathComponent("link"), withDestinationURL: outside)
        // Somebody is on the way to a folder of its own.
        let starting = folder.appendingPathComponent("sealkit-starting-abcdef")
        try FileManager.default.createDirectory(at: starting, withIntermediateDirectories: true)

        ProcessFolder.removeAbandoned(in: folder)
        #expect(!FileManager.default.fileExists(atPath: dead.path))
        #expect(FileManager.default.fileExists(atPath: living.url.appendingPathComponent("file").path))
        #expect(FileManager.default.fileExists(atPath: outside.appendingPathComponent("file").path))
        #expect(FileManager.default.fileExists(atPath: starting.path))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: starting.path)
        ProcessFolder.removeAbandoned(in: folder)
        #expect(!FileManager.default.fileExists(atPath: starting.path))
    }
}
