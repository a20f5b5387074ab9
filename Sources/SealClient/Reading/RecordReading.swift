import SealPrimitives
import SealStatements

/// Verifies the records of one answer, by the rosters that it goes by: nothing of one is opened before that. What each
/// gives is held against what was seen before (`RecordJudge`) before anybody is told of it.
///
/// Changed in place: what it holds is much to copy for each record.
public struct RecordReading: Sendable {
    public private(set) var ground: RecordGround
    /// The fields that were asked for; nil for all. One of them that comes as a digest is withheld, not absent.
    private let desiredKeys: [String]?
    private var verifier: RecordVerifier
    private var mayRefresh: Bool

    /// - Parameter refreshes: the rosters' tails can be fetched once more for it.
    public init(_ ground: RecordGround, desiredKeys: [String]?, refreshes: Bool = true) {
        self.ground = ground
        self.desiredKeys = desiredKeys
        verifier = RecordVerifier(ground)
        mayRefresh = refreshes
    }

    /// Goes on by the rosters with their tails.
    public mutating func refresh(_ ground: RecordGround) {
        self.ground = ground
        verifier = RecordVerifier(ground)
        mayRefresh = false
    }

    /// - Parameter recordName: the record that was asked for; nil in a feed.
    /// - Throws: `unknownHead`, once: fetch the rosters' tails for `refresh`, and read the record again; otherwise
    ///   `invalid`, with what does not hold.
    package mutating func read(
        _ shown: some ShownRecord, recordName: String?
    ) throws(ClientError) -> ReadRecord {
        do throws(SealError) {
            if shown.isDerived { return try derivedDeletion(shown, recordName: recordName) }
            if shown.departed { return try departure(shown, recordName: recordName) }
            return try record(shown, recordName: recordName)
        } catch {
            throw refused(error)
        }
    }

    /// R-READ-2: an unknown head may be one that is not known yet.
    func refused(_ error: SealError) -> ClientError {
        error == .unknownRosterHead && mayRefresh ? .unknownHead : .invalid(error)
    }

    private mutating func record(
        _ shown: some ShownRecord, recordName: String?
    ) throws(SealError) -> ReadRecord {
        let proof = try shown.statementProof()
        let verified = try verifier.verify(shown.statementBytes, proof: proof, recordName: recordName)
        let isGone = verified.statement.kind == .delete
        guard isAbout(verified.statement, shown), shown.deleted == isGone else { throw .wrongContext }
        let fields = try shown.shownFields()
        var digests: [FieldDigest] = []
        digests.reserveCapacity(fields.count)
        for shown in fields {
            if case .digest = shown.field {
                guard let desiredKeys, !desiredKeys.contains(shown.name) else { throw .fieldMismatch }
            }
            digests.append(FieldDigest(name: shown.name, digest: try shown.field.digest(name: shown.name)))
        }
        try verified.check(digests)
        let sighting = Sighting(verified, moved: try origin(of: shown, verified))
        guard !isGone else { return ReadRecord(gone: verified, proof, sighting) }
        return ReadRecord(verified, proof, sighting, fields, digests)
    }

    /// What is shown beside a statement is what it says.
    func isAbout(_ statement: Statement, _ shown: some ShownRecord) -> Bool {
        shown.recordName == statement.recordName && shown.recordType == statement.recordType
    }

    // MARK: What comes beside a statement

    mutating func verify(_ shown: some ShownRecord, recordName: String?) throws(SealError) -> VerifiedStatement {
        let proof = try shown.statementProof()
        return try verifier.verify(shown.statementBytes, proof: proof, recordName: recordName)
    }

    /// What brought a record into its scope, where that came along.
    mutating func origin(
        of shown: some ShownRecord, _ record: VerifiedStatement
    ) throws(SealError) -> VerifiedStatement? {
        guard let move = try shown.shownMove() else { return nil }
        return try verifier.verifyOrigin(move.bytes, proof: move.proof, of: record)
    }

    /// A record that left the share, as participants are told: by the statement that took it out, and nothing else.
    private mutating func departure(
        _ shown: some ShownRecord, recordName: String?
    ) throws(SealError) -> ReadRecord {
        guard shown.deleted, !shown.hasFields else { throw .wrongContext }
        let proof = try shown.statementProof()
        let departure = try verifier.verifyDeparture(shown.statementBytes, proof: proof, recordName: recordName)
        guard isAbout(departure.statement.statement, shown) else { throw .wrongContext }
        return ReadRecord(gone: departure.statement, proof, Sighting(departure))
    }

    /// A notice that a record went with the target of its `deleteSelf` reference: the record's last statement and the
    /// target's deletion are verified, and that the one covers the other. What the notice says is believed only then.
    ///
    /// The statement that went is a save: whoever makes the record again goes on after it, under a key of its own.
    private mutating func derivedDeletion(
        _ shown: some ShownRecord, recordName: String?
    ) throws(SealError) -> ReadRecord {
        guard shown.deleted, !shown.hasFields else { throw .wrongContext }
        let proof = try shown.statementProof()
        let record = try verifier.verify(shown.statementBytes, proof: proof, recordName: recordName)
        let last = try shown.shownTombstone()
        let tombstone = try verifier.verify(last.bytes, proof: last.proof, recordName: nil)
        let gone = try verifier.check(try shown.notice(of: record, tombstone: tombstone))
        guard isAbout(gone.statement, shown) else { throw .wrongContext }
        let sighting = Sighting(
            gone, moved: try origin(of: shown, gone), role: .gone(with: Sighting.Deletion(tombstone)))
        return ReadRecord(gone: gone, proof, sighting)
    }
}
