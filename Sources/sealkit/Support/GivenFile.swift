import Foundation
import SealKit
import SealSystem

/// A file that is named on the command line.
enum GivenFile {
    /// More than anything has that is read as a whole, a web client too.
    static let mostBytes = 64 << 20

    /// Read to its end by a descriptor: a shell's `<(…)` is a pipe, whose size says nothing of what is in it.
    /// - Returns: nil where there is no file to read.
    /// - Throws: `limitExceeded` for one that has more bytes than `most`.
    static func contents(of path: String, atMost most: Int = mostBytes) throws(SealKitError) -> Data? {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        defer { close(opened) }
        guard FileStatus(descriptor: opened)?.isFolder == false else { return nil }
        return try Interruption.readAll(opened, path, atMost: most)
    }

    /// A file's first line: a password, or a token.
    /// - Parameters:
    ///   - path: nil where none was named.
    ///   - what: is in it, as the error says where there is none.
    /// - Throws: `Failure.Local`, `SealKitError`.
    static func secret(in path: String?, _ what: String) throws -> String? {
        guard let path else { return nil }
        guard let data = try contents(of: path) else {
            throw Failure.Local(status: .badInput, reason: "there is no \(what) file to read at \(path)")
        }
        // Mended, it would be another secret than the file has.
        guard let text = String(validating: data.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self) else {
            throw Failure.Local(status: .badInput, reason: "the \(what) file at \(path) is not UTF-8 text")
        }
        return text
    }
}
