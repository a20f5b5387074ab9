import Foundation
import NIOCore
import SealClient
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
    let keys: AccountKeys
    /// All generations, oldest first. The newest one is in use.
    var seeds: [AccountSeed] { keys.seeds }
    let client: Client
    let session: SessionKeeper
    /// Where this device keeps the account; nil when the app does so by itself.
    public let keyStore: (any KeyStore)?
    let standing = AccountStanding()
    /// Which device this is, and which others it knows.
    let deviceKeeper: DeviceKeeper

    /// Scheme, host and port of the server.
    public var server: String { client.transport.origin }

    var seed: AccountSeed { seeds[seeds.count - 1] }

    /// An account whose seeds are at hand.
    /// - Parameter seeds: of the account, the newest last.
    /// - Parameter transport: what reaches the account's server.
    /// - Parameter deviceName: what other devices call this one.
    /// - Parameter keyStore: where the seeds came from, and where new ones go.
    /// - Throws: `invalidArguments` when there is no seed.
    public convenience init(
        seeds: [AccountSeed], transport: any Transport, deviceName: String = Account.defaultDeviceName,
        keyStore: (any KeyStore)? = nil
    ) throws(SealKitError) {
        try self.init(seeds: seeds, client: Client(transport: transport), deviceName: deviceName, keyStore: keyStore)
    }

    init(
        seeds: [AccountSeed], client: Client, deviceName: String = Account.defaultDeviceName, hasSession: Bool = true,
        keyStore: (any KeyStore)? = nil, deviceKeeper: DeviceKeeper? = nil
    ) throws(SealKitError) {
        keys = try AccountKeys(seeds)
        self.client = client
        let devices: DeviceKeeper
        if let deviceKeeper { devices = deviceKeeper } else { devices = try DeviceKeeper(account: seeds[0]) }
        self.deviceKeeper = devices
        session = SessionKeeper(
            client: client, keys: keys, deviceName: deviceName, devices: devices, isEmpty: !hasSession)
        self.keyStore = keyStore
    }

    /// The same account and session, which `keyStore` keeps now.
    init(_ other: Account, keyStore: any KeyStore) {
        keys = other.keys
        client = other.client
        session = other.session
        deviceKeeper = other.deviceKeeper
        self.keyStore = keyStore
    }

    /// Nobody's account, which never logs in: its calls have no session. For reading the public database, and for
    /// requests that a transport signs.
    static func withoutSession(transport: any Transport) throws(SealKitError) -> Account {
        var random = SystemRandom()
        return try Account(
            seeds: [AccountSeed(random: &random)], client: Client(transport: transport), hasSession: false)
    }

    /// The host's name, which the account's other devices are shown unless another one is given.
    public static var defaultDeviceName: String { ProcessInfo.processInfo.hostName }

    /// Makes an account on a server. Where the answer is lost for good, the account may be there, and nobody has its
    /// seed: `create(transport:deviceName:trust:registrationCode:in:)` keeps it first.
    ///
    /// - Returns: the account, and its recovery key. Show the key to the user once and keep it nowhere: it is the only
    ///   way back when every device is lost.
    /// - Parameters:
    ///   - transport: what reaches the server.
    ///   - deviceName: what other devices will call this one.
    ///   - trust: where this device keeps what it has verified, if it has such a place already.
    ///   - registrationCode: what the server's operator has given out, where accounts are made by invitation only
    ///     (``registration(transport:)``); it is good for one account.
    /// - Throws: `networkFailure`, `serverRejectedRequest`, `requestRateLimited`; `invalidArguments` where the server
    ///   calls itself otherwise than the transport's address; `permissionFailure` where the server makes no
    ///   accounts, or none without a code; `verificationFailed` for a code that is wrong, was used or has expired.
    public static func create(
        transport: any Transport, deviceName: String = Account.defaultDeviceName, trust: TrustStore? = nil,
        registrationCode: String? = nil
    ) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey) {
        try await create(
            client: Client(transport: transport), deviceName: deviceName, trust: trust,
            registrationCode: registrationCode)
    }

    static func create(
        client: Client, deviceName: String, trust: TrustStore?, registrationCode: String?
    ) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey) {
        var random = SystemRandom()
        let account = try Account(seeds: [AccountSeed(random: &random)], client: client, deviceName: deviceName)
        if let trust { account.deviceKeeper.attach(trust) }
        let recoveryKey = RecoveryKey(random: &random)
        try await account.register(recoveryKey, code: registrationCode)
        return (account, recoveryKey)
    }

    /// Makes the account on the server. Again it logs in, with this recovery key in the place of the one before.
    func register(_ recoveryKey: RecoveryKey, code: String?) async throws(SealKitError) {
        try await session.create(
            recovery: bundle(of: seeds, by: recoveryKey, .printedKey), registrationCode: code)
    }

    /// CloudKit's `accountStatus`: whether the server knows this account and lets it in. It is asked each time.
    /// - Returns: `couldNotDetermine` when the server cannot be reached.
    /// - Throws: `operationCancelled`; `invalidArguments` for time-outs that cannot be kept.
    public func status() async throws(SealKitError) -> AccountStatus {
        do {
            try await exchange(Endpoints.accounts.me.route, .read) { token throws(SealKitError) in
                let response = try await client.transport.get(Endpoints.accounts.me.route.template, token: token)
                noteDevices(response.deviceRevision)
                let _: Sealkit_V1_AccountResponse = try Client.decode(response)
            }
            return .available
        } catch {
            switch error.code {
            case .operationCancelled, .invalidArguments: throw error
            default: return AccountStatus(error.code) ?? .couldNotDetermine
            }
        }
    }

    /// Ends this device's session on the server.
    /// - Throws: what keeps the server from being told, such as `networkFailure`: called again, it tells it.
    public func logOut() async throws(SealKitError) { try await session.logOut() }

    /// A call that the server answers to this account only.
    func call<Access: RootAccess, Request: Message, Response: Message>(
        _ endpoint: Endpoint<Access, Request, Response>, _ request: Request
    ) async throws(SealKitError) -> Response {
        try await call(endpoint, at: endpoint.route.template, request)
    }

    /// The same at a path with parameters.
    /// - Parameters:
    ///   - path: the endpoint's, its parameters filled in.
    ///   - prepare: what has to be done before, in each attempt; doing it again costs nothing.
    func call<Access, Request: Message, Response: Message>(
        _ endpoint: Endpoint<Access, Request, Response>, at path: String, _ request: Request,
        after prepare: () async throws(SealKitError) -> Void = { () throws(SealKitError) in }
    ) async throws(SealKitError) -> Response {
        try await call(endpoint, at: path, body: try Client.encode(request), after: prepare) {
            response throws(SealKitError) in try Client.decode(response)
        }
    }

    /// The same with the message's bytes: what is repeated is the same bytes.
    /// - Parameter decode: of the answer.
    func call<Access, Request, Response, Answer>(
        _ endpoint: Endpoint<Access, Request, Response>, at path: String, body: Data,
        after prepare: () async throws(SealKitError) -> Void,
        _ decode: (TransportResponse) throws(SealKitError) -> Answer
    ) async throws(SealKitError) -> Answer {
        try await exchange(endpoint.route, endpoint.again.kind, after: prepare) { token throws(SealKitError) in
            let response = try await client.transport.post(path, body: body, token: token)
            // What is said of the list is for the others: a look at it causes no other look.
            if endpoint.route.name != Endpoints.devices.list.route.name { noteDevices(response.deviceRevision) }
            return try decode(response)
        }
    }

    /// Runs an exchange with a session's token: logs in when there is none, and once more when it has ended.
    /// - Parameter again: what the body does when it is run a second time: not what its route does, where each run asks
    ///   for another thing.
    func exchange<T>(
        _ route: Route, _ again: Repetition,
        after prepare: () async throws(SealKitError) -> Void = { () throws(SealKitError) in },
        _ body: (_ token: String) async throws(SealKitError) -> T
    ) async throws(SealKitError) -> T {
        do throws(SealKitError) {
            let result = try await client.attempt(route, again) { () async throws(SealKitError) in
                try await prepare()
                let token = try await session.token()
                do throws(SealKitError) {
                    return try await body(token)
                } catch let error where error.code == .sessionExpired {
                    return try await body(try await session.renewedToken(insteadOf: token))
                }
            }
            standing.note(.available)
            return result
        } catch {
            if let status = AccountStatus(error.code) { standing.note(status) }
            throw error
        }
    }

    /// - Throws: `notAuthenticated`, `accountTemporarilyUnavailable`, or why the server could not be asked.
    func requireSession() async throws(SealKitError) {
        if await session.hasToken { return }
        try await exchange(Endpoints.accounts.login.route, .read) { _ throws(SealKitError) in }
    }

    /// By the newest keys that the server may know, of which only a login tells: a recovery bundle has all that it
    /// knows, and new keys are for zones once it knows them.
    func requireNewestSession() async throws(SealKitError) {
        if keys.mayBeTold { _ = try await session.renewedToken() } else { try await requireSession() }
    }

    /// Streams a byte range down; after an interruption it goes on where it was.
    func download(
        _ path: String, range: Range<UInt64>, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        var next = range.lowerBound
        try await exchange(Endpoints.assets.download.route, .read) { token throws(SealKitError) in
            guard next < range.upperBound else { return }
            try await client.transport.download(path, range: next..<range.upperBound, token: token) { part in
                try await consume(part)
                next += UInt64(part.readableBytes)
            }
        }
    }
}
