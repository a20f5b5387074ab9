import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// As whom a container speaks to the server.
enum ContainerAccess: Sendable {
    case account
    /// A server-to-server key: its transport signs each request.
    case serverKey(ServerCredential)
    /// Without an account: to read the public database.
    case world

    var isAccount: Bool { if case .account = self { true } else { false } }

    /// - Parameter database: nil for what is outside all databases.
    /// - Throws: `notAuthenticated` for what needs an account where there is none.
    func check(_ database: Database.Scope?) throws(SealKitError) {
        guard isAccount || database == .public else {
            throw SealKitError(
                .notAuthenticated, "this container was made without an account",
                remedy: "make it with one; without, only the public database is there")
        }
    }
}

extension ContainerCore {
    /// The public database's one zone in the protocol's sense: nobody's.
    func publicScope(_ zone: RecordZone.ID) throws(SealKitError) -> Scope {
        guard zone.zoneName == Names.defaultZone, zone.isCurrentUsers else {
            throw SealKitError(
                .badDatabase, "the public database has no zone \(zone), only its default zone",
                remedy: "leave the zone out")
        }
        return Scope(container: identifier, environment: environment, owner: UserID(.zero), zoneName: Names.defaultZone)
    }

    /// What signs records of the public database.
    /// - Throws: `notAuthenticated` without an account.
    func publicSigner() throws(SealKitError) -> (key: SigningKey, chain: IdentityChain) {
        switch access {
        case .account: return (identity().keys.signingKey, identity().chain)
        case .serverKey(let credential): return (credential.signingKey, credential.chain)
        case .world:
            throw SealKitError(
                .notAuthenticated, "writing to the public database needs an account",
                remedy: "make the container with one")
        }
    }
}
