import SealPrimitives
package import SealStatements
import SealWire

extension ServerKeys {
    /// A request whose signature holds.
    package struct Signed: Sendable {
        package let row: Row
        package let user: UserID
        /// As a session's.
        package let generation: UInt64

        package init(row: Row, user: UserID, generation: UInt64) {
            self.row = row
            self.user = user
            self.generation = generation
        }

        /// - Throws: `permissionFailure` anywhere but in the key's own public database.
        package func session(in path: DatabasePath) throws(ServerError) -> Session {
            guard path.database == .public, path.container == row.container, path.environment == row.environment else {
                throw ServerKeys.outOfReach
            }
            return Session(accountID: row.account, tokenHash: user.id.bytes, generation: generation)
        }
    }
}
