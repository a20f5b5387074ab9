public import Foundation
import SealKit

/// Who somebody is, as far as it may be known.
public final class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, Sendable {
    public typealias LookupInfo = CKUserIdentityLookupInfo

    /// Nil for somebody without an account in this container, and for whoever is to claim a one-time URL.
    public let userRecordID: CKRecord.ID?
    /// What this person was looked up by; of others it is known to the share's owner and administrators only.
    public let lookupInfo: LookupInfo?
    /// The user has compared this person's safety number on this device, and the keys are still those. Not CloudKit's.
    public let isVerified: Bool
    /// What somebody who asks for access says of itself.
    let contact: String

    /// There is an account, whose keys are known.
    public var hasiCloudAccount: Bool { userRecordID != nil }

    /// Names are nobody's here but whoever asks for access says its own, which nobody has verified.
    public var nameComponents: PersonNameComponents? {
        guard !contact.isEmpty else { return nil }
        var components = PersonNameComponents()
        components.givenName = contact
        return components
    }

    /// There is no address book here.
    public var contactIdentifiers: [String] { [] }

    init(_ identity: SealKit.Share.UserIdentity, contact: String = "") {
        userRecordID = identity.userRecordID.map { CKRecordID($0) }
        lookupInfo = identity.lookupInfo.map { LookupInfo($0) }
        isVerified = identity.isVerified
        self.contact = contact
    }

    init(userRecordID: CKRecord.ID) {
        self.userRecordID = userRecordID
        lookupInfo = LookupInfo(userRecordID: userRecordID)
        isVerified = false
        contact = ""
    }

    public static var supportsSecureCoding: Bool { true }

    /// Whether this person was verified is told by what is fetched, and by no archive.
    public required init?(coder: NSCoder) {
        userRecordID = coder.containsValue(forKey: "RecordName") ? CKRecordID(coder: coder) : nil
        lookupInfo = LookupInfo(coder: coder)
        contact = coder.text("Contact") ?? ""
        isVerified = false
    }

    public func encode(with coder: NSCoder) {
        userRecordID?.encode(with: coder)
        lookupInfo?.encode(with: coder)
        coder.encode(NSString(string: contact), forKey: "Contact")
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKUserIdentity else { return false }
        return other.userRecordID == userRecordID && other.lookupInfo == lookupInfo
    }

    public override var hash: Int { userRecordID?.hash ?? lookupInfo?.hash ?? 0 }

    /// Without address and contact.
    public override var description: String { "<CKUserIdentity: \(userRecordID?.recordName ?? "unknown")>" }
}
