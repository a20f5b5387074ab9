import SealStatements

/// A zone of records: the unit of sharing, of atomic commits and of change feeds. CloudKit's `CKRecordZone`.
public struct RecordZone: Sendable, Hashable {
    public struct ID: Sendable, Hashable, Codable, CustomStringConvertible {
        /// Stands for the account that asks.
        public static let currentUser = "__defaultOwner__"

        public let zoneName: String
        /// The owner's user record name; `currentUser` for one's own zones.
        public let ownerName: String

        public init(zoneName: String = RecordZone.defaultName, ownerName: String = ID.currentUser) {
            self.zoneName = zoneName
            self.ownerName = ownerName
        }

        public static let `default` = ID()
        var isCurrentUsers: Bool { ownerName == ID.currentUser }
        public var description: String { isCurrentUsers ? zoneName : "\(ownerName)/\(zoneName)" }
    }

    public struct Capabilities: OptionSet, Sendable, Hashable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let fetchChanges = Capabilities(rawValue: 1)
        public static let atomic = Capabilities(rawValue: 2)
        public static let sharing = Capabilities(rawValue: 4)
        public static let zoneWideSharing = Capabilities(rawValue: 8)
    }

    public static let defaultName = Names.defaultZone

    public let zoneID: ID
    /// Set by the server once the zone is saved.
    public internal(set) var capabilities: Capabilities = []
    /// Somebody beside the owner is in the zone's share, is invited to it, or may join it by its URL.
    public internal(set) var isShared = false

    public init(zoneID: ID) { self.zoneID = zoneID }
    public init(zoneName: String) { self.init(zoneID: ID(zoneName: zoneName)) }
    /// The zone that every private database has, without sharing, atomic saves and change feeds' promises.
    public static func `default`() -> RecordZone { RecordZone(zoneID: .default) }
}
