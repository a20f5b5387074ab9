import Foundation
import SealStorage
import SealSystem

/// What the place knows of its blobs already: from the lists of whole backups, and from those of backups that were cut
/// short. A list that is damaged is passed over: what it alone had is copied again.
final class KnownBlobs {
    /// Each is an open file.
    private static let mostLists = 500

    private let place: BackupPlace
    let blobFolder: String
    private let lists: [BlobList.Reader]
    private let drafts: [String]
    /// Whether a backup before this one was cut short.
    private let follows: Bool

    /// - Parameter draft: the backup that is about to be made.
    /// - Throws: `FileError`, `CancellationError`.
    init(_ place: BackupPlace, blobFolder: String, besides draft: String) throws {
        self.place = place
        self.blobFolder = blobFolder
        var lists: [BlobList.Reader] = []
        let isSealed = blobFolder != BackupPlace.blobFolder(of: nil)
        for entry in try place.entries().reversed().prefix(Self.mostLists) {
            // A file that an older one names stays as it is: sealed again it has another sum. What is not sealed is the
            // same each time, and the newest list is enough.
            guard isSealed || lists.isEmpty else { break }
            guard entry.manifest?.blobFolder == blobFolder, let list = try Self.list(of: entry, in: place) else {
                continue
            }
            lists.append(list)
        }
        let left = try place.leftOvers()
        follows = !left.isEmpty
        drafts = left.filter { $0 != draft }
        for path in drafts where place.isDraft(path) {
            guard let list = try? BlobList.Reader(path + "/" + BlobList.fileName(of: blobFolder)) else { continue }
            lists.append(list)
        }
        self.lists = lists
    }

    /// A backup's; nil for one that is not what it was.
    static func list(of entry: BackupPlace.Entry, in place: BackupPlace) throws -> BlobList.Reader? {
        guard let list = entry.manifest?.blobList else { return nil }
        let path = place.path(of: entry.name) + "/" + list.name
        do {
            return try FileSum(ofFileAt: path) == list.sum ? try BlobList.Reader(path) : nil
        } catch is FileError {
            return nil
        }
    }

    /// The file that the place has of a blob, where it is as long as it is to be; to be asked in the order of names.
    func stored(_ id: BlobID, size: Int64, storedSize: Int64) throws -> FileSum? {
        for list in lists {
            guard let entry = try list.entry(of: id), let stored = entry.stored, entry.size == size,
                stored.size == storedSize
            else { continue }
            let status = FileStatus(link: place.blobPath(id, in: blobFolder))
            if let status, status.isRegular, status.size == storedSize { return stored }
        }
        return nil
    }

    /// What backups that were cut short have left goes once a whole one has made use of it.
    /// - Throws: `FileError`.
    func removeDrafts() throws {
        for path in drafts { try PrivateFiles.remove(path) }
        guard follows else { return }
        // A blob that was half copied then, and that the server does not have any more.
        try place.forEachFile(in: blobFolder) { name, path in
            if name.hasSuffix(".new") { try PrivateFiles.remove(path) }
        }
    }
}

/// Copies blobs to a place, in the order of their names, and lists them.
struct BlobCopies {
    private let source: String
    private let place: BackupPlace
    private let known: KnownBlobs
    private let list: BlobList.Writer
    private let recipient: BackupRecipient?
    private let freeBytes: (String) -> UInt64?
    private(set) var count = 0
    private(set) var copied = 0
    private(set) var copiedBytes: Int64 = 0
    private(set) var missing: [String] = []
    /// Folders with new names in them.
    private var touched: Set<String> = []

    init(
        from source: String, to place: BackupPlace, known: KnownBlobs, list: BlobList.Writer,
        recipient: BackupRecipient?, freeBytes: @escaping (String) -> UInt64?
    ) {
        (self.source, self.place, self.known, self.list, self.recipient) = (source, place, known, list, recipient)
        self.freeBytes = freeBytes
    }

    static func purpose(_ id: BlobID) -> String { "blob \(id)" }

    /// - Throws: `FileError`, `BackupError`, `CancellationError`.
    mutating func add(_ name: String, size: Int64) throws {
        try Task.checkCancellation()
        guard let id = BlobID(name) else {
            missing.append(name)
            return
        }
        count += 1
        let before = copied
        let storedSize = recipient == nil ? size : SealedFile.size(of: size)
        var stored = try known.stored(id, size: size, storedSize: storedSize)
        if stored == nil {
            stored = try copy(id, size: size, storedSize: storedSize)
            if stored == nil { missing.append(name) }
        }
        try list.add(BlobList.Entry(id: id, size: size, stored: stored))
        // What was copied so far, the next backup need not copy, should this one be killed.
        if copied > before { try list.flush() }
    }

    /// Nil where the data folder does not have it whole.
    private mutating func copy(_ id: BlobID, size: Int64, storedSize: Int64) throws -> FileSum? {
        let path = FolderBlobStore.path(of: id, in: source)
        guard let status = FileStatus(path: path), status.isRegular, status.size == size else { return nil }
        try requireRoom(for: storedSize)
        let target = place.blobPath(id, in: known.blobFolder)
        let draft = target + ".new"
        try PrivateFiles.createFolder(at: target.folderAbove)
        try PrivateFiles.remove(draft)
        let sum: FileSum
        do {
            let (reader, writer) = (try FileReader(path), try FileWriter(draft))
            if let recipient {
                try SealedFile.seal(reader.read, for: Self.purpose(id), to: recipient, into: writer)
            } else {
                try reader.copy(to: writer)
            }
            sum = try writer.finish()
            guard reader.sum.size == size else {
                try PrivateFiles.remove(draft)
                return nil
            }
            guard rename(draft, target) == 0 else { throw FileError(path: target, action: "rename to", code: errno) }
        } catch {
            // Half of one on a disk that is full keeps the room that the server needs.
            try? PrivateFiles.remove(draft)
            throw error
        }
        touched.formUnion([target.folderAbove, target.folderAbove.folderAbove])
        copied += 1
        copiedBytes += size
        return sum
    }

    /// The place may be on the data's disk: what the server needs there stays free.
    private func requireRoom(for size: Int64) throws(BackupError) {
        let needed = UInt64(clamping: size) + FreeSpace.keptFromBlobs
        guard let free = freeBytes(place.folder), free < needed else { return }
        throw BackupError(
            .cannotWrite,
            "the next blob needs \(needed) bytes at \(place.folder), and \(free) are free there; \(copied) were copied, and are not copied again",
            remedy: "make room, or name a place on another disk with --to: 16 MiB stay free for the server")
    }

    /// Makes what was copied durable.
    /// - Returns: of the list.
    func finish() throws(FileError) -> FileSum {
        for folder in touched { try PrivateFiles.syncFolder(at: folder) }
        if !touched.isEmpty { try PrivateFiles.syncFolder(at: place.folder + "/" + known.blobFolder) }
        try PrivateFiles.syncFolder(at: place.folder)
        return try list.finish()
    }
}
