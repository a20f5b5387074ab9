import Foundation

/// Writes a folder whole or not at all: beside its place first, under its name at the end.
struct RawExportWriter {
    private let folder: URL
    private let temporary: URL

    /// - Throws: `constraintViolation` when there is something at `folder` already; `internalError`.
    init(folder: URL) throws(SealKitError) {
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw SealKitError(.constraintViolation, "there is something at \(folder.path) already", remedy: "name another folder")
        }
        self.folder = folder
        temporary = URL(fileURLWithPath: folder.path + ".part-\(UUID().uuidString.prefix(8))")
        do {
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        } catch {
            throw SealKitError(.internalError, "the folder of \(folder.path) cannot be written to", remedy: "choose another place")
        }
    }

    func create(_ name: String) throws(SealKitError) -> FileHandle {
        let file = temporary.appendingPathComponent(name)
        guard FileManager.default.createFile(atPath: file.path, contents: nil), let handle = try? FileHandle(forWritingTo: file)
        else { throw failed(name) }
        return handle
    }

    func write(_ data: Data, to handle: FileHandle) throws(SealKitError) {
        do { try handle.write(contentsOf: data) } catch { throw failed("an asset") }
    }

    func finish(_ content: RawExportContent) throws(SealKitError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let json = try encoder.encode(content) + Data("\n".utf8)
            try json.write(to: temporary.appendingPathComponent("export.json"))
            try FileManager.default.moveItem(at: temporary, to: folder)
        } catch {
            throw failed("export.json")
        }
    }

    func abandon() { try? FileManager.default.removeItem(at: temporary) }

    private func failed(_ what: String) -> SealKitError {
        let isFull = errno == ENOSPC
        return SealKitError(
            isFull ? .storageFull : .internalError, "\(what) of the export at \(folder.path) could not be written",
            remedy: isFull ? "make room" : "choose another place")
    }
}
