import Foundation
import SealKit

/// A file that is named on the command line.
enum GivenFile {
    /// Read to its end by a descriptor: a shell's `<(…)` is a pipe, whose size says nothing of what is in it.
    /// - Returns: nil where there is no file to read.
    static func contents(of path: String) throws(SealKitError) -> Data? {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        defer { close(opened) }
        var about = stat()
        guard fstat(opened, &about) == 0, about.st_mode & S_IFMT != S_IFDIR else { return nil }
        return try Interruption.readAll(opened)
    }
}
