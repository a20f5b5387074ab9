import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealSystem
import Synchronization

/// The files of assets that came with records. Each content is downloaded and opened once, and handed out under names
/// of its own: an app that moves one away, or writes into it, takes and changes nothing of the next fetch, nor of what
/// it has fetched before.
final class AssetCache: Sendable {
    static let shared = AssetCache(limit: 1 << 30, block: 4_096)

    /// What identifies an asset's bytes, as they were signed for, and whose device has opened them. Bytes belong to one
    /// field: who names another record's in a field of its own has no key that opens them, and is not answered from
    /// here.
    fileprivate struct Key: Hashable {
        let drawer: UInt64
        let recordID: Record.ID
        let field: String
        let root: Digest
        /// None where the bytes are public.
        let salt: Digest?
        let size: UInt64

        init(_ remote: Asset.Remote, _ drawer: TemporaryAssets.Drawer) {
            self.drawer = drawer.number
            (recordID, field) = (remote.recordID, remote.key)
            switch remote.content {
            case .sealed(let asset): (root, salt, size) = (asset.root, asset.salt, asset.size)
            case .plain(let asset): (root, salt, size) = (asset.root, nil, asset.size)
            }
        }
    }

    private struct Entry {
        /// Never handed out. One handed-out name at most is a second one of this very file, the others are copies:
        /// whoever writes into that one changes this, and nobody else's.
        let file: URL
        /// As it was written.
        let status: FileStatus
        var names: [URL: Name] = [:]
        var lastUse: UInt64 = 0

        var isWhole: Bool { status.isStill(at: file) }
        var isInUse: Bool { names.values.contains(where: \.isInUse) }
        var copies: Int { names.values.count(where: \.isCopy) }
    }

    private struct Name {
        /// nil while it is being made.
        var status: FileStatus?
        let isCopy: Bool
        /// An asset in memory refers to it; else it is there for the next fetch.
        var isInUse = true
    }

    private struct Content {
        var entries: [Key: Entry] = [:]
        /// Of those that are there, or on their way, and of their copies.
        var bytes: Int64 = 0
        var uses: UInt64 = 0
        var limit: Int64
        /// Who waits for what somebody else is fetching.
        var onTheirWay: [Key: [AsyncStream<Void>.Continuation]] = [:]
    }

    private let content: Mutex<Content>
    private let block: Int64

    /// - Parameter block: in what a file takes room, one at least: empty ones fill a disk too.
    init(limit: Int64, block: Int64) {
        content = Mutex(Content(limit: limit))
        self.block = block
    }

    private func room(_ key: Key) -> Int64 {
        let size = Int64(clamping: key.size)
        return size > .max - block ? size : max(1, (size + block - 1) / block) * block
    }

    var limit: Int64 {
        get { content.withLock(\.limit) }
        set { content.withLock { $0.limit = newValue } }
    }

    /// Keeps a file where it is, as long as an asset refers to it.
    final class Hold: Sendable {
        let url: URL
        private let key: Key
        private let cache: AssetCache
        /// Its folder goes with it.
        private let drawer: TemporaryAssets.Drawer

        fileprivate init(_ url: URL, _ key: Key, _ cache: AssetCache, _ drawer: TemporaryAssets.Drawer) {
            (self.url, self.key, self.cache, self.drawer) = (url, key, cache, drawer)
        }

        deinit { cache.release(url, key) }
    }

    private enum Step {
        case there(URL)
        /// Another one has the file itself.
        case copy(of: URL, to: URL)
        case wait(AsyncStream<Void>)
        case fetch
        case full(Int64)
    }

    /// The file of an asset, fetched where it is not there yet.
    /// - Parameter fetch: downloads it to a file.
    /// - Throws: `limitExceeded` where there is no room for it; `storageFull`; `notAuthenticated` where the account has
    ///   signed out meanwhile; what `fetch` throws.
    func file(
        of remote: Asset.Remote, in drawer: TemporaryAssets.Drawer, fetch: (URL) async throws(SealKitError) -> Void
    ) async throws(SealKitError) -> Hold {
        let key = Key(remote, drawer)
        while true {
            switch content.withLock({ step(key, &$0) }) {
            case .there(let url): return Hold(url, key, self, drawer)
            case .copy(let file, let url):
                // Released with this where it comes to nothing.
                let hold = Hold(url, key, self, drawer)
                var failure: (any Error)?
                do { try FileManager.default.copyItem(at: file, to: url) } catch { failure = error }
                switch content.withLock({ settle(url, isMade: failure == nil, key, &$0) }) {
                case .good: return hold
                case .overtaken: if drawer.isClosed { throw .signedOut }
                case .failed: throw .unwritable(url, failure?.systemReason ?? 0)
                }
            case .wait(let end):
                for await _ in end {}
                if Task.isCancelled { throw .cancelled }
            case .full(let limit):
                throw SealKitError(
                    .limitExceeded,
                    "an asset of record \(remote.recordID.recordName) has no room beside those in use: all have \(limit) bytes",
                    remedy: "fetch records with fetchingAssets(.onDemand), and download(_:of:to:) what you want")
            case .fetch:
                let file = drawer.newFile()
                do { try await fetch(file) } catch {
                    content.withLock { end(key, in: &$0, isThere: false) }
                    throw error
                }
                return Hold(try keep(file, key, drawer), key, self, drawer)
            }
        }
    }

    /// What is to be done for one who wants a file.
    private func step(_ key: Key, _ content: inout Content) -> Step {
        let size = room(key)
        if let entry = content.entries[key] {
            if entry.isWhole {
                if let name = freeName(key, &content) ?? secondName(key, &content) { return .there(name) }
                makeRoom(for: size, keeping: key, &content)
                guard size <= content.limit - content.bytes else { return .full(content.limit) }
                content.bytes += size
                let url = newName(beside: entry.file)
                content.entries[key]?.names[url] = Name(isCopy: true)
                touch(key, &content)
                return .copy(of: entry.file, to: url)
            }
            drop(key, &content)
        }
        if content.onTheirWay[key] != nil {
            let (end, continuation) = AsyncStream<Void>.makeStream()
            content.onTheirWay[key]?.append(continuation)
            return .wait(end)
        }
        makeRoom(for: size, &content)
        guard size <= content.limit - content.bytes else { return .full(content.limit) }
        content.bytes += size
        content.onTheirWay[key] = []
        return .fetch
    }

    private func keep(_ file: URL, _ key: Key, _ drawer: TemporaryAssets.Drawer) throws(SealKitError) -> URL {
        let name: URL? = content.withLock { content in
            guard !drawer.isClosed, let status = FileStatus(path: file.path) else {
                end(key, in: &content, isThere: false)
                return nil
            }
            content.entries[key] = Entry(file: file, status: status)
            let name = secondName(key, &content)
            if name == nil {
                content.entries[key] = nil
                unlink(file.path)
            }
            end(key, in: &content, isThere: name != nil)
            return name
        }
        if let name { return name }
        throw drawer.isClosed ? .signedOut : .unwritable(file, 0)
    }

    private func end(_ key: Key, in content: inout Content, isThere: Bool) {
        if !isThere { content.bytes -= room(key) }
        for waiting in content.onTheirWay.removeValue(forKey: key) ?? [] { waiting.finish() }
    }

    // MARK: Names

    private func newName(beside file: URL) -> URL {
        file.deletingLastPathComponent().appendingPathComponent(UUID().uuidString)
    }

    private func touch(_ key: Key, _ content: inout Content) {
        content.uses += 1
        content.entries[key]?.lastUse = content.uses
    }

    /// One that nobody uses any more. What was moved away or written into is the app's.
    private func freeName(_ key: Key, _ content: inout Content) -> URL? {
        for (url, name) in content.entries[key]?.names ?? [:] where !name.isInUse {
            guard name.status?.isStill(at: url) == true else {
                forget(url, of: key, &content)
                continue
            }
            content.entries[key]?.names[url]?.isInUse = true
            touch(key, &content)
            return url
        }
        return nil
    }

    /// One of the file itself; nil where another one has that, wherever it was moved to, or none can be made.
    private func secondName(_ key: Key, _ content: inout Content) -> URL? {
        guard let entry = content.entries[key], FileStatus(path: entry.file.path)?.links == 1 else { return nil }
        let url = newName(beside: entry.file)
        guard link(entry.file.path, url.path) == 0 else { return nil }
        content.entries[key]?.names[url] = Name(status: entry.status, isCopy: false)
        touch(key, &content)
        return url
    }

    private enum Outcome {
        case good
        /// The file was changed or removed while it was copied.
        case overtaken
        case failed
    }

    private func settle(_ url: URL, isMade: Bool, _ key: Key, _ content: inout Content) -> Outcome {
        guard let entry = content.entries[key], entry.names[url] != nil, entry.isWhole else {
            unlink(url.path)
            return .overtaken
        }
        guard isMade, let status = FileStatus(path: url.path), status.size == entry.status.size else {
            unlink(url.path)
            return .failed
        }
        content.entries[key]?.names[url]?.status = status
        return .good
    }

    private func release(_ url: URL, _ key: Key) {
        content.withLock { content in
            guard let name = content.entries[key]?.names[url] else { return }
            if name.status == nil {
                forget(url, of: key, &content)
            } else {
                content.entries[key]?.names[url]?.isInUse = false
            }
        }
    }

    private func forget(_ url: URL, of key: Key, _ content: inout Content) {
        if content.entries[key]?.names.removeValue(forKey: url)?.isCopy == true {
            content.bytes -= room(key)
        }
    }

    // MARK: Room

    /// Removes what nothing refers to, from the longest unused on, and a little more than is needed: looking through
    /// all of them is for many fetches.
    private func makeRoom(for size: Int64, keeping kept: Key? = nil, _ content: inout Content) {
        guard size <= content.limit, content.bytes > content.limit - size else { return }
        let rest = max(0, content.limit - size - content.limit / 64)
        for (key, entry) in content.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse })
        where content.bytes > rest {
            for (url, name) in entry.names where !name.isInUse {
                if name.status?.identity == FileStatus(path: url.path)?.identity { unlink(url.path) }
                forget(url, of: key, &content)
            }
            if !entry.isInUse, key != kept { drop(key, &content) }
        }
    }

    /// Forgets a file. Names that were handed out stay as they are, changed or not, until their folder goes.
    private func drop(_ key: Key, _ content: inout Content) {
        guard let entry = content.entries.removeValue(forKey: key) else { return }
        unlink(entry.file.path)
        content.bytes -= room(key) * Int64(1 + entry.copies)
    }

    /// Of an account that has gone, with its folder.
    /// - Parameter drawer: its number.
    func forget(drawer: UInt64) {
        content.withLock { content in
            for key in content.entries.keys.filter({ $0.drawer == drawer }) { drop(key, &content) }
        }
    }

    func clear() {
        content.withLock { content in
            for key in Array(content.entries.keys) { drop(key, &content) }
        }
    }
}

extension FileStatus {
    /// Nobody has moved the file away or written into it since.
    fileprivate func isStill(at url: URL) -> Bool {
        guard let now = FileStatus(path: url.path) else { return false }
        return now.identity == identity && now.size == size && now.modified == modified
    }
}

extension SealKitError {
    fileprivate static let signedOut = SealKitError(
        .notAuthenticated, "the account has signed out meanwhile", remedy: "sign an account in")

    /// - Parameter reason: the system's, as in `errno`; 0 where it says none.
    fileprivate static func unwritable(_ file: URL, _ reason: Int32) -> SealKitError {
        .unwritten(file.path, reason, remedy: "choose another temporary folder (TMPDIR)")
    }
}
