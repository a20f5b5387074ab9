import Foundation
import SealPrimitives

/// Writes a folder whole or not at all: beside its place first, under its name at the end.
struct ExportFolder {
    private let folder: URL
    private let part: PartFolder
    private var temporary: URL { part.url }
    /// Whether nobody else on the machine may read it.
    private let isPrivate: Bool
    /// How many folders were removed that exports to the same place had left when they were killed.
    let removedParts: Int

    /// - Throws: `constraintViolation` when there is something at `folder` already; `internalError`.
    init(_ folder: URL, isPrivate: Bool = false) throws(SealKitError) {
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw SealKitError(
                .constraintViolation, "there is something at \(folder.path) already", remedy: "name another folder")
        }
        self.folder = folder
        self.isPrivate = isPrivate
        removedParts = PartFolder.removeAbandoned(besides: folder)
        part = try PartFolder(for: folder, isPrivate: isPrivate)
    }

    func url(_ path: String) -> URL { temporary.appendingPathComponent(path) }

    func makeFolder(_ path: String) throws(SealKitError) {
        do {
            try FileManager.default.createDirectory(
                at: url(path), withIntermediateDirectories: true,
                attributes: isPrivate ? [.posixPermissions: 0o700] : nil)
        } catch { throw failed(path) }
    }

    func create(_ path: String) throws(SealKitError) -> FileHandle {
        let file = url(path)
        guard
            FileManager.default.createFile(
                atPath: file.path, contents: nil, attributes: isPrivate ? [.posixPermissions: 0o600] : nil),
            let handle = try? FileHandle(forWritingTo: file)
        else { throw failed(path) }
        return handle
    }

    /// A file that is summed as it is written.
    func begin(_ path: String) throws(SealKitError) -> ArchiveFile {
        ArchiveFile(try create(path)) { failed(path) }
    }

    func write(_ data: Data, to handle: FileHandle) throws(SealKitError) {
        do { try handle.write(contentsOf: data) } catch { throw failed("an asset") }
    }

    /// A downloaded file's sum; its bytes are durable then, and its user's alone.
    func sum(ofAsset name: String, at file: URL) throws(SealKitError) -> ArchivedAsset {
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let handle = try FileHandle(forUpdating: file)
            defer { try? handle.close() }
            let sum = try ArchiveFile.sum(of: handle)
            try handle.synchronize()
            return ArchivedAsset(file: name, bytes: sum.bytes, sha256: sum.sha256)
        } catch { throw failed("an asset") }
    }

    /// One line of JSON.
    static func json(_ content: some Encodable) throws(SealKitError) -> Data {
        do { return try ArchiveFormat.encoder.encode(content) + Data("\n".utf8) } catch {
            throw SealKitError(.internalError, "something of the export could not be encoded")
        }
    }

    /// Writes the last file and gives the folder its name.
    func finish(_ content: some Encodable, as name: String) throws(SealKitError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let handle = try create(name)
            try handle.write(contentsOf: try encoder.encode(content) + Data("\n".utf8))
            try handle.synchronize()
            try handle.close()
            // Whoever deletes an account after its export relies on its being there after a power cut: the names too.
            try syncFolders()
            try FileManager.default.moveItem(at: temporary, to: folder)
            // It is there, and whole.
            try? PrivateFile.syncNames(in: folder.deletingLastPathComponent())
        } catch {
            throw failed(name)
        }
    }

    private func syncFolders() throws {
        let found = FileManager.default.enumerator(at: temporary, includingPropertiesForKeys: [.isDirectoryKey])
        while let url = found?.nextObject() as? URL {
            guard try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true else { continue }
            try PrivateFile.syncNames(in: url)
        }
        try PrivateFile.syncNames(in: temporary)
    }

    /// What turned out to be nothing to keep.
    func remove(_ path: String) { try? FileManager.default.removeItem(at: url(path)) }

    func abandon() { try? FileManager.default.removeItem(at: temporary) }

    private func failed(_ what: String) -> SealKitError { unwritten(what, isFull: [ENOSPC, EDQUOT].contains(errno)) }

    func unwritten(_ what: String, isFull: Bool) -> SealKitError {
        SealKitError(
            isFull ? .storageFull : .internalError, "\(what) of the export at \(folder.path) could not be written",
            remedy: isFull ? "make room" : "choose another place")
    }
}
