public import Foundation
import SealEnvelope
import SealStatements

/// A file that belongs to a record: CloudKit's `CKAsset`. Its bytes are sealed on this device, except in the public
/// database, where they are hashed and signed.
public struct Asset: Sendable {
    /// A local file: of a new asset the file to upload, of a fetched one a copy in the SDK's temporary folder
    /// (``TemporaryAssets``), which stays there as long as this value does, and which you may move. Nil for a fetched
    /// asset that was not downloaded.
    public internal(set) var fileURL: URL?
    private var hold: AssetCache.Hold?
    /// Where the stored bytes are, and what opens or at least checks them; nil until the asset is saved.
    var remote: Remote?

    struct Remote: Sendable {
        enum Content: Sendable {
            case sealed(SealedAsset)
            case plain(PublicAsset)
        }

        let content: Content
        let blob: String
        /// The field that the sealed bytes belong to: in another one they have to be sealed and sent again.
        let recordID: Record.ID
        let key: String
        /// Who signed for these bytes, where that was read and not written here.
        var author: UserID?

        var sealed: SealedAsset? { if case .sealed(let asset) = content { asset } else { nil } }
        var plain: PublicAsset? { if case .plain(let asset) = content { asset } else { nil } }
    }

    /// Bytes of a saved or fetched asset.
    public var size: UInt64? { remote?.sealed?.size ?? remote?.plain?.size }

    /// Whether its bytes are, or will be, sealed: a saved asset of the public database is not.
    public var isSealed: Bool { remote?.plain == nil }

    /// Whether its bytes are stored for this very field: else they have to be sent.
    func isStored(as key: String, of recordID: Record.ID, in scope: Database.Scope) -> Bool {
        guard let remote else { return false }
        return remote.recordID == recordID && remote.key == key && (remote.plain != nil) == (scope == .public)
    }

    /// - Parameter fileURL: of a file on this device, which stays as it is until a save that has it returns.
    public init(fileURL: URL) { self.fileURL = fileURL }

    init(remote: Remote) { self.remote = remote }

    /// It has come: the file stays where it is as long as this value or a copy of it does.
    mutating func isHeld(by hold: AssetCache.Hold) {
        self.hold = hold
        fileURL = hold.url
    }
}

extension Asset: CustomStringConvertible {
    public var description: String { "Asset(\(fileURL?.lastPathComponent ?? "not downloaded"))" }
}
