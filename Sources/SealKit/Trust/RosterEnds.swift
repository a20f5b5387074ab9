import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements

/// Where the rosters ended that this device had when it asked the server. What an answer says of a zone's end is held
/// against that: what has been made again since is another one.
struct RosterEnds: Sendable {
    private let sequences: [Digest: UInt64]

    /// - Parameter sequences: of the last entry of each roster, by the scope's id.
    init(_ sequences: [Digest: UInt64]) { self.sequences = sequences }

    /// Of the rosters that the answer to a question about a zone is judged by.
    init(_ ground: ZoneGround) { sequences = ground.views.mapValues(\.roster.sequence) }

    init(_ ground: RecordGround) {
        switch ground {
        case .zone(let ground): self.init(ground)
        // Nobody's, and without a roster.
        case .publicDatabase: self.init([:])
        }
    }

    /// nil for one of which nothing was known.
    subscript(_ scope: Scope) -> UInt64? { sequences[scope.id] }
}

extension Roster {
    /// Whether it has begun another life since an entry, or somebody was none of its members meanwhile.
    func hasEnded(since sequence: UInt64, for user: UserID) -> Bool {
        epochInForce(at: sequence)?.context.incarnations != incarnations
            || absences(of: user).contains { $0 > sequence }
    }
}

extension TrustStore {
    /// Of all rosters that this device has: one look for each, by the index.
    func rosterEnds() async throws(SealKitError) -> RosterEnds {
        let rows = try await reading { db in
            try Row.fetchAll(
                db,
                sql: """
                    \(TrustStore.rosterScopes)
                    SELECT scope, (SELECT MAX(sequence) FROM entry WHERE entry.scope = roster.scope) FROM roster
                    WHERE scope IS NOT NULL
                    """
            ).map { (scope: [UInt8]($0[0] as Data), sequence: UInt64($0[1] as Int64)) }
        }
        var sequences: [Digest: UInt64] = [:]
        for row in rows { if let scope = try? Digest(row.scope) { sequences[scope] = row.sequence } }
        return RosterEnds(sequences)
    }
}
