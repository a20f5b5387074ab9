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
}

extension ContainerCore {
    var transport: any Transport { account.client.transport }

    /// The public database's one zone in the protocol's sense: nobody's.
    func publicScope(_ zone: RecordZone.ID) throws(SealKitError) -> Scope {
        guard zone.zoneName == Names.defaultZone, zone.isCurrentUsers else {
            throw SealKitError(
                .badDatabase, "the public database has no zone \(zone), only its default zone", remedy: "leave the zone out")
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
                .notAuthenticated, "writing to the public database needs an account", remedy: "make the container with one")
        }
    }

    /// For a transfer's bytes; empty where no session speaks.
    func token() async throws(SealKitError) -> String { access.isAccount ? try await account.session.token() : "" }
}
