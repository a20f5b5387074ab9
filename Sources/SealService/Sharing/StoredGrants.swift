package import Foundation
import SealCoding
package import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// Epoch keys as sealed to members and invitations, of the scope's current incarnation.
///
/// A member keeps its grant of every epoch until it goes: one grant opens all history when all epochs are well made,
/// and an author who seals a bad one must not cost the others what they could open before. An invitation has its newest
/// only.
package enum StoredGrants {
    /// The grants that came are exactly those that the entry commits to, byte for byte.
    /// - Throws: `invalidArguments`, `integrityFailure`.
    package static func check(
        _ sent: [Sealkit_V1_Grant], required: [GrantSubject: SealPrimitives.Digest], epoch: UInt32
    ) throws(ServerError) -> [(subject: GrantSubject, sealed: Data)] {
        var checked: [(subject: GrantSubject, sealed: Data)] = []
        var seen: Set<GrantSubject> = []
        for grant in sent {
            guard let subject = try? grant.grantSubject(), (1...Limits.grantBytes).contains(grant.sealed.count) else {
                throw ServerError(
                    .invalidArguments, "A grant is not well formed.",
                    remedy: "Name a member or an invitation by 16 bytes; seal at most \(Limits.grantBytes) bytes.")
            }
            guard seen.insert(subject).inserted else {
                throw ServerError(
                    .invalidArguments, "Two grants are for the same subject.", remedy: "Send one grant for each.")
            }
            guard grant.epoch == epoch, let hash = required[subject], hash == GrantHash.of([UInt8](grant.sealed)) else {
                throw ServerError(
                    .integrityFailure, "A grant is not one that the entry commits to.",
                    remedy: "Send the very bytes whose hashes the entry lists.")
            }
            checked.append((subject, grant.sealed))
        }
        guard checked.count == required.count else {
            throw ServerError(
                .integrityFailure, "Not all grants that the entry commits to came with it.",
                remedy: "Send the very bytes whose hashes the entry lists.")
        }
        return checked
    }

    package static func store(
        _ sealed: Data, for subject: GrantSubject, epoch: UInt32, scope: ScopeRow, in connection: any SQLConnection
    ) throws {
        if case .invitation = subject { try remove(subject, scope: scope, in: connection) }
        try connection.execute(
            """
            INSERT INTO epoch_grant (owner, zone, share, kind, subject, epoch, sealed) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (owner, zone, share, kind, subject, epoch) DO UPDATE SET sealed = excluded.sealed
            """,
            scope.key + [
                .integer(Int64(subject.kind)), .blob(subject.id.bytes), .integer(Int64(epoch)), .data(sealed),
            ])
    }

    /// All of one subject, the newest epoch last.
    package static func all(
        of subject: GrantSubject, scope: ScopeRow, in connection: any SQLConnection
    ) throws -> [Sealkit_V1_Grant] {
        try connection.rows(
            """
            SELECT epoch, sealed FROM epoch_grant WHERE owner = $1 AND zone = $2 AND share = $3 AND kind = $4 AND subject = $5
            ORDER BY epoch
            """,
            scope.key + [.integer(Int64(subject.kind)), .blob(subject.id.bytes)]
        ) { row in
            Sealkit_V1_Grant(
                subject: subject, epoch: UInt32(truncatingIfNeeded: try row.int64("epoch")),
                sealed: try row.bytes("sealed"))
        }
    }

    /// Those of one subject of the epochs before one, newest first, until `body` returns false.
    /// - Parameter epoch: 0 for all.
    static func eachFromNewest(
        of subject: GrantSubject, before epoch: UInt32, scope: ScopeRow, in connection: any SQLConnection,
        _ body: (Sealkit_V1_Grant) throws -> Bool
    ) throws {
        try connection.stream(
            """
            SELECT epoch, sealed FROM epoch_grant WHERE owner = $1 AND zone = $2 AND share = $3 AND kind = $4 AND subject = $5
                AND epoch < $6 ORDER BY epoch DESC
            """,
            scope.key + [
                .integer(Int64(subject.kind)), .blob(subject.id.bytes), .integer(epoch == 0 ? Int64.max : Int64(epoch)),
            ]
        ) { row in
            try body(
                Sealkit_V1_Grant(
                    subject: subject, epoch: UInt32(truncatingIfNeeded: try row.int64("epoch")),
                    sealed: try row.bytes("sealed")))
        }
    }

    package static func remove(_ subject: GrantSubject, scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute(
            "DELETE FROM epoch_grant WHERE owner = $1 AND zone = $2 AND share = $3 AND kind = $4 AND subject = $5",
            scope.key + [.integer(Int64(subject.kind)), .blob(subject.id.bytes)])
    }

    /// What an earlier life of a share has left: its epochs are numbered like those of the next one.
    package static func removeAll(of scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM epoch_grant WHERE owner = $1 AND zone = $2 AND share = $3", scope.key)
    }
}
