import Foundation

/// A folder of this process's own, mode 0700, that goes with the last reference to it.
final class TestFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-testing-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { remove() }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
