import Foundation
import SealSystem

/// What is left on the disk of a folder.
package enum FreeSpace: String, Sendable {
    case ok, low, full

    /// Less than a few large requests need.
    private static let lowBytes: UInt64 = 256 << 20
    /// Less than a commit and its journal may need.
    private static let fullBytes: UInt64 = 8 << 20
    /// What blobs leave to the database: one large upload would keep everybody from writing until it is swept.
    package static let keptFromBlobs = 2 * fullBytes

    /// A folder that is not there counts as one with enough: writing says what is wrong.
    package init(at folder: String) {
        switch freeBytes(at: folder) {
        case .some(..<Self.fullBytes): self = .full
        case .some(..<Self.lowBytes): self = .low
        default: self = .ok
        }
    }

    /// That there is room for a folder which is not there yet: a server that fails at its first write would leave half
    /// of what it makes.
    /// - Throws: `FileError`.
    package static func requireForNew(_ folder: String) throws {
        guard !FileManager.default.fileExists(atPath: folder) else { return }
        var parent = folder.absolutePath.folderAbove
        while parent != "/", !FileManager.default.fileExists(atPath: parent) { parent = parent.folderAbove }
        guard FreeSpace(at: parent) == .full else { return }
        throw FileError(path: folder, action: "make", code: ENOSPC)
    }
}
