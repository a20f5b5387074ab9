package import Foundation
package import SealPrimitives
package import SealStorage
package import SealWire
import SwiftProtobuf

/// The sealed seeds that a recovery key finds and opens. The server opens nothing of them.
package struct RecoveryBundle: Sendable {
    /// All 64 generations of a seed, with room to spare.
    package static let mostBytes = 16_384

    /// Which of its keys opens it; an account has one bundle of each kind at most.
    package enum Kind: Int64 {
        case printedKey = 1
        case passphrase = 2
        case passkey = 3

        package init(_ wire: UInt32) throws(ServerError) {
            guard let kind = Kind(rawValue: Int64(wire == 0 ? 1 : wire)) else {
                throw ServerError(
                    .invalidArguments, "There is no such kind of recovery bundle.",
                    remedy: "Send 1 for the printed key's, 2 for a passphrase's, 3 for a passkey's.")
            }
            self = kind
        }

        /// Whether somebody may come upon an id of this kind by trying: a printed key has 256 random bits, and so has
        /// what a passkey answers.
        package var isGuessable: Bool {
            switch self {
            case .printedKey, .passkey: false
            case .passphrase: true
            }
        }
    }

    package let id: ID16
    package let kind: Kind
    package let sealed: Data

    package init(_ wire: Sealkit_V1_RecoveryBundle) throws(ServerError) {
        id = try Self.id(wire.recoveryID)
        kind = try Kind(wire.kind)
        guard (1...Self.mostBytes).contains(wire.sealed.count) else {
            throw ServerError(
                .invalidArguments, "A recovery bundle has between 1 and \(Self.mostBytes) bytes.",
                remedy: "Send what sealing the seeds gave.")
        }
        sealed = wire.sealed
    }

    package static func id(_ bytes: Data) throws(ServerError) -> ID16 {
        try ID16(wire: bytes, "A recovery id", remedy: "Send the id that the recovery key gives.")
    }

    /// - Throws: `unknownItem`.
    package static func find(_ id: ID16, in connection: any SQLConnection) throws -> Data {
        // Accounts may have bundles of different kinds under it: a passphrase's, of which nobody plants many, comes
        // first.
        let sealed = try connection.first(
            "SELECT sealed FROM recovery_bundle WHERE recovery_id = $1 ORDER BY kind = $2 DESC, kind",
            [.blob(id.bytes), .integer(Kind.passphrase.rawValue)]
        ) { try $0.data("sealed") }
        guard let sealed else {
            throw ServerError(
                .unknownItem, "The server has no recovery bundle under this id.",
                remedy: "Check the recovery key, and that this is the account's server.")
        }
        return sealed
    }

    /// Makes this the account's bundle of its kind, in place of any other.
    /// - Throws: `serverRejectedRequest` where the id is that of another bundle of this account, or of another
    ///   account's of this kind: see `countGuesses`.
    package func save(account: Int64, now: Int64, in connection: any SQLConnection) throws {
        try Self.delete(kind, of: account, in: connection)
        let isTaken = try connection.exists(
            "SELECT 1 FROM recovery_bundle WHERE recovery_id = $1 AND (kind = $2 OR account = $3)",
            [.blob(id.bytes), .integer(kind.rawValue), .integer(account)])
        guard !isTaken else {
            throw ServerError(
                .serverRejectedRequest, "This recovery id belongs to another bundle.",
                remedy: "Make a new recovery key.")
        }
        try connection.execute(
            "INSERT INTO recovery_bundle (recovery_id, account, kind, saved, sealed) VALUES ($1, $2, $3, $4, $5)",
            [.blob(id.bytes), .integer(account), .integer(kind.rawValue), .integer(now), .data(sealed)])
    }

    /// What it opened by opens nothing on the server any more, at once.
    package static func delete(_ kind: Kind, of account: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            "DELETE FROM recovery_bundle WHERE account = $1 AND kind = $2",
            [.integer(account), .integer(kind.rawValue)])
    }

    static func deleteAll(of account: Int64, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM recovery_bundle WHERE account = $1", [.integer(account)])
    }

    package static func list(
        of account: Int64, in connection: any SQLConnection
    ) throws -> [Sealkit_V1_RecoveryBundlesResponse.Bundle] {
        try connection.rows(
            "SELECT kind, saved FROM recovery_bundle WHERE account = $1 ORDER BY kind", [.integer(account)]
        ) { row in
            let (kind, saved) = (UInt32(truncatingIfNeeded: try row.int64("kind")), try row.int64("saved"))
            return .with {
                $0.kind = kind
                $0.saved = saved
            }
        }
    }
}
