import SealStorage

/// Removes older backups, and then the blobs that none names.
struct Pruning {
    private let place: BackupPlace

    init(_ place: BackupPlace) { self.place = place }

    /// To be called with the place alone.
    /// - Parameters:
    ///   - keep: how many stay, 1 or more: the one just made, and those that were made last before it.
    ///   - made: the one just made.
    ///   - removed: counts, also where it fails.
    /// - Throws: `BackupError` where it cannot be told which blobs are needed, `FileError`, `CancellationError`.
    func run(keep: Int, besides made: String, removed: inout (backups: Int, blobs: Int)) throws {
        // What somebody has renamed to keep it is theirs.
        let others = try place.entries().map(\.name).filter { $0 != made && BackupPlace.isOwn($0) }
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
        try place.forEachFile(in: blobFolder) { name, path in
            try Task.checkCancellation()
            guard let id = BlobID(name) else {
                // Half of one; whatever else lies there is somebody's.
                if name.hasSuffix(".new") { try PrivateFiles.remove(path) }
                return
            }
            // Where no backup puts it, it is somebody's, and out of the lists' order.
            guard place.blobPath(id, in: blobFolder) == path, try !isNeeded(id, by: lists) else { return }
            try PrivateFiles.remove(path)
            count += 1
        }
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
            guard (try? FileSum(ofFileAt: path)) == manifest.blobList.sum,
                try BlobList.isWhole(at: path, blobs: manifest.blobs)
            else { throw Self.unreadable(path) }
            return try BlobList.Reader(path)
        }
    }

    private static func unreadable(_ path: String) -> BackupError {
        BackupError(
            .damaged, "\(path) is damaged, so that nobody can tell which blobs that backup needs; no blob was removed",
            remedy: "remove that backup's folder, or wait until it is the oldest")
    }
}
