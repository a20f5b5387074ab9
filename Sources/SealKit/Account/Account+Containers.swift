import SealStatements
import SealWire

extension Account {
    /// The containers in which the account has an identity, as the server says: it has one in each that it was used in.
    /// - Parameter trust: what this device has verified as this account.
    /// - Returns: each once, in alphabetical order.
    /// - Throws: `serverRejectedRequest` when the server names an identity that is not this account's;
    ///   `notAuthenticated`; `networkFailure`.
    package func containerIdentifiers(_ trust: TrustStore) async throws(SealKitError) -> [String] {
        Set(try await cores(trust).map(\.identifier)).sorted()
    }

    /// One for each container and environment in which the account has an identity, as the server says. What is not
    /// this account's own name makes nobody register; a container that is left out is come to when it is next used.
    /// - Throws: `serverRejectedRequest` when the server names an identity that is not this account's.
    func cores(_ trust: TrustStore) async throws(SealKitError) -> [ContainerCore] {
        let me: Sealkit_V1_AccountResponse = try await exchange(Endpoints.accounts.me.route, .read) {
            token throws(SealKitError) in
            try Client.decode(try await client.transport.get(Endpoints.accounts.me.route.template, token: token))
        }
        var cores: [ContainerCore] = []
        for identity in me.identities {
            let parts = identity.split(separator: "/").map(String.init)
            for environment in [SealStatements.Environment.production, .development] {
                guard parts.count == 2,
                    let core = try? ContainerCore(
                        account: self, identifier: parts[0], environment: environment, trust: trust,
                        gate: { () throws(SealKitError) in }),
                    core.userID().recordName == parts[1]
                else {
                    throw SealKitError(
                        .serverRejectedRequest, "the server names an identity of this account that is not its own",
                        remedy: "ask whoever runs the server")
                }
                cores.append(core)
            }
        }
        return cores
    }
}
