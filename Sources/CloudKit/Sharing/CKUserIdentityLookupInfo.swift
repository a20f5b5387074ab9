public import Foundation
import SealKit

/// What somebody is looked up by: `CKUserIdentity.LookupInfo`.
// Foundation archives no class that is declared in another one.
public final class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, Sendable {
    let sealed: SealKit.Share.LookupInfo

    public var emailAddress: String? { if case .emailAddress(let address) = sealed { address } else { nil } }
    /// `+` and the digits.
    public var phoneNumber: String? { if case .phoneNumber(let number) = sealed { number } else { nil } }
    public var userRecordID: CKRecord.ID? {
        if case .userRecordName(let name) = sealed { CKRecordID(recordName: name) } else { nil }
    }

    init(_ sealed: SealKit.Share.LookupInfo) { self.sealed = sealed }

    public convenience init(emailAddress: String) { self.init(.emailAddress(emailAddress)) }
    public convenience init(phoneNumber: String) { self.init(.phoneNumber(phoneNumber)) }
    public convenience init(userRecordID: CKRecord.ID) { self.init(.userRecordName(userRecordID.recordName)) }

    public static func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
        emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    public static func lookupInfos(withPhoneNumbers phoneNumbers: [String]) -> [CKUserIdentity.LookupInfo] {
        phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    public static func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
        recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    private static let keys = (email: "EmailAddress", phone: "PhoneNumber", user: "UserRecordName")

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        if let address = coder.text(Self.keys.email) {
            sealed = .emailAddress(address)
        } else if let number = coder.text(Self.keys.phone) {
            sealed = .phoneNumber(number)
        } else if let name = coder.text(Self.keys.user) {
            sealed = .userRecordName(name)
        } else {
            return nil
        }
    }

    public func encode(with coder: NSCoder) {
        switch sealed {
        case .emailAddress(let address): coder.encode(NSString(string: address), forKey: Self.keys.email)
        case .phoneNumber(let number): coder.encode(NSString(string: number), forKey: Self.keys.phone)
        case .userRecordName(let name): coder.encode(NSString(string: name), forKey: Self.keys.user)
        }
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKUserIdentityLookupInfo)?.sealed == sealed }
    public override var hash: Int { sealed.hashValue }

    /// Without the address.
    public override var description: String { "<CKUserIdentityLookupInfo>" }
}
