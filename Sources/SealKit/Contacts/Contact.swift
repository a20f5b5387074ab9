public import Foundation
import SealPrimitives
import SealStatements

/// Somebody whose keys this device has seen: in a share, looked up to be invited, or as an author in the public
/// database.
public struct Contact: Sendable {
    /// In this container; another one has another name for the same person.
    public let userRecordID: Record.ID
    /// What the user calls the person (``Contacts/setName(_:for:)``); nil without a name.
    public let name: String?
    /// When this device saw the person's first keys.
    public let firstSeen: Date
    /// How often the person has replaced its keys.
    public let generation: Int
    /// The user has compared the safety number, and the keys are still those.
    public let isVerified: Bool
    /// When newer keys were seen, each signed by the one before, that the user has taken no note of yet. They count;
    /// but whoever had the old key could have made them, so compare again.
    public let keysChanged: Date?
    /// What to compare, by voice or on paper: twelve groups of five digits, the same on both sides.
    public let safetyNumber: [String]
    /// Other keys that were shown under this name. Whatever they came with is refused until the user accepts them.
    public let conflict: Conflict?

    /// Keys that were shown under somebody's name and do not follow from those that are known.
    public struct Conflict: Sendable, Hashable {
        /// When they were shown, by this device's clock.
        public let seen: Date
        /// With the other keys.
        public let safetyNumber: [String]
    }

    /// Something that the user should look at.
    public var needsAttention: Bool { keysChanged != nil || conflict != nil }

    /// Whether these are the safety number's digits, however they are grouped.
    public func matches(_ digits: String) -> Bool {
        let typed = digits.filter { !$0.isWhitespace && $0 != "-" }
        return typed == safetyNumber.joined()
    }

    let row: TrustStore.ContactRow

    init(_ user: UserID, _ row: TrustStore.ContactRow, own: IdentityChain, _ names: LocalNames) throws(SealKitError) {
        let container = own.current.container
        let chain = try ContactBook.chain(row.chain, container: container)
        userRecordID = Record.ID(recordName: user.recordName)
        name = names[userRecordID]
        firstSeen = Date(microseconds: row.firstSeen)
        generation = Int(chain.current.generation)
        isVerified = row.verified == Data(chain.hash.bytes)
        keysChanged = row.changed.map { Date(microseconds: $0) }
        safetyNumber = SafetyNumber.groups(of: own, chain)
        var found: Conflict?
        if let refused = row.refused, let time = row.refusedAt {
            let other = try ContactBook.chain(refused, container: container)
            found = Conflict(seen: Date(microseconds: time), safetyNumber: SafetyNumber.groups(of: own, other))
        }
        conflict = found
        self.row = row
    }
}

extension Contact: CustomStringConvertible, CustomReflectable {
    public var description: String { "Contact(\(userRecordID.recordName)\(isVerified ? ", verified" : ""))" }
    public var customMirror: Mirror {
        Mirror(self, children: ["userRecordID": userRecordID, "isVerified": isVerified], displayStyle: .struct)
    }
}
