import Synchronization

/// Uploads of this process whose records are not saved: those that broke off, and those that are whole. Saving the
/// record again goes on with them.
final class UnsavedUploads: Sendable {
    /// A record of one of the account's databases.
    struct Place: Hashable, Sendable {
        let recordID: Record.ID
        let isPublic: Bool
    }

    /// What an upload is for, and of which file.
    struct Key: Hashable, Sendable {
        let place: Place
        let field: String
        let file: AssetFile.Version
    }

    /// Each holds a file open, and a mebibyte.
    private static let mostBroken = 16
    /// A server keeps no more for an account while no record names them.
    private static let mostWhole = 10_000

    private struct Broken {
        let key: Key
        let upload: AssetUpload
        /// Nil where another process may go on with it.
        let abandon: (@Sendable () async -> Void)?
    }

    private struct Whole {
        let key: Key
        let remote: Asset.Remote
        let noted: Int64
    }

    private struct Content {
        var broken: [Broken] = []
        var whole: [Place: [Whole]] = [:]
        var wholeCount = 0
    }

    private let content = Mutex(Content())

    // MARK: Broken off

    /// Whoever takes one has it alone.
    func take(_ key: Key) -> AssetUpload? {
        content.withLock { content in
            guard let index = content.broken.firstIndex(where: { $0.key == key }) else { return nil }
            return content.broken.remove(at: index).upload
        }
    }

    /// The oldest goes where there are too many: the server gives it up by itself.
    /// - Parameter abandon: tells the server that it is not gone on with; nil where another process may do that.
    func keep(_ upload: AssetUpload, _ key: Key, abandon: (@Sendable () async -> Void)?) {
        content.withLock { content in
            content.broken.append(Broken(key: key, upload: upload, abandon: abandon))
            if content.broken.count > Self.mostBroken { content.broken.removeFirst() }
        }
    }

    /// Nobody in this process goes on with any that broke off. The server takes back none that is whole.
    func abandonAll() async {
        let all = content.withLock { content in
            defer { content.broken = [] }
            return content.broken
        }
        await withTaskGroup { group in
            for one in all { if let abandon = one.abandon { group.addTask { await abandon() } } }
        }
    }

    // MARK: Whole

    /// What the server has all of, and the record may still name: what none does is kept for a day. The file has to be
    /// held against it.
    func whole(_ key: Key, at now: Int64) -> Asset.Remote? {
        content.withLock { content in
            guard let found = content.whole[key.place]?.first(where: { $0.key == key }),
                OperationJournal.isWithinServersDay(found.noted, at: now)
            else { return nil }
            return found.remote
        }
    }

    func keep(_ remote: Asset.Remote, _ key: Key, at now: Int64) {
        content.withLock { content in
            var others = content.whole.removeValue(forKey: key.place) ?? []
            content.wholeCount -= others.count
            others.removeAll { $0.key.field == key.field }
            if content.wholeCount + others.count >= Self.mostWhole { dropOldest(&content) }
            others.append(Whole(key: key, remote: remote, noted: now))
            content.whole[key.place] = others
            content.wholeCount += others.count
        }
    }

    /// The record is saved, or names what the server has no more.
    func forgetWhole(_ place: Place) {
        content.withLock { content in content.wholeCount -= content.whole.removeValue(forKey: place)?.count ?? 0 }
    }

    /// Those of the record that was gone on with the longest ago.
    private func dropOldest(_ content: inout Content) {
        let oldest = content.whole.min { ($0.value.last?.noted ?? 0) < ($1.value.last?.noted ?? 0) }
        if let oldest { content.wholeCount -= content.whole.removeValue(forKey: oldest.key)?.count ?? 0 }
    }
}
