public import Foundation
import SealKit

/// A file that belongs to a record.
public final class CKAsset: NSObject, Sendable {
    let asset: SealKit.Asset

    /// - Parameter fileURL: of the file that is uploaded when the record is saved. It has to be there until then.
    public init(fileURL: URL) { asset = SealKit.Asset(fileURL: fileURL) }

    init(_ asset: SealKit.Asset) { self.asset = asset }

    /// Of an asset that was fetched, a file in SealKit's temporary folder, which is there as long as somebody refers to
    /// the asset or its record: move it away to keep it. Nil where its content was not fetched.
    public var fileURL: URL? { asset.fileURL }
}
