public import Foundation
import SealKit

/// A file that belongs to a record.
public final class CKAsset: NSObject, NSSecureCoding, Sendable {
    let asset: SealKit.Asset

    /// - Parameter fileURL: of the file that is uploaded when the record is saved. It has to be there until then.
    public init(fileURL: URL) { asset = SealKit.Asset(fileURL: fileURL) }

    init(_ asset: SealKit.Asset) { self.asset = asset }

    /// Of an asset that was fetched, a file in SealKit's temporary folder, which is there as long as somebody refers to
    /// the asset or its record: move it away to keep it. Nil where its content was not fetched.
    public var fileURL: URL? { asset.fileURL }

    public static var supportsSecureCoding: Bool { true }

    /// Of the file that it was made from.
    public required convenience init?(coder: NSCoder) {
        guard let path = coder.text("Path") else { return nil }
        self.init(fileURL: URL(fileURLWithPath: path))
    }

    /// The path, and no bytes: an asset whose content was not fetched is nothing when it is read again.
    public func encode(with coder: NSCoder) {
        if let fileURL { coder.encode(NSString(string: fileURL.path), forKey: "Path") }
    }
}
