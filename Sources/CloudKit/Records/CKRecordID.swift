public import Foundation
import SealKit

/// A record's name and its zone: `CKRecord.ID`.
// Foundation archives no class that is declared in another one.
public final class CKRecordID: NSObject, NSSecureCoding, NSCopying, Sendable {
    let sealed: SealKit.Record.ID
    public let zoneID: CKRecordZone.ID

    public var recordName: String { sealed.recordName }

    /// - Parameters:
    ///   - recordName: 1 to 255 printable ASCII characters, unique in the zone. Another one is `invalidArguments` where
    ///     it is used.
    ///   - zoneID: the default zone where none is named.
    public init(recordName: String = UUID().uuidString, zoneID: CKRecordZone.ID = .default) {
        sealed = SealKit.Record.ID(recordName: recordName, zoneID: zoneID.sealed)
        self.zoneID = zoneID
    }

    init(_ sealed: SealKit.Record.ID) {
        self.sealed = sealed
        zoneID = sealed.zoneID == .default ? .default : CKRecordZoneID(sealed.zoneID)
    }

    /// - Parameter zoneID: the record's zone, as an object that is there already.
    init(_ sealed: SealKit.Record.ID, in zoneID: CKRecordZoneID) {
        self.sealed = sealed
        self.zoneID = zoneID
    }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let name = coder.text("RecordName"), let zoneID = CKRecordZoneID(coder: coder) else { return nil }
        sealed = SealKit.Record.ID(recordName: name, zoneID: zoneID.sealed)
        self.zoneID = zoneID
    }

    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: recordName), forKey: "RecordName")
        zoneID.encode(with: coder)
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKRecordID)?.sealed == sealed }
    public override var hash: Int { sealed.hashValue }
    public override var description: String { "<CKRecordID: recordName=\(recordName), zoneID=\(zoneID)>" }
}
