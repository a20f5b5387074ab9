import Foundation
import SealPrimitives
import SealWire

/// The sealed seeds that a printed recovery key finds and opens. The server opens nothing of them.
struct RecoveryBundle: Sendable {
    /// All 64 generations of a seed, with room to spare.
    static let mostBytes = 16_384

    let id: ID16
    let sealed: Data

    init(_ wire: Sealkit_V1_RecoveryBundle) throws(ServerError) {
        id = try Self.id(wire.recoveryID)
        guard (1...Self.mostBytes).contains(wire.sealed.count) else {
            throw ServerError(
                .invalidArguments, "A recovery bundle has between 1 and \(Self.mostBytes) bytes.",
                remedy: "Send what sealing the seeds gave.")
        }
        sealed = wire.sealed
    }

    static func id(_ bytes: Data) throws(ServerError) -> ID16 {
        do {
            return try ID16(bytes)
        } catch {
            throw ServerError(
                .invalidArguments, "A recovery id has 16 bytes.", remedy: "Send the id that the recovery key gives.")
        }
    }

    static func find(_ id: ID16, in connection: any SQLConnection) throws -> Data? {
        try connection.first("SELECT sealed FROM recovery_bundle WHERE recovery_id = $1", [.blob(id.bytes)]) {
            try $0.data(0)
        }
    }

    /// Makes this the account's bundle, in place of any other.
    func save(account: Int64, in connection: any SQLConnection) throws {
        let isTaken = try connection.exists(
            "SELECT 1 FROM recovery_bundle WHERE recovery_id = $1 AND account <> $2", [.blob(id.bytes), .integer(account)])
        guard !isTaken else {
            throw ServerError(
                .serverRejectedRequest, "This recovery id belongs to another account.", remedy: "Make a new recovery key.")
        }
        try connection.execute("DELETE FROM recovery_bundle WHERE account = $1", [.integer(account)])
        try connection.execute(
            "INSERT INTO recovery_bundle (recovery_id, account, sealed) VALUES ($1, $2, $3)",
            [.blob(id.bytes), .integer(account), .data(sealed)])
    }
}
