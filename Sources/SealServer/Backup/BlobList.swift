import SealStorage

/// The blobs of a backup, a line each in the order of their names: what `sha256sum` says of the file in the place, its
/// size there, the blob's own size, and its name. Of one that the data folder had lost the first two are `-`.
enum BlobList {
    /// By the folder that has the blobs: what one says is of no use for another.
    static func fileName(of blobFolder: String) -> String { blobFolder + ".txt" }

    private static let head = "sealkit blobs 1"

    /// Whether the file is a list to its end, of so many blobs.
    /// - Throws: `FileError`, `CancellationError`.
    static func isWhole(at path: String, blobs: Int) throws -> Bool {
        let reader = try Reader(path)
        while try reader.next() != nil {}
        return reader.isWhole(blobs)
    }

    struct Entry: Equatable {
        let id: BlobID
        /// Bytes.
        let size: Int64
        /// Of the file in the place, sealed or not; nil for a blob that is missing.
        let stored: FileSum?

        fileprivate var line: String {
            "\(stored?.sha256 ?? "-") \(stored.map { "\($0.size)" } ?? "-") \(size) \(id)\n"
        }

        fileprivate init?(line: String) {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 4, let size = Int64(parts[2]), size >= 0, let id = BlobID(parts[3]) else { return nil }
            (self.id, self.size) = (id, size)
            if parts[0] == "-", parts[1] == "-" {
                stored = nil
                return
            }
            let isSum =
                parts[0].utf8.count == 64
                && parts[0].utf8.allSatisfy { byte in
                    (48...57).contains(byte) || (97...102).contains(byte)
                }
            guard isSum, let bytes = Int64(parts[1]), bytes >= 0 else { return nil }
            stored = FileSum(size: bytes, sha256: String(parts[0]))
        }

        init(id: BlobID, size: Int64, stored: FileSum?) { (self.id, self.size, self.stored) = (id, size, stored) }
    }

    /// One task uses it.
    final class Writer {
        private let file: FileWriter

        init(_ path: String) throws(FileError) {
            file = try FileWriter(path)
            try file.write(Array((BlobList.head + "\n").utf8))
        }

        func add(_ entry: Entry) throws(FileError) { try file.write(Array(entry.line.utf8)) }
        func flush() throws(FileError) { try file.flush() }
        func finish() throws(FileError) -> FileSum { try file.finish() }
    }

    /// From the first name to the last; one task uses it.
    final class Reader {
        private let file: FileReader
        var path: String { file.path }
        private var waiting: Entry?
        private var isOver = false
        /// Whether all that came before its end is a list, in order.
        private var isSound = true
        private var count = 0

        /// Whether it came to its end, and that after so many blobs: a list that stops being one looks like that too.
        func isWhole(_ blobs: Int) -> Bool { isOver && isSound && count == blobs }

        /// - Throws: `FileError`, `CancellationError`.
        init(_ path: String) throws {
            file = try FileReader(path)
            if try file.line() != BlobList.head { stop(isSound: false) }
        }

        /// Nil at the end, and where it stops being a list.
        /// - Throws: `FileError`, `CancellationError`.
        func next() throws -> Entry? {
            defer { waiting = nil }
            return try waiting ?? read()
        }

        /// What it says of a blob; to be asked in the order of their names.
        func entry(of id: BlobID) throws -> Entry? {
            while let entry = try waiting ?? read() {
                guard entry.id.description < id.description else {
                    waiting = entry
                    return entry.id == id ? entry : nil
                }
                waiting = nil
            }
            return nil
        }

        private var last = ""

        private func read() throws -> Entry? {
            guard !isOver else { return nil }
            guard let line = try file.line() else {
                stop(isSound: true)
                return nil
            }
            guard let entry = Entry(line: line), entry.id.description > last else {
                stop(isSound: false)
                return nil
            }
            last = entry.id.description
            count += 1
            return entry
        }

        private func stop(isSound: Bool) { (isOver, self.isSound) = (true, isSound) }
    }
}
