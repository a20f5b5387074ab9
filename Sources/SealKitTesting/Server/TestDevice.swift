public import SealKit

/// Somebody's device: an account that is signed in, with its keys and what it has verified in memory, a way to the
/// server that can be made to lie, and the app's container.
public final class TestDevice: Sendable {
    /// What the account's other devices call it.
    public let name: String
    /// What the device reaches the server by: faults go in here.
    public let network: TestNetwork
    /// Where the account's keys are.
    public let keyStore: MemoryKeyStore
    /// What the device has verified.
    public let trust: TrustStore
    /// Who is signed in: for apps that make their container by themselves.
    public let accounts: AccountProvider
    /// The account that is signed in.
    public let account: Account
    /// The app's, in the development environment.
    public let container: Container
    /// As it was shown to the user when the account was made.
    public let recoveryKey: RecoveryKey
    private let server: TestServer

    /// - Parameter account: as it was just made; nil for the one that the key store has.
    init(
        _ name: String, server: TestServer, account made: Account?, keyStore: MemoryKeyStore, trust: TrustStore,
        network: TestNetwork, recoveryKey: RecoveryKey
    ) async throws(SealKitError) {
        let pacing = server.host.clock.pacing
        let kept: Account? =
            if let made { made } else { try await Account.load(from: keyStore, transport: network, pacing: pacing) }
        guard let account = kept else {
            throw SealKitError(.notAuthenticated, "the device's key store is empty", remedy: "make an account")
        }
        (self.name, self.server, self.keyStore, self.trust) = (name, server, keyStore, trust)
        (self.network, self.account, self.recoveryKey) = (network, account, recoveryKey)
        accounts = AccountProvider()
        accounts.signIn(account, trust: trust)
        container = try Container(server.containerIdentifier, accounts: accounts)
        // Others invite this account by its record name from the beginning.
        try await container.register()
    }

    /// Another container, or the app's in another environment, of the same account.
    public func container(_ identifier: String, environment: Container.Environment = .development)
        throws(SealKitError) -> Container
    {
        try Container(identifier, environment: environment, accounts: accounts)
    }

    /// A second device of the same person, which has seen nothing yet, with a network of its own. It has the account's
    /// keys, as a key file would bring them: the first device is told of it (`AccountChange.newDevice`).
    public func anotherDevice(named name: String) async throws(SealKitError) -> TestDevice {
        var secrets = try account.secrets
        secrets.deviceName = name
        return try await TestDevice(
            name, server: server, account: nil, keyStore: MemoryKeyStore(secrets), trust: try TrustStore(),
            network: server.network(), recoveryKey: recoveryKey)
    }

    /// The same device after the app was ended and started again: with its keys, what it has verified and its network,
    /// and nothing that was only in memory.
    public func restarted() async throws(SealKitError) -> TestDevice {
        try await TestDevice(
            name, server: server, account: nil, keyStore: keyStore, trust: trust, network: network,
            recoveryKey: recoveryKey)
    }
}
