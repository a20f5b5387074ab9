public import Foundation
import SealKit

/// The name of the zone that every database has.
public let CKRecordZoneDefaultName = "_defaultZone"

/// A zone of records.
public final class CKRecordZone: NSObject, NSSecureCoding, NSCopying, Sendable {
    public typealias ID = CKRecordZoneID

    /// What a zone can do; empty until it is saved.
    public struct Capabilities: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let fetchChanges = Capabilities(rawValue: 1)
        public static let atomic = Capabilities(rawValue: 2)
        public static let sharing = Capabilities(rawValue: 4)
        public static let zoneWideSharing = Capabilities(rawValue: 8)
    }

    /// How the records of a zone are encrypted, chosen when it is made.
    public enum EncryptionScope: Int, Sendable {
        case perRecord = 0
        case perZone = 1
    }

    private let content: Content

    private struct Content {
        let zone: SealKit.RecordZone
        let zoneID: CKRecordZoneID
        let scope: Shared<EncryptionScope>
    }

    public var zoneID: CKRecordZone.ID { content.zoneID }
    public var capabilities: Capabilities { Capabilities(rawValue: UInt(content.zone.capabilities.rawValue)) }

    /// The zone's own share; nil where there is none, for a zone that was not fetched, and while nobody is in the
    /// share, invited to it, or let in by its URL: then it cannot be told from one that has ended, and saving
    /// `CKShare(recordZoneID:)` goes on with it.
    public var share: CKRecord.Reference? {
        guard content.zone.isShared, let share = content.zone.share else { return nil }
        return CKRecordReference(recordID: CKRecordID(recordName: share.recordName, zoneID: zoneID), action: .none)
    }

    /// Of a new zone, what it is to be made with. A zone that is there keeps what it was made with.
    public var encryptionScope: EncryptionScope {
        get { content.scope.value }
        set { content.scope.value = newValue }
    }

    public convenience init(zoneName: String) { self.init(zoneID: CKRecordZoneID(zoneName: zoneName)) }

    public convenience init(zoneID: CKRecordZone.ID) { self.init(SealKit.RecordZone(zoneID: zoneID.sealed)) }

    init(_ zone: SealKit.RecordZone) {
        content = Content(
            zone: zone, zoneID: CKRecordZoneID(zone.zoneID),
            scope: Shared(zone.encryptionScope == .perZone ? .perZone : .perRecord))
    }

    public static func `default`() -> CKRecordZone { CKRecordZone(.default()) }

    /// What is sent.
    var sealed: SealKit.RecordZone {
        var zone = content.zone
        zone.encryptionScope = encryptionScope == .perZone ? .perZone : .perRecord
        return zone
    }

    public static var supportsSecureCoding: Bool { true }

    /// Name, owner and encryption: what a server says of a zone comes with the next fetch.
    public required convenience init?(coder: NSCoder) {
        guard let zoneID = CKRecordZoneID(coder: coder) else { return nil }
        self.init(zoneID: zoneID)
        guard let scope = EncryptionScope(rawValue: coder.decodeInteger(forKey: "EncryptionScope")) else { return nil }
        encryptionScope = scope
    }

    public func encode(with coder: NSCoder) {
        zoneID.encode(with: coder)
        coder.encode(encryptionScope.rawValue, forKey: "EncryptionScope")
    }

    public func copy(with zone: NSZone? = nil) -> Any { CKRecordZone(sealed) }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKRecordZone)?.zoneID == zoneID }
    public override var hash: Int { zoneID.hash }
    public override var description: String { "<CKRecordZone: \(zoneID)>" }
}
