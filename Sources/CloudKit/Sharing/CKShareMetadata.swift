public import Foundation
import SealKit

/// What a share's URL leads to: `CKShare.Metadata`, verified against the URL's secret part.
// Foundation archives no class that is declared in another one.
public final class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// nil for what came out of an archive: it is fetched again before it is accepted.
    let sealed: SealKit.Share.Metadata?
    /// Whole.
    let url: String

    /// As whoever has the URL sees it: title, type and thumbnail, and who is in it.
    public let share: CKShare
    public let containerIdentifier: String
    public let ownerIdentity: CKUserIdentity
    /// The record that is shared with all that has it as parent; nil for a zone's share.
    public let hierarchicalRootRecordID: CKRecord.ID?
    public let participantRole: CKShare.ParticipantRole
    public let participantStatus: CKShare.ParticipantAcceptanceStatus
    public let participantPermission: CKShare.ParticipantPermission
    /// Where it was asked for, and the caller is in the share already: nobody else can read it.
    public let rootRecord: CKRecord?

    /// Of a zone's share, the share's own.
    @available(*, deprecated, renamed: "hierarchicalRootRecordID")
    public var rootRecordID: CKRecord.ID { hierarchicalRootRecordID ?? share.recordID }

    @available(*, deprecated, renamed: "participantRole")
    public var participantType: CKShare.ParticipantType { .init(rawValue: participantRole.rawValue) ?? .privateUser }

    init(_ sealed: SealKit.Share.Metadata, url: String, rootRecord: CKRecord? = nil) {
        self.sealed = sealed
        self.url = url
        self.rootRecord = rootRecord
        share = CKShare(sealed.share)
        containerIdentifier = sealed.containerIdentifier
        ownerIdentity = CKUserIdentity(sealed.ownerIdentity)
        hierarchicalRootRecordID = sealed.hierarchicalRootRecordID.map { CKRecordID($0) }
        participantRole = .init(rawValue: sealed.participantRole.rawValue) ?? .unknown
        participantStatus = .init(rawValue: sealed.participantStatus.rawValue) ?? .unknown
        participantPermission = .init(rawValue: sealed.participantPermission.rawValue) ?? .unknown
    }

    public static var supportsSecureCoding: Bool { true }

    private enum Key {
        static let (url, container, share, owner) = ("URL", "ContainerIdentifier", "MetadataShare", "OwnerIdentity")
        static let (root, role, status) = ("RootRecordID", "ParticipantRole", "ParticipantStatus")
        static let (permission, record) = ("ParticipantPermission", "RootRecord")
    }

    public required init?(coder: NSCoder) {
        guard let url = coder.text(Key.url), let container = coder.text(Key.container),
            let share = coder.object(CKShare.self, Key.share), let owner = coder.object(CKUserIdentity.self, Key.owner),
            let role = CKShare.ParticipantRole(rawValue: coder.decodeInteger(forKey: Key.role)),
            let status = CKShare.ParticipantAcceptanceStatus(rawValue: coder.decodeInteger(forKey: Key.status)),
            let permission = CKShare.ParticipantPermission(rawValue: coder.decodeInteger(forKey: Key.permission))
        else { return nil }
        sealed = nil
        self.url = url
        self.share = share
        containerIdentifier = container
        ownerIdentity = owner
        hierarchicalRootRecordID = coder.object(CKRecordID.self, Key.root)
        participantRole = role
        participantStatus = status
        participantPermission = permission
        rootRecord = coder.object(CKRecord.self, Key.record)
    }

    /// With the URL's secret: keep it where its reader may accept the share.
    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: url), forKey: Key.url)
        coder.encode(NSString(string: containerIdentifier), forKey: Key.container)
        coder.encode(share, forKey: Key.share)
        coder.encode(ownerIdentity, forKey: Key.owner)
        if let hierarchicalRootRecordID { coder.encode(hierarchicalRootRecordID, forKey: Key.root) }
        coder.encode(participantRole.rawValue, forKey: Key.role)
        coder.encode(participantStatus.rawValue, forKey: Key.status)
        coder.encode(participantPermission.rawValue, forKey: Key.permission)
        if let rootRecord { coder.encode(rootRecord, forKey: Key.record) }
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareMetadata else { return false }
        return other.url == url && other.containerIdentifier == containerIdentifier
    }

    public override var hash: Int { url.hashValue }
    /// Without title and URL.
    public override var description: String {
        "<CKShareMetadata: \(share.recordID.recordName) in \(containerIdentifier)>"
    }
}

extension CKShare {
    public typealias Metadata = CKShareMetadata
}
