import Foundation
import SealService
import SealStorage

/// Where a running server's operator reaches it, for commands on the same machine: a file `operator.url` in the data
/// folder, for its owner alone, which the server holds locked for as long as it listens there. Without that lock nobody
/// is told: once a server has ended, its port may be anybody's, who is to be sent no token.
public final class OperatorPlace: Sendable {
    private static let fileName = "operator.url"
    private static let mostBytes = 512

    private let path: String
    private let descriptor: FileDescriptorBox

    /// - Throws: `FileError`.
    init(_ url: String, dataFolder: String) throws {
        path = dataFolder + "/" + Self.fileName
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw FileError(path: path, action: "open", code: errno) }
        descriptor = FileDescriptorBox(opened)
        // Whoever looks at it holds it for a moment; of servers there is one in a data folder.
        guard descriptor.lock(LOCK_EX) else { throw FileError(path: path, action: "lock", code: errno) }
        let bytes = Array((url + "\n").utf8)
        guard ftruncate(opened, 0) == 0, pwrite(opened, bytes, bytes.count, 0) == bytes.count else {
            throw FileError(path: path, action: "write", code: errno)
        }
    }

    func release() {
        unlink(path)
        descriptor.close()
    }

    /// Where the server of a data folder is reached.
    /// - Throws: `OperatorPlaceError`, `FileError`.
    public static func url(dataFolder: String) throws -> String {
        let path = dataFolder + "/" + fileName
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard opened >= 0 else {
            guard errno == ENOENT else { throw FileError(path: path, action: "open", code: errno) }
            throw missing(dataFolder)
        }
        let descriptor = FileDescriptorBox(opened)
        defer { descriptor.close() }
        guard !descriptor.lock(LOCK_SH | LOCK_NB) else { throw OperatorPlaceError.noServer(folder: dataFolder) }
        guard errno == EWOULDBLOCK else { throw FileError(path: path, action: "lock", code: errno) }
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        let count = pread(opened, &bytes, bytes.count, 0)
        guard count >= 0 else { throw FileError(path: path, action: "read", code: errno) }
        let line = bytes.prefix(count).prefix { $0 != 0x0A }
        guard line.count < count, let url = String(validating: line, as: UTF8.self) else {
            throw OperatorPlaceError.noServer(folder: dataFolder)
        }
        return url
    }

    private static func missing(_ folder: String) -> OperatorPlaceError {
        guard let process = DataFolderLock.processID(in: folder), kill(process, 0) == 0 || errno == EPERM else {
            return .noServer(folder: folder)
        }
        return .noListener(folder: folder, processID: process)
    }
}

public enum OperatorPlaceError: Error, Equatable, CustomStringConvertible {
    case noServer(folder: String)
    /// A server runs there, as far as its process tells, and has no operator's listener.
    case noListener(folder: String, processID: Int32)

    public var description: String {
        switch self {
        case .noServer(let folder): "no server with an operator's listener runs on the data folder \(folder)"
        case .noListener(let folder, let process):
            "the server on the data folder \(folder) (process \(process)) has no operator's listener"
        }
    }
}
