public import SealPrimitives
public import SealStatements

/// What an answer says of a record, verified: to be held against what was seen of it before.
///
/// An object: it goes through many hands, and a statement is much to copy.
public final class Sighting: Sendable {
    public let statement: Statement
    public let hash: Digest
    /// What brought the record into its scope, by an earlier revision, where that came along.
    public let moved: VerifiedStatement?
    public let role: Role
    /// The statement took the record where this account does not see it.
    public let isDeparture: Bool
    /// Of a departure by a key that the owner has replaced since: the scope that was left, and its epoch then. Nil for
    /// the owner's newest key.
    let replacedKey: (place: ScopePlace, epoch: Int64)?

    public var recordName: String { statement.recordName }
    public var revision: UInt64 { statement.revision }
    public var place: ScopePlace { ScopePlace(statement.place) }
    public var isDeletion: Bool { if case .gone = role { true } else { statement.kind == .delete || isDeparture } }

    /// What is said of the record with this statement.
    public enum Role: Sendable {
        /// It has come to this.
        case newest
        /// It went like this with the target of a reference, whose deletion covers the statement.
        case gone(with: Deletion)
        /// It is to be covered like this by a deletion that this device signs.
        case covered
    }

    public struct Deletion: Sendable {
        public let recordName: String
        public let hash: Digest
        public let epoch: UInt32

        public init(_ verified: VerifiedStatement) { self.init(verified.statement, hash: verified.hash) }

        public init(_ statement: Statement, hash: Digest) {
            (recordName, epoch, self.hash) = (statement.recordName, statement.epoch, hash)
        }
    }

    /// The deletion that the record went with; nobody deleted the record itself.
    public var deletion: Deletion? { if case .gone(let deletion) = role { deletion } else { nil } }

    /// A user may accept it though it came late. A notice or departure says of others what they have signed: it is not
    /// a statement that somebody vouches for.
    public var isAcceptable: Bool { if case .newest = role { !isDeparture } else { false } }

    public convenience init(_ verified: VerifiedStatement, moved: VerifiedStatement? = nil, role: Role = .newest) {
        self.init(verified.statement, hash: verified.hash, moved: moved, role: role)
    }

    public convenience init(_ departure: VerifiedDeparture) {
        let (statement, hash) = (departure.statement.statement, departure.statement.hash)
        self.init(statement, hash: hash, isDeparture: true, replacedIn: departure.replacedIn)
    }

    /// - Parameters:
    ///   - moved: what brought the record where it is, if that came along.
    ///   - isDeparture: it took the record where this account does not see it.
    ///   - replacedIn: as of a `VerifiedDeparture`.
    public init(
        _ statement: Statement, hash: Digest, moved: VerifiedStatement? = nil, role: Role = .newest,
        isDeparture: Bool = false, replacedIn: UInt32? = nil
    ) {
        self.statement = statement
        self.hash = hash
        self.moved = moved
        self.role = role
        self.isDeparture = isDeparture
        replacedKey = replacedIn.flatMap { epoch in
            statement.formerScope.map { (ScopePlace($0), Int64(epoch)) }
        }
    }

    /// What was seen of the record says of this; nil where it may have become this.
    func verdict(after known: SeenStatement) -> Verdict? {
        if revision < known.revision { return .older }
        if revision == known.revision {
            if hash != known.hash { return .forked }
            return deletion == nil ? .accepted : nil
        }
        if continues(known) { return nil }
        if revision - known.revision == 1, statement.previous != known.hash { return .forked }
        if statement.place == known.place, statement.rosterSequence < known.rosterSequence { return .behind }
        return (statement.formerScope ?? statement.place) == known.place ? .changed : .misplaced
    }

    /// By itself, or by what brought the record from where it was seen: that counts as if it had been seen next.
    private func continues(_ known: SeenStatement) -> Bool {
        if (try? statement.check(after: known)) != nil { return true }
        guard let moved else { return false }
        return (try? moved.statement.check(after: known)) != nil
    }
}
