import SealStorage

/// Removes older backups, and then the blobs that none names.
struct Pruning {
    private let place: BackupPlace

    init(_ place: BackupPlace) { self.place = place }

    /// To be called with the place alone.
    /// - Parameters:
    ///   - keep: how many stay, 1 or more: the one just made, and the newest before it.
    ///   - made: the one just made, whatever the clock says of the others.
    ///   - removed: counts, also where it fails.
    /// - Throws: `BackupError` where it cannot be told which blobs are needed, `FileError`, `CancellationError`.
    func run(keep: Int, besides made: String, removed: inout (backups: Int, blobs: Int)) throws {
        // What somebody has renamed to keep it is theirs.
        let others = try place.names().filter { $0 != made && BackupPlace.isOwn($0) }
        for name in others.dropLast(max(0, keep - 1)) {
            // It is no backup any more before anything of it goes.
            try PrivateFiles.rename(place.path(of: name), to: place.old(name))
            try PrivateFiles.remove(place.old(name))
            removed.backups += 1
        }
        for blobFolder in try place.blobFolders() { try removeBlobs(of: blobFolder, &removed.blobs) }
    }

    private func removeBlobs(of blobFolder: String, _ count: inout Int) throws {
        let lists = try lists(of: blobFolder)
        let folder = place.folder + "/" + blobFolder
        // Folders and files come in the order of the names, as the lists do.
        for first in try place.folders(in: folder) {
            for second in try place.folders(in: "\(folder)/\(first)") {
                for name in try PrivateFiles.names(in: "\(folder)/\(first)/\(second)") {
                    try Task.checkCancellation()
                    // Where no backup puts it, it is somebody's, and out of the lists' order.
                    if let id = BlobID(name),
                        place.blobPath(id, in: blobFolder) != "\(folder)/\(first)/\(second)/\(name)"
                    {
                        continue
                    }
                    if let id = BlobID(name), try isNeeded(id, by: lists) { continue }
                    // Ours alone: whatever else lies there is somebody's.
                    guard BlobID(name) != nil || name.hasSuffix(".new") else { continue }
                    try PrivateFiles.remove("\(folder)/\(first)/\(second)/\(name)")
                    if BlobID(name) != nil { count += 1 }
                }
            }
        }
        if let unsound = lists.first(where: { !$0.isSound }) { throw Self.unreadable(unsound.path) }
    }

    private func isNeeded(_ id: BlobID, by lists: [BlobList.Reader]) throws -> Bool {
        var isNeeded = false
        // Each is asked for each, so that all go on.
        for list in lists where try list.entry(of: id) != nil { isNeeded = true }
        return isNeeded
    }

    private func lists(of blobFolder: String) throws -> [BlobList.Reader] {
        try place.names().compactMap { name in
            let folder = place.path(of: name)
            let manifest: BackupManifest
            do { manifest = try BackupManifest(readFrom: folder) } catch is BackupError {
                throw Self.unreadable(folder)
            }
            guard manifest.blobFolder == blobFolder else { return nil }
            let path = folder + "/" + manifest.blobList.name
            // Before anything is removed by it.
            guard (try? FileSum(ofFileAt: path)) == manifest.blobList.sum else { throw Self.unreadable(path) }
            return try BlobList.Reader(path)
        }
    }

    private static func unreadable(_ path: String) -> BackupError {
        BackupError(
            .damaged, "\(path) is damaged, so that nobody can tell which blobs that backup needs; no blob was removed",
            remedy: "remove that backup's folder, or wait until it is the oldest")
    }
}
