import SealStatements

/// A zone of records: the unit of sharing, of atomic commits and of change feeds. CloudKit's `CKRecordZone`.
public struct RecordZone: Sendable, Hashable {
    /// A zone's name and its owner.
    public struct ID: Sendable, Hashable, Codable, CustomStringConvertible {
        /// Stands for the account that asks.
        public static let currentUser = "__defaultOwner__"

        /// 1 to 255 printable ASCII characters.
        public let zoneName: String
        /// The owner's user record name; `currentUser` for one's own zones.
        public let ownerName: String

        /// - Parameters:
        ///   - zoneName: the default zone's unless it is given.
        ///   - ownerName: the owner's user record name; whoever is signed in unless it is given.
        public init(zoneName: String = RecordZone.defaultName, ownerName: String = ID.currentUser) {
            self.zoneName = zoneName
            self.ownerName = ownerName
        }

        /// The default zone of whoever is signed in.
        public static let `default` = ID()
        var isCurrentUsers: Bool { ownerName == ID.currentUser }
        public var description: String { isCurrentUsers ? zoneName : "\(ownerName)/\(zoneName)" }
    }

    /// What a zone can do.
    public struct Capabilities: OptionSet, Sendable, Hashable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// It has a feed of changes.
        public static let fetchChanges = Capabilities(rawValue: 1)
        /// All of a batch is saved in it, or nothing.
        public static let atomic = Capabilities(rawValue: 2)
        /// Records in it can be shared with what is below them.
        public static let sharing = Capabilities(rawValue: 4)
        /// It can be shared as a whole.
        public static let zoneWideSharing = Capabilities(rawValue: 8)
    }

    /// How the zone's records are encrypted, chosen when it is made: CloudKit's, with its raw values.
    public enum EncryptionScope: Int, Sendable, Hashable {
        /// Records may be shared by themselves, with those below them, each such share under keys of its own.
        case perRecord = 0
        /// All of the zone is under the zone's own keys. It is shared as a whole or not at all: a share of one of its
        /// records is refused.
        case perZone = 1

        init(_ scope: SealStatements.EncryptionScope) { self = scope == .perZone ? .perZone : .perRecord }

        var inRoster: SealStatements.EncryptionScope { self == .perZone ? .perZone : .perRecord }
    }

    /// The name of the zone that every private database has.
    public static let defaultName = Names.defaultZone

    /// Its name and its owner.
    public let zoneID: ID
    /// What a new zone is made with, and what one that was fetched was made with, by its owner's signature. It cannot
    /// be changed.
    public var encryptionScope = EncryptionScope.perRecord
    /// Set by the server once the zone is saved.
    public internal(set) var capabilities: Capabilities = []
    /// Somebody beside the owner is in the zone's share, is invited to it, or may join it by its URL.
    public internal(set) var isShared = false
    /// The record of the share of the zone as a whole (`Database.share(for:)`), also where nobody is in it yet; nil
    /// where there is none, and for one that was not fetched.
    public internal(set) var share: Record.Reference?

    /// Which life of its name this is: higher each time that the zone was deleted and made again. By its owner's
    /// signature; nil for one that was not fetched.
    public internal(set) var incarnation: UInt32?

    /// - Parameter zoneID: its name and its owner.
    public init(zoneID: ID) { self.zoneID = zoneID }
    /// - Parameter zoneName: 1 to 255 printable ASCII characters; whoever is signed in owns it.
    public init(zoneName: String) { self.init(zoneID: ID(zoneName: zoneName)) }
    /// The zone that every private database has, without sharing, atomic saves and change feeds' promises.
    public static func `default`() -> RecordZone { RecordZone(zoneID: .default) }
}
