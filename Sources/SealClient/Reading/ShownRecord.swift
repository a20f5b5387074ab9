package import SealPrimitives
public import SealStatements

/// A record as an answer shows it, by whichever reader of messages: nothing of it is believed yet, and nothing of it is
/// decoded before it is asked for. For this package's targets alone: messages are no part of what apps see.
package protocol ShownRecord {
    var recordName: String { get }
    var recordType: String { get }
    // The server's word: what nobody signs.
    var changeTag: String { get }
    var creationDate: Int64 { get }
    var modificationDate: Int64 { get }
    /// It is said to be gone.
    var deleted: Bool { get }
    /// It is said to have left the scope that the reader sees.
    var departed: Bool { get }
    /// It is said to have gone with the target of a reference.
    var isDerived: Bool { get }
    var hasFields: Bool { get }
    var statementBytes: [UInt8] { get }

    /// Of the statement's bytes where they lie.
    func withStatementBytes(_ body: (UnsafeRawBufferPointer) -> UInt64) -> UInt64

    /// - Throws: `malformed` for a path that is none.
    func statementProof() throws(SealError) -> StatementProof

    /// - Throws: `malformed` and others for what is no field.
    func shownFields() throws(SealError) -> [ShownField]

    /// What brought the record into its scope; nil where that did not come along.
    func shownMove() throws(SealError) -> ShownStatement?

    /// The deletion of the target that the record is said to have gone with.
    func shownTombstone() throws(SealError) -> ShownStatement

    /// What is said of how it went, both of whose statements are verified.
    func notice(of record: VerifiedStatement, tombstone: VerifiedStatement) throws(SealError) -> DerivedDeletion
}

/// A record that is said to go along with a deletion.
package protocol ShownTakenRecord {
    associatedtype Shown: ShownRecord
    var shownRecord: Shown { get }

    /// The reference by which it goes.
    /// - Parameter record: its statement, verified.
    /// - Throws: `invalidNotice` where the reference is missing; decoding errors.
    func taken(record: VerifiedStatement) throws(SealError) -> TakenRecord
}

/// What an answer shows under a name that was asked for.
package protocol ShownResult {
    associatedtype Shown: ShownRecord
    /// The record as it is, or what made it go, which comes beside the word that there is none.
    var shown: Shown? { get }
    /// Why nothing is shown; nil where that is not said either.
    var failureCode: String? { get }
}

/// What an answer says of a record that was sent to be saved or deleted.
package protocol ShownWriteResult: ShownResult {
    /// The name of the record that it says is stored; nil where it says something else.
    var storedName: String? { get }
    /// What the server has instead.
    var serverShown: Shown? { get }
    var dependents: [String] { get }
}

extension ShownResult {
    /// The answer had no room for it.
    package var isLeftOut: Bool { shown == nil && failureCode == Absence.leftOut }
}

/// An answer that shows nothing under a name that was asked for.
public enum Absence {
    fileprivate static let leftOut = "limitExceeded"

    /// Whether it says that there is no such record, or nothing at all. Of a record that was seen that is refused
    /// (R-SEEN-10, `RecordJudge.memory`): its end is shown with the statement that made it.
    /// - Parameter failureCode: why nothing is shown; nil where that is not said either.
    public static func isSaid(by failureCode: String?) -> Bool {
        switch failureCode {
        case nil, "unknownItem", "zoneNotFound", "userDeletedZone": true
        default: false
        }
    }
}

/// A statement as it travels.
public struct ShownStatement: Sendable {
    public let bytes: [UInt8]
    public let proof: StatementProof

    public init(bytes: [UInt8], proof: StatementProof) { (self.bytes, self.proof) = (bytes, proof) }
}

public struct ShownField: Sendable {
    public let name: String
    public let field: WireField

    public init(name: String, field: WireField) { (self.name, self.field) = (name, field) }
}
