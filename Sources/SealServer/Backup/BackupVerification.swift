import SealStorage
import SealSystem

/// Whether backups are what they were when they were written: reads everything that they name.
package struct BackupVerification {
    package struct Outcome: Sendable {
        package let name: String
        package let blobs: Int
        /// A sentence each, without its end; nothing for a backup that is whole.
        package let damage: [Damage]
    }

    package struct Damage: Sendable, Equatable {
        package let what: String
        package let remedy: String
    }

    private let place: BackupPlace

    /// - Throws: `BackupError` where there are none.
    package init(place path: String) throws(BackupError) { place = try BackupPlace(existing: path) }

    /// Their names, oldest first, with what each says of itself: nil for one whose manifest is damaged.
    package func list() throws -> [(name: String, manifest: BackupManifest?)] {
        try place.entries().map { ($0.name, $0.manifest) }
    }

    /// - Parameter name: of one; nil for all.
    /// - Throws: `BackupError` where there is none, `FileError`, `CancellationError`.
    package func run(_ name: String?) throws -> [Outcome] {
        let lock = try place.lock(.shared)
        defer { lock?.release() }
        if let name { try place.require(name) } else { try place.requireAny() }
        // What several backups have is read once.
        var seen: [String: FileSum?] = [:]
        return try (name.map { [$0] } ?? place.entries().map(\.name)).map { try verify($0, &seen) }
    }

    private func verify(_ name: String, _ seen: inout [String: FileSum?]) throws -> Outcome {
        let folder = place.path(of: name)
        let manifest: BackupManifest
        do { manifest = try BackupManifest(readFrom: folder) } catch let error as BackupError {
            return Outcome(name: name, blobs: 0, damage: [Damage(what: error.reason, remedy: error.remedy)])
        }
        var damage: [Damage] = []
        for file in [manifest.database, manifest.blobList] {
            let path = folder + "/" + file.name
            guard try Self.sum(of: path) != file.sum else { continue }
            damage.append(
                Damage(
                    what: "\(path) is damaged: its sum differs",
                    remedy: "use another backup, and remove this one's folder"))
        }
        guard damage.isEmpty else { return Outcome(name: name, blobs: manifest.blobs, damage: damage) }
        let list = try BlobList.Reader(folder + "/" + manifest.blobList.name)
        while let entry = try list.next() {
            guard let stored = entry.stored else {
                damage.append(
                    Damage(
                        what: "blob \(entry.id) was missing already when the backup was made",
                        remedy: "an older backup may have it"))
                continue
            }
            let path = place.blobPath(entry.id, in: manifest.blobFolder)
            let found = try seen[path] ?? Self.sum(of: path)
            seen[path] = .some(found)
            guard found != stored else { continue }
            let isThere = FileStatus(link: path) != nil
            let fault = found != nil ? "is damaged: its sum differs" : isThere ? "cannot be read" : "is missing"
            damage.append(
                Damage(
                    what: "\(path) \(fault)",
                    remedy: (isThere ? "remove that file: the" : "the")
                        + " next backup copies it again, if the server still has it"
                        + (manifest.recipient == nil ? "" : "; sealed anew it is no older backup's")
                        + "; restore --without-damaged does without it"))
        }
        if !list.isWhole(manifest.blobs) {
            damage.append(
                Damage(
                    what: "\(list.path) is no list of the \(manifest.blobs) blobs that the backup has",
                    remedy: "use another backup, and remove this one's folder"))
        }
        return Outcome(name: name, blobs: manifest.blobs, damage: damage)
    }

    /// Nil where it cannot be read.
    private static func sum(of path: String) throws -> FileSum? {
        do { return try FileSum(ofFileAt: path) } catch is FileError { return nil }
    }
}
