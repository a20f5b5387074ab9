public import Foundation
import SealPrimitives
import SealStatements

/// What a device can say about everything that this account sees in a container: `Container.audit()`.
public struct Audit: Sendable {
    /// One scope of keys: a zone, or a hierarchy of records in it that is shared by itself.
    public struct Scope: Sendable {
        /// The zone, or the one that the hierarchy is in.
        public let zoneID: RecordZone.ID
        /// Of a shared hierarchy; nil for the zone itself.
        public let shareRecordName: String?
        /// Entries of the signed roster, replayed from the first one.
        public let entryCount: Int
        /// The newest entry's hash, hexadecimal: the same on every device of every member that is as far.
        public let head: String
        /// Branches of the roster that its owner has given up.
        public let abandonedForks: Int
        /// How many people the roster has, the owner among them.
        public let memberCount: Int
        /// How many invitations are open.
        public let invitationCount: Int
        /// Which keys there are, and which are in use.
        public let keys: RecordZone.KeyStatus
        /// Keys that this account holds, of `keys.newestEpoch + 1`.
        public let heldEpochs: Int
        /// Keys whose grant to this account does not open, though the roster commits to it: whoever opened them gave
        /// out bad ones. An owner or administrator opens another one (`rotateKeys(of:)`), and seals again under that
        /// what is there (`rekey(_:)`); once nothing is under a bad key any more it does no harm, and stays on the
        /// record.
        public let badGrants: [Int]
        /// Who opened the keys of `badGrants`, in their order.
        public let badGrantAuthors: [Record.ID]
        /// Keys from the oldest in use on that this account was not given.
        let missingKeys: [Int]
        /// Members and invitations that the newest key was not given to, by user name or invitation id. The rules allow
        /// none.
        public let uncovered: [String]

        var isSound: Bool { uncovered.isEmpty && missingKeys.isEmpty }
    }

    /// A late record (`LateRecord`) that the user has accepted.
    public struct Acceptance: Sendable, Hashable {
        /// The zone of the record.
        public let zoneID: RecordZone.ID
        /// The record's name in the zone.
        public let recordName: String
        /// Who signed it.
        public let authorUserRecordID: Record.ID
        /// When this device's user accepted it, by its clock.
        public let accepted: Date
    }

    /// Something that could not be checked, or did not hold when it was.
    public struct Failure: Sendable {
        /// nil for what concerns all of the account.
        public let zoneID: RecordZone.ID?
        /// Why it could not be checked.
        public let error: SealKitError
    }

    /// What an audit comes to.
    public enum Outcome: Sendable {
        /// All was checked, and all holds.
        case clean
        /// Something does not hold, now or earlier (`violations`).
        case violated
        /// Nothing was found, but not all could be checked.
        case incomplete
        /// All was checked, and all holds; but there is a device that nobody has acknowledged (`newDevices`).
        case unacknowledged
    }

    /// Every zone and shared hierarchy that was looked at.
    public internal(set) var scopes: [Scope] = []
    /// Whose keys this device knows, and which were compared.
    public internal(set) var contacts: [Contact] = []
    /// What did not verify since they were last forgotten, this audit included.
    public internal(set) var violations: [Violation] = []
    /// Devices of the account that this one had not seen before, until the user has acknowledged them.
    public internal(set) var newDevices: [Device] = []
    /// What could not be checked, and why.
    public internal(set) var failures: [Failure] = []
    /// What the user has taken over though this device could not tell whether it was written in time, oldest first. It
    /// is no fault.
    public internal(set) var acceptances: [Acceptance] = []

    /// What all of it comes to: the gravest of what was found.
    public var outcome: Outcome {
        if !violations.isEmpty || contacts.contains(where: { $0.conflict != nil })
            || scopes.contains(where: { !$0.isSound })
            || failures.contains(where: \.error.isViolation)
        {
            return .violated
        }
        guard failures.isEmpty else { return .incomplete }
        return newDevices.isEmpty ? .clean : .unacknowledged
    }
}
