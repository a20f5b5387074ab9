import Foundation
import SealCoding
public import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Somebody's account on one server: the seeds that everything is derived from, and the session that speaks for it.
///
/// The server never holds anything that opens data; whoever holds the seeds is the user.
public final class Account: Sendable {
    /// All generations, oldest first. The newest one is in use.
    let seeds: [AccountSeed]
    let client: Client
    let session: SessionKeeper

    /// Scheme, host and port of the server.
    public var server: String { client.transport.origin }

    var seed: AccountSeed { seeds[seeds.count - 1] }

    /// An account whose seeds are at hand.
    /// - Throws: `invalidArguments` when there is no seed.
    public init(seeds: [AccountSeed], transport: any Transport, deviceName: String = Account.defaultDeviceName) throws(SealKitError) {
        guard let seed = seeds.last else { throw SealKitError(.invalidArguments, "an account has at least one seed") }
        self.seeds = seeds
        client = Client(transport: transport)
        let loginKey = try verifying("the account's login key") { () throws(SealError) in try seed.loginKey() }
        session = SessionKeeper(client: client, loginKey: loginKey, deviceName: deviceName)
    }

    /// Nobody's account: whatever needs one fails with `notAuthenticated`.
    static func nobody(transport: any Transport) throws(SealKitError) -> Account {
        var random = SystemRandom()
        return try Account(seed: AccountSeed(random: &random), transport: transport)
    }

    private init(seed: AccountSeed, transport: any Transport) throws(SealKitError) {
        seeds = [seed]
        client = Client(transport: transport)
        let loginKey = try verifying("the account's login key") { () throws(SealError) in try seed.loginKey() }
        session = SessionKeeper(client: client, loginKey: loginKey, deviceName: "", isNobodys: true)
    }

    public static var defaultDeviceName: String { ProcessInfo.processInfo.hostName }

    /// Makes an account on a server.
    ///
    /// - Returns: the account, and its recovery key. Show the key to the user once and keep it nowhere: it is the only
    ///   way back when every device is lost.
    /// - Throws: `networkFailure`, `serverRejectedRequest`, `requestRateLimited`.
    public static func create(
        transport: any Transport, deviceName: String = Account.defaultDeviceName
    ) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey) {
        var random = SystemRandom()
        let seed = AccountSeed(random: &random)
        let recoveryKey = RecoveryKey(random: &random)
        let account = try Account(seeds: [seed], transport: transport, deviceName: deviceName)
        let bundle = Sealkit_V1_RecoveryBundle.with {
            $0.recoveryID = Data(recoveryKey.bundleID.bytes)
            $0.sealed = Data(recoveryKey.seal([seed], random: &random))
        }
        try await account.session.create(recovery: bundle)
        return (account, recoveryKey)
    }

    /// Gets an account back from its recovery key alone.
    /// - Throws: `unknownItem` when the server has no bundle for it; `integrityFailure` when the bundle does not open.
    public static func recover(
        _ recoveryKey: RecoveryKey, transport: any Transport, deviceName: String = Account.defaultDeviceName
    ) async throws(SealKitError) -> Account {
        let request = Sealkit_V1_RecoverRequest.with { $0.recoveryID = Data(recoveryKey.bundleID.bytes) }
        let response = try await Client(transport: transport).call(
            "/1/accounts/recover", request, as: Sealkit_V1_RecoverResponse.self, token: nil)
        let seeds = try verifying("the recovery bundle") { () throws(SealError) in try recoveryKey.open([UInt8](response.sealed)) }
        let account = try Account(seeds: seeds, transport: transport, deviceName: deviceName)
        _ = try await account.session.token()
        return account
    }

    /// CloudKit's `accountStatus`: whether the server knows this account and lets it in.
    /// - Throws: `networkFailure` when that cannot be told now.
    public func status() async throws(SealKitError) -> AccountStatus {
        do {
            _ = try await session.token()
            return .available
        } catch {
            switch error.code {
            case .notAuthenticated, .sessionExpired, .unknownItem: return .noAccount
            case .accountTemporarilyUnavailable: return .temporarilyUnavailable
            default: throw error
            }
        }
    }

    /// Ends this device's session on the server.
    public func logOut() async throws(SealKitError) { try await session.logOut() }

    /// A call that the server answers to this account only; logs in, again if the session has ended.
    func call<Request: Message, Response: Message>(
        _ path: String, _ request: Request, as type: Response.Type = Response.self
    ) async throws(SealKitError) -> Response {
        do {
            return try await client.call(path, request, as: type, token: try await session.token())
        } catch where error.code == .sessionExpired {
            return try await client.call(path, request, as: type, token: try await session.renewedToken())
        }
    }
}

public enum AccountStatus: Int, Sendable {
    case couldNotDetermine = 0
    case available = 1
    case restricted = 2
    case noAccount = 3
    case temporarilyUnavailable = 4
}
