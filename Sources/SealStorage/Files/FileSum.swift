import Crypto
import Foundation
import SealSystem

/// A file's length and SHA-256, by which a copy is told from what it was made of.
package struct FileSum: Sendable, Hashable {
    /// Bytes.
    package let size: Int64
    /// 64 lower-case hexadecimal digits, as `sha256sum` prints them.
    package let sha256: String

    package init(size: Int64, sha256: String) { (self.size, self.sha256) = (size, sha256) }

    /// Of what is there now.
    /// - Throws: `FileError`, `CancellationError`.
    package init(ofFileAt path: String) throws {
        let reader = try FileReader(path)
        while try !reader.read(atMost: FileReader.chunkBytes).isEmpty {}
        self = reader.sum
    }
}

/// A SHA-256 under way, with how much has come.
struct RunningSum {
    private var hash = SHA256()
    private var size: Int64 = 0

    mutating func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        size += Int64(bytes.count)
    }

    var sum: FileSum {
        let digits = hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return FileSum(size: size, sha256: digits)
    }
}

/// Reads a file from its beginning to its end. One task uses it.
package final class FileReader {
    package static let chunkBytes = 1 << 18
    private static let mostLineBytes = 1 << 20

    package let path: String
    private let file: FileDescriptorBox
    private var running = RunningSum()
    /// Read and not asked for yet, for lines.
    private var buffered: ArraySlice<UInt8> = []

    /// - Throws: `FileError`, also for what is no regular file.
    package init(_ path: String) throws(FileError) {
        self.path = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
        file = FileDescriptorBox(descriptor)
        guard FileStatus(descriptor: descriptor)?.isRegular == true else {
            throw FileError(path: path, action: "read as a file", code: EINVAL)
        }
    }

    /// Of what was read so far.
    package var sum: FileSum { running.sum }
    package var size: Int64 { FileStatus(descriptor: file.rawValue)?.size ?? 0 }

    /// So many bytes, or what is left; nothing at the end.
    /// - Throws: `FileError`, `CancellationError`.
    package func read(atMost count: Int) throws -> [UInt8] {
        try Task.checkCancellation()
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes {
                Foundation.read(file.rawValue, $0.baseAddress.map { $0 + done }, count - done)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw FileError(path: path, action: "read", code: errno) }
            if got == 0 { break }
            done += got
        }
        bytes.removeLast(count - done)
        running.add(bytes)
        return bytes
    }

    /// All that is left.
    /// - Throws: `FileError`, `CancellationError`.
    package func copy(to writer: FileWriter) throws {
        while case let bytes = try read(atMost: Self.chunkBytes), !bytes.isEmpty { try writer.write(bytes) }
    }

    /// The next line without its end, of less than a mebibyte; nil at the end. What comes after the last line's end
    /// does not count: whoever wrote it was stopped.
    /// - Throws: `FileError`, `CancellationError`.
    package func line() throws -> String? {
        while true {
            if let end = buffered.firstIndex(of: 0x0A) {
                defer { buffered = buffered[(end + 1)...] }
                return String(decoding: buffered[..<end], as: UTF8.self)
            }
            guard buffered.count < Self.mostLineBytes else {
                throw FileError(path: path, action: "read a line of", code: EFBIG)
            }
            let more = try read(atMost: Self.chunkBytes)
            guard !more.isEmpty else { return nil }
            buffered += more
        }
    }
}

/// Writes a new file that its owner alone can read. One task uses it; what is not finished is left as it is.
package final class FileWriter {
    package let path: String
    private let file: FileDescriptorBox
    private var running = RunningSum()
    private var buffered: [UInt8] = []

    /// - Throws: `FileError`, also where there is such a file.
    package init(_ path: String) throws(FileError) {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, action: "create", code: errno) }
        file = FileDescriptorBox(descriptor)
    }

    package func write(_ bytes: [UInt8]) throws(FileError) {
        guard buffered.count + bytes.count > FileReader.chunkBytes else {
            buffered += bytes
            return
        }
        try flush()
        try put(bytes)
    }

    /// As `PrivateFiles.handOver`.
    func handOver(toOwnerOf folder: String) throws(FileError) {
        try PrivateFiles.handOver(file.rawValue, path, toOwnerOf: folder)
    }

    /// Lets the system have what was written so far, so that it is there when this process is killed.
    package func flush() throws(FileError) {
        try put(buffered)
        buffered.removeAll(keepingCapacity: true)
    }

    private func put(_ bytes: [UInt8]) throws(FileError) {
        running.add(bytes)
        var done = 0
        while done < bytes.count {
            let wrote = bytes.withUnsafeBytes {
                Foundation.write(file.rawValue, $0.baseAddress.map { $0 + done }, bytes.count - done)
            }
            if wrote < 0, errno == EINTR { continue }
            guard wrote > 0 else { throw FileError(path: path, action: "write", code: wrote < 0 ? errno : EIO) }
            done += wrote
        }
    }

    /// Makes it durable, but for its name.
    package func finish() throws(FileError) -> FileSum {
        try flush()
        guard fsync(file.rawValue) == 0 else { throw FileError(path: path, action: "sync", code: errno) }
        file.close()
        return running.sum
    }
}
