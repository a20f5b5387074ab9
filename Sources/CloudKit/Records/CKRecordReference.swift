public import Foundation

/// What becomes of a record when the one that it refers to is deleted: `CKRecord.Reference.Action`.
public enum CKRecordReferenceAction: UInt, Sendable {
    /// Nothing.
    case none = 0
    /// It is deleted as well.
    case deleteSelf = 1
}

@available(*, deprecated, renamed: "CKRecord.ReferenceAction")
public typealias CKRecord_Reference_Action = CKRecordReferenceAction

/// A reference to a record of the same zone, which need not be there: `CKRecord.Reference`.
// Foundation archives no class that is declared in another one.
public final class CKRecordReference: NSObject, NSSecureCoding, NSCopying, Sendable {
    public typealias Action = CKRecordReferenceAction

    public let recordID: CKRecord.ID
    public let action: Action

    /// - Parameters:
    ///   - recordID: of a record in the zone of the one that gets the reference: else saving that is
    ///     `invalidArguments`.
    ///   - action: what becomes of the record that has the reference when the target is deleted.
    public init(recordID: CKRecord.ID, action: Action) {
        self.recordID = recordID
        self.action = action
    }

    public convenience init(record: CKRecord, action: Action) {
        self.init(recordID: record.recordID, action: action)
    }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let recordID = CKRecordID(coder: coder),
            let action = Action(rawValue: UInt(bitPattern: coder.decodeInteger(forKey: "ReferenceAction")))
        else { return nil }
        self.recordID = recordID
        self.action = action
    }

    public func encode(with coder: NSCoder) {
        recordID.encode(with: coder)
        coder.encode(Int(bitPattern: action.rawValue), forKey: "ReferenceAction")
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordReference else { return false }
        return other.recordID == recordID && other.action == action
    }

    public override var hash: Int { recordID.hash }
    public override var description: String { "<CKReference: \(recordID), action \(action)>" }
}
