public import Foundation
import SealKit

/// The name of a zone's owner that stands for whoever asks.
public let CKCurrentUserDefaultName = "__defaultOwner__"
/// The name of a zone's owner that stands for whoever asks: the older word.
public let CKOwnerDefaultName = CKCurrentUserDefaultName

/// A zone's name and its owner's: `CKRecordZone.ID`.
// Foundation archives no class that is declared in another one.
public final class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, Sendable {
    let sealed: SealKit.RecordZone.ID

    public var zoneName: String { sealed.zoneName }
    /// `CKCurrentUserDefaultName` in one's own private database.
    public var ownerName: String { sealed.ownerName }

    /// - Parameters:
    ///   - zoneName: 1 to 255 printable ASCII characters. Another one is `invalidArguments` where it is used.
    ///   - ownerName: the owner's user record name.
    public init(zoneName: String = CKRecordZone.ID.defaultZoneName, ownerName: String = CKCurrentUserDefaultName) {
        sealed = SealKit.RecordZone.ID(zoneName: zoneName, ownerName: ownerName)
    }

    @available(*, deprecated, message: "name the owner, or leave it out")
    @_disfavoredOverload
    public convenience init(zoneName: String, ownerName: String?) {
        self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    init(_ sealed: SealKit.RecordZone.ID) { self.sealed = sealed }

    public static let `default` = CKRecordZoneID(.default)
    public static let defaultZoneName = "_defaultZone"

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let zone = coder.text("ZoneName"), let owner = coder.text("OwnerName") else { return nil }
        sealed = SealKit.RecordZone.ID(zoneName: zone, ownerName: owner)
    }

    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: zoneName), forKey: "ZoneName")
        coder.encode(NSString(string: ownerName), forKey: "OwnerName")
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKRecordZoneID)?.sealed == sealed }
    public override var hash: Int { sealed.hashValue }
    public override var description: String { "<CKRecordZoneID: \(zoneName):\(ownerName)>" }
}
