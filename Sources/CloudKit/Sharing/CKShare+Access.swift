public import Foundation
import SealKit

extension CKShare {
    public typealias AccessRequester = CKShareAccessRequester
    public typealias BlockedIdentity = CKShareBlockedIdentity
}

/// Somebody who asked for access: `CKShare.AccessRequester`.
// Foundation archives no class that is declared in another one.
public final class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying, Sendable {
    let sealed: SealKit.Share.AccessRequester

    init(_ sealed: SealKit.Share.AccessRequester) { self.sealed = sealed }

    public var userIdentity: CKUserIdentity { CKUserIdentity(sealed.userIdentity, contact: sealed.contact) }
    /// What to fetch a participant with, to approve: add it, and save the share.
    public var participantLookupInfo: CKUserIdentity.LookupInfo { .init(sealed.participantLookupInfo) }
    /// What somebody says of itself, for people to read: nobody has verified it. Empty for administrators. Where
    /// CloudKit has a contact of the address book.
    public var contact: String { sealed.contact }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let data = coder.bytes("Requester"),
            let read = (try? JSONDecoder().decode(ArchivedRequester.self, from: data))?.sealed
        else { return nil }
        sealed = read
    }

    public func encode(with coder: NSCoder) {
        guard let data = try? JSONEncoder().encode(ArchivedRequester(sealed)) else { return }
        coder.encode(NSData(data: data), forKey: "Requester")
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareAccessRequester)?.participantLookupInfo == participantLookupInfo
    }

    public override var hash: Int { participantLookupInfo.hash }
    /// Without the contact.
    public override var description: String { "<CKShareAccessRequester: \(userIdentity)>" }
}

/// Somebody who can neither join a share nor ask for access: `CKShare.BlockedIdentity`.
// Foundation archives no class that is declared in another one.
public final class CKShareBlockedIdentity: NSObject, NSSecureCoding, NSCopying, Sendable {
    let sealed: SealKit.Share.BlockedIdentity

    init(_ sealed: SealKit.Share.BlockedIdentity) { self.sealed = sealed }

    public var userIdentity: CKUserIdentity { CKUserIdentity(userRecordID: CKRecordID(sealed.userRecordID)) }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let name = coder.text("UserRecordName"), let read = SealKit.Share.BlockedIdentity(userRecordName: name)
        else { return nil }
        sealed = read
    }

    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: sealed.userRecordID.recordName), forKey: "UserRecordName")
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKShareBlockedIdentity)?.sealed == sealed }
    public override var hash: Int { sealed.hashValue }
    public override var description: String { "<CKShareBlockedIdentity: \(sealed.userRecordID.recordName)>" }
}
