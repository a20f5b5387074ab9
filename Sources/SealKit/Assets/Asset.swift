public import Foundation
import SealEnvelope

/// A file that belongs to a record: CloudKit's `CKAsset`. Its bytes are always sealed on this device.
public struct Asset: Sendable {
    /// A local file: of a new asset the file to upload, of a fetched one a copy in the SDK's temporary folder, which you
    /// should move. Nil for a fetched asset that was not downloaded.
    public internal(set) var fileURL: URL?
    /// Where the sealed bytes are, and what opens them; nil until the asset is saved.
    var remote: Remote?

    struct Remote: Sendable {
        let sealed: SealedAsset
        let blob: String
        /// The field that the sealed bytes belong to: in another one they have to be sealed and sent again.
        let recordID: Record.ID
        let key: String
    }

    /// Bytes of a saved or fetched asset.
    public var size: UInt64? { remote?.sealed.size }

    public init(fileURL: URL) { self.fileURL = fileURL }

    init(remote: Remote) { self.remote = remote }
}

extension Asset: CustomStringConvertible {
    public var description: String { "Asset(\(fileURL?.lastPathComponent ?? "not downloaded"))" }
}
