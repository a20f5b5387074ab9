public import SealPrimitives
public import SealStatements

/// A record that goes with one that is deleted, as its deletion covers it.
public struct WrittenAlong: Sendable {
    public let statement: Statement
    public let hash: Digest

    public init(_ statement: Statement, hash: Digest) { (self.statement, self.hash) = (statement, hash) }
}

extension Sighting {
    /// What is remembered of one's own statement that is stored (R-SEEN-9), and of what goes with it (R-TAKEN-8).
    public static func written(_ statement: Statement, hash: Digest, taking taken: [WrittenAlong]) -> [Sighting] {
        var sightings = [Sighting(statement, hash: hash)]
        guard !taken.isEmpty else { return sightings }
        let deletion = Deletion(statement, hash: hash)
        for one in taken { sightings.append(Sighting(one.statement, hash: one.hash, role: .gone(with: deletion))) }
        return sightings
    }
}

/// What was sent, and not answered: what there is tells what became of it.
public enum WriteRepetition: Sendable, Equatable {
    /// It is stored, whatever the server answers: the record is under the very statement that was sent.
    case stored
    /// It was to be deleted, and is gone.
    case isGone
    /// The request is too old to be repeated, and nothing tells whether what is there has come before it or after: that
    /// is for the app to merge, under every policy.
    case mayHaveComeLater
    /// It goes as if it had never been sent.
    case open

    /// - Parameters:
    ///   - sent: the statement that was sent, and its hash.
    ///   - isRepeatable: the server still answers the request's repetition as it has answered it first.
    public static func judge(
        _ sent: Statement, hash: Digest, over present: WritePresent, isRepeatable: Bool
    ) -> WriteRepetition {
        if sent.kind == .delete, !present.isThere { return .isGone }
        if sent.kind == .save, present.isThere, present.hash == hash { return .stored }
        return isRepeatable || present.hash == sent.previous ? .open : .mayHaveComeLater
    }
}
