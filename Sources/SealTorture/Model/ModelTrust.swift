import Foundation
import SealKit
import SealLab

/// Where a device keeps what it has verified; it may be set back to an older copy of that, as by a backup of the
/// device.
struct ModelTrust {
    private let folder = Folder()
    private var number = 0
    private var kept: URL?

    init() throws { try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true) }

    func store() throws -> TrustStore { try TrustStore(file: file) }

    private var file: URL { folder.url.appendingPathComponent("trust-\(number)") }

    /// While nobody writes to it.
    mutating func keep() throws {
        let copy = folder.url.appendingPathComponent("kept-\(number)")
        try Self.copy(file, to: copy)
        kept = copy
    }

    /// - Parameter toNothing: or to what was kept last, if anything was.
    mutating func goBack(toNothing: Bool) throws {
        number += 1
        if !toNothing, let kept { try Self.copy(kept, to: file) }
    }

    /// With what SQLite has not yet taken into the file itself.
    private static func copy(_ from: URL, to: URL) throws {
        for suffix in ["", "-wal"] {
            let (source, target) = (from.path + suffix, to.path + suffix)
            if FileManager.default.fileExists(atPath: target) { try FileManager.default.removeItem(atPath: target) }
            guard FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: target)
        }
    }

    private final class Folder: Sendable {
        let url = ServerProcess.temporaryFolder()
        deinit { try? FileManager.default.removeItem(at: url) }
    }
}
