import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// The identity chains of those who signed an answer's records, each once: what a reader of the public database
/// verifies with.
struct PublicAuthors {
    private var users: Set<UserID> = []

    mutating func add(_ statement: Statement) { users.insert(statement.author) }

    /// A record was signed by somebody with an identity in the container; a chain only ever grows.
    func chains(in container: String, _ connection: any SQLConnection) throws -> [Sealkit_V1_IdentityChain] {
        try users.sorted().compactMap { try Identities.wireChain(user: $0, container: container, in: connection) }
    }
}
