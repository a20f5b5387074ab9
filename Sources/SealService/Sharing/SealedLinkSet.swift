package import Foundation
import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// The share-wide URL's secret as it is sealed to the owner and administrators, each copy for one of them.
package struct SealedLinkSet: Sendable {
    private let copies: [(reader: UserID, sealed: Data)]

    package var isEmpty: Bool { copies.isEmpty }

    static let none = SealedLinkSet(copies: [])

    private init(copies: [(reader: UserID, sealed: Data)]) { self.copies = copies }

    /// Shape alone; who the readers are is judged against the roster.
    /// - Throws: `invalidArguments`, `limitExceeded`.
    package init(_ sent: [Sealkit_V1_SealedLink]) throws(ServerError) {
        guard sent.count <= Limits.participantsPerScope + 1 else {
            throw ServerError(
                .limitExceeded, "Too many sealed links.", remedy: "Send one for the owner and each administrator.")
        }
        var seen: Set<UserID> = []
        var copies: [(reader: UserID, sealed: Data)] = []
        for link in sent {
            guard let id = try? ID16(link.reader), seen.insert(UserID(id)).inserted,
                (1...Limits.grantBytes).contains(link.sealed.count)
            else {
                throw ServerError(
                    .invalidArguments, "A sealed link is not well formed, or its reader has another one.",
                    remedy: "Name each reader once by 16 bytes; seal at most \(Limits.grantBytes) bytes.")
            }
            copies.append((UserID(id), link.sealed))
        }
        self.copies = copies
    }

    /// - Throws: `invalidArguments` for a reader who administers nothing here.
    package func check(_ roster: Roster) throws(ServerError) {
        for copy in copies {
            guard roster.members[copy.reader]?.mayAdminister == true else {
                throw ServerError(
                    .invalidArguments, "A sealed link is for somebody who is neither owner nor administrator.",
                    remedy: "Seal the share-wide link to those who invite with it, and to nobody else.")
            }
        }
    }

    package func store(scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.executeEach(
            """
            INSERT INTO sealed_link (owner, zone, share, reader, sealed) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (owner, zone, share, reader) DO UPDATE SET sealed = excluded.sealed
            """, copies.map { scope.key + [.blob($0.reader.id.bytes), .data($0.sealed)] })
    }

    /// What was sealed to one reader; empty where nothing was.
    package static func sealed(to reader: UserID, scope: ScopeRow, in connection: any SQLConnection) throws -> Data {
        try connection.first(
            "SELECT sealed FROM sealed_link WHERE owner = $1 AND zone = $2 AND share = $3 AND reader = $4",
            scope.key + [.blob(reader.id.bytes)]
        ) { try $0.data("sealed") } ?? Data()
    }

    package static func remove(_ reader: UserID, scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute(
            "DELETE FROM sealed_link WHERE owner = $1 AND zone = $2 AND share = $3 AND reader = $4",
            scope.key + [.blob(reader.id.bytes)])
    }

    package static func removeAll(of scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM sealed_link WHERE owner = $1 AND zone = $2 AND share = $3", scope.key)
    }
}
