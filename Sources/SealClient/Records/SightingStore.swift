public import SealPrimitives
public import SealStatements

/// What a device remembers of the records of one life of a zone, or of a public database: of each its newest statement,
/// and which records went with the target of a reference. It judges nothing (`RecordJudge`): it says what was written,
/// and writes what it is told, all of it or nothing.
///
/// What is asked of every record is one question.
public protocol SightingStore {
    associatedtype Failure: Error

    // MARK: Records

    /// - Parameter sighting: what it is asked for: where that is the very statement that was seen, nothing else of it
    ///   has to be read. Nil to read it all the same.
    func seen(_ name: String, comparedWith sighting: Sighting?) throws(Failure) -> Seen

    /// Puts a sighting in the place of what was seen of the record.
    /// - Parameters:
    ///   - moment: when it was noted; the first stays when the record was met.
    ///   - onlyNew: what was seen of the record before stays.
    /// - Returns: whether it was written.
    mutating func remember(_ sighting: Sighting, at moment: Int64, onlyNew: Bool) throws(Failure) -> Bool

    /// The records whose newest statement says that they are there, and that have not gone with it, by name.
    /// - Parameters:
    ///   - moment: those alone that were met by then; nil for all. What was met before an absence is none.
    ///   - isWanted: by name.
    /// - Returns: with the place of each; nil for one that cannot be read.
    func living(
        metBy moment: Int64?, where isWanted: (String) -> Bool
    ) throws(Failure) -> [(name: String, place: ScopePlace?)]

    // MARK: Derived deletions

    func hasAnyGone() throws(Failure) -> Bool

    /// The statement of a record with which it went; nil for one that has not gone.
    func gone(_ name: String) throws(Failure) -> Digest?

    mutating func noteGone(_ name: String, _ hash: Digest, at moment: Int64) throws(Failure)

    // MARK: Moments

    /// When this device came to know what it knows, counted; 0 before anything.
    func lastMoment() throws(Failure) -> Int64

    mutating func setMoment(_ moment: Int64) throws(Failure)

    /// Whether something was written of a record after a moment.
    func isNoted(_ name: String, after moment: Int64) throws(Failure) -> Bool

    // MARK: Feeds

    /// The first epoch of a scope's life that something may be missing of; nil where nothing of it was read to an end.
    func caughtUp(in place: ScopePlace) throws(Failure) -> Int64?

    // MARK: Late statements

    /// Keeps for the user to see that it was accepted.
    mutating func noteLate(_ sighting: Sighting) throws(Failure)
}

/// What was seen of a record before.
public enum Seen: Sendable {
    case never
    /// The very statement that was asked about.
    /// - Parameter isBeforeAbsence: it was met before this account was out of the zone. What became of it meanwhile
    ///   nobody may have shown it, so the record counts as there once it is met again.
    case same(isBeforeAbsence: Bool)
    case other(SeenStatement, isBeforeAbsence: Bool)
}
