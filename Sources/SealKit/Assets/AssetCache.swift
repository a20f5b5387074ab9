import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealSystem
import Synchronization

/// The files of assets that came with records. Each content is downloaded and opened once, and handed out under names of its own:
/// an app that moves one away takes nothing from the next fetch, nor from what it has fetched before.
final class AssetCache: Sendable {
    static let shared = AssetCache(limit: 1 << 30)

    /// What identifies an asset's bytes, as they were signed for, and whose device has opened them. Bytes belong to one field: who
    /// names another record's in a field of its own has no key that opens them, and is not answered from here.
    fileprivate struct Key: Hashable {
        let drawer: ObjectIdentifier
        let recordID: Record.ID
        let field: String
        let root: Digest
        /// None where the bytes are public.
        let salt: Digest?
        let size: UInt64

        init(_ remote: Asset.Remote, _ drawer: TemporaryAssets.Drawer) {
            self.drawer = ObjectIdentifier(drawer)
            (recordID, field) = (remote.recordID, remote.key)
            switch remote.content {
            case .sealed(let asset): (root, salt, size) = (asset.root, asset.salt, asset.size)
            case .plain(let asset): (root, salt, size) = (asset.root, nil, asset.size)
            }
        }
    }

    private struct Entry {
        /// Never handed out.
        let file: URL
        /// As it was written: whoever changes a file that was handed out changes this one.
        let status: FileStatus
        /// Names that assets in memory refer to.
        var inUse: Set<URL> = []
        /// Names that nothing refers to any more, for the next fetch.
        var free: [URL] = []
        var lastUse: UInt64
        /// So that no other drawer is taken for this one.
        let drawer: TemporaryAssets.Drawer

        var isWhole: Bool {
            guard let now = FileStatus(path: file.path) else { return false }
            return now.identity == status.identity && now.size == status.size && now.modified == status.modified
        }
    }

    private struct Content {
        var entries: [Key: Entry] = [:]
        /// Of those that are there, or on their way.
        var bytes: Int64 = 0
        var uses: UInt64 = 0
        var limit: Int64
        /// Who waits for what somebody else is fetching.
        var onTheirWay: [Key: [AsyncStream<Void>.Continuation]] = [:]
    }

    private let content: Mutex<Content>

    init(limit: Int64) { content = Mutex(Content(limit: limit)) }

    var limit: Int64 {
        get { content.withLock(\.limit) }
        set { content.withLock { $0.limit = newValue } }
    }

    /// Keeps a file where it is, as long as an asset refers to it.
    final class Hold: Sendable {
        let url: URL
        private let key: Key
        private let cache: AssetCache

        fileprivate init(_ url: URL, _ key: Key, _ cache: AssetCache) { (self.url, self.key, self.cache) = (url, key, cache) }
        deinit { cache.release(url, key) }
    }

    private enum Step {
        case there(Hold)
        case wait(AsyncStream<Void>)
        case fetch
        case full(Int64)
    }

    /// The file of an asset, fetched where it is not there yet.
    /// - Parameter fetch: downloads it to a file.
    /// - Throws: `limitExceeded` where there is no room for it; `notAuthenticated` where the account has signed out meanwhile; what
    ///   `fetch` throws.
    func file(
        of remote: Asset.Remote, in drawer: TemporaryAssets.Drawer, fetch: (URL) async throws(SealKitError) -> Void
    ) async throws(SealKitError) -> Hold {
        let key = Key(remote, drawer)
        while true {
            switch content.withLock({ step(key, &$0) }) {
            case .there(let hold): return hold
            case .wait(let end):
                for await _ in end {}
                if Task.isCancelled { throw .cancelled }
            case .full(let limit):
                throw SealKitError(
                    .limitExceeded, "an asset of record \(remote.recordID.recordName) has no room beside those in use: all have \(limit) bytes",
                    remedy: "fetch records with fetchingAssets(.onDemand), and download(_:of:to:) what you want")
            case .fetch:
                let file = drawer.newFile()
                do { try await fetch(file) } catch {
                    content.withLock { end(key, in: &$0, isThere: false) }
                    throw error
                }
                return try keep(file, key, drawer)
            }
        }
    }

    /// What is to be done for one who wants a file.
    private func step(_ key: Key, _ content: inout Content) -> Step {
        if var entry = content.entries[key] {
            if entry.isWhole, let hold = handOut(&entry, key, &content) { return .there(hold) }
            drop(key, &content)
        }
        if content.onTheirWay[key] != nil {
            let (end, continuation) = AsyncStream<Void>.makeStream()
            content.onTheirWay[key]?.append(continuation)
            return .wait(end)
        }
        let size = Int64(clamping: key.size)
        makeRoom(for: size, &content)
        guard size <= content.limit - content.bytes else { return .full(content.limit) }
        content.bytes += size
        content.onTheirWay[key] = []
        return .fetch
    }

    private func keep(_ file: URL, _ key: Key, _ drawer: TemporaryAssets.Drawer) throws(SealKitError) -> Hold {
        let hold: Hold? = content.withLock { content in
            guard !drawer.isClosed, let status = FileStatus(path: file.path) else {
                end(key, in: &content, isThere: false)
                return nil
            }
            var entry = Entry(file: file, status: status, lastUse: 0, drawer: drawer)
            let hold = handOut(&entry, key, &content)
            if hold == nil { unlink(file.path) }
            end(key, in: &content, isThere: hold != nil)
            return hold
        }
        if let hold { return hold }
        guard !drawer.isClosed else {
            throw SealKitError(.notAuthenticated, "the account has signed out meanwhile", remedy: "sign an account in")
        }
        throw SealKitError(.internalError, "\(file.path) cannot be written", remedy: "choose another temporary folder (TMPDIR)")
    }

    /// A name of its own for the file; nil where none can be made.
    private func handOut(_ entry: inout Entry, _ key: Key, _ content: inout Content) -> Hold? {
        var name = entry.free.popLast()
        // What was moved away is the app's.
        while let free = name, FileStatus(path: free.path)?.identity != entry.status.identity { name = entry.free.popLast() }
        if name == nil {
            let new = entry.file.deletingLastPathComponent().appendingPathComponent(UUID().uuidString)
            guard link(entry.file.path, new.path) == 0 else { return nil }
            name = new
        }
        guard let name else { return nil }
        entry.inUse.insert(name)
        content.uses += 1
        entry.lastUse = content.uses
        content.entries[key] = entry
        return Hold(name, key, self)
    }

    private func end(_ key: Key, in content: inout Content, isThere: Bool) {
        if !isThere { content.bytes -= Int64(clamping: key.size) }
        for waiting in content.onTheirWay.removeValue(forKey: key) ?? [] { waiting.finish() }
    }

    private func release(_ url: URL, _ key: Key) {
        content.withLock { content in
            guard content.entries[key]?.inUse.remove(url) != nil else { return }
            content.entries[key]?.free.append(url)
        }
    }

    // MARK: Room

    /// Removes what nothing refers to, from the longest unused on.
    private func makeRoom(for size: Int64, _ content: inout Content) {
        guard size <= content.limit, content.bytes > content.limit - size else { return }
        let unused = content.entries.filter { $0.value.inUse.isEmpty }.sorted { $0.value.lastUse < $1.value.lastUse }
        for (key, entry) in unused where content.bytes > content.limit - size {
            for name in entry.free where FileStatus(path: name.path)?.identity == entry.status.identity { unlink(name.path) }
            drop(key, &content)
        }
    }

    /// Forgets a file. Names that were handed out stay as they are, changed or not, until their folder goes.
    private func drop(_ key: Key, _ content: inout Content) {
        guard let entry = content.entries.removeValue(forKey: key) else { return }
        unlink(entry.file.path)
        content.bytes -= Int64(clamping: key.size)
    }

    /// Of an account that has gone, with its folder.
    func forget(_ drawer: TemporaryAssets.Drawer) {
        content.withLock { content in
            for key in content.entries.keys.filter({ $0.drawer == ObjectIdentifier(drawer) }) { drop(key, &content) }
        }
    }

    func clear() {
        content.withLock { content in
            for key in Array(content.entries.keys) { drop(key, &content) }
        }
    }
}
