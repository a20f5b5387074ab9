import Foundation
import SealClient
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Logs in by a signed challenge when a token is needed, and keeps the token in memory only.
actor SessionKeeper {
    private let client: Client
    private let keys: AccountKeys
    nonisolated let deviceName: String
    private let devices: DeviceKeeper
    /// There is no account to log in to: the token is empty.
    private let isEmpty: Bool
    private var current: String?
    /// Those that the account has logged out of, and that the server may not have heard of.
    private var ending: Set<String> = []
    /// How often the account logged out: event streams end by that.
    private(set) var logOutCount = 0
    private var login: SharedWork<String>?
    /// The server refuses this device, and not the account.
    private(set) var isRemoved = false

    init(client: Client, keys: AccountKeys, deviceName: String, devices: DeviceKeeper, isEmpty: Bool = false) {
        self.devices = devices
        self.isEmpty = isEmpty
        self.client = client
        self.keys = keys
        self.deviceName = deviceName
    }

    nonisolated var publicKey: VerificationKey { keys.loginKey.verificationKey }

    var hasToken: Bool { isEmpty || current != nil }

    func token() async throws(SealKitError) -> String {
        if let current { return current }
        return try await renewedToken()
    }

    /// A new session, whatever there was. Callers that come at once share one login.
    func renewedToken() async throws(SealKitError) -> String {
        if isEmpty { return "" }
        current = nil
        let work = login ?? SharedWork { try await self.logIn() }
        login = work
        return try await work.value()
    }

    /// Another session than the one that has ended: one that has begun since is it.
    func renewedToken(insteadOf ended: String) async throws(SealKitError) -> String {
        noteEnd(of: ended)
        return try await token()
    }

    /// The server has said so.
    func noteEnd(of ended: String) { if current == ended { current = nil } }

    func create(
        recovery: Sealkit_V1_RecoveryBundle, registrationCode: String? = nil
    ) async throws(SealKitError) {
        current = begun(
            try await withAnsweredChallenge(
                to: Endpoints.accounts.create.route, by: keys.loginKey, misnamed: .invalidArguments
            ) {
                [client] answer throws(SealKitError) in
                let request = Sealkit_V1_CreateAccountRequest.with {
                    $0.loginKey = Data(answer.loginKey.bytes)
                    $0.challenge = Data(answer.challenge)
                    $0.time = answer.time
                    $0.signature = Data(answer.signature)
                    $0.deviceID = Data(answer.device.id.bytes)
                    $0.deviceName = answer.device.name
                    $0.deviceAdded = answer.device.added
                    $0.deviceSignature = Data(answer.device.signature)
                    $0.recovery = recovery
                    $0.registrationCode = registrationCode ?? ""
                }
                return try await client.call(Endpoints.accounts.create, request)
            })
    }

    /// The token of a session that has begun, with which the list of devices may come.
    private func begun(_ answer: Sealkit_V1_SessionResponse) -> String {
        if answer.hasDevices { devices.took(answer.devices) }
        return answer.token
    }

    /// Deletes the account. There is no session afterwards.
    func delete() async throws(SealKitError) {
        do { try await tellDeletion() } catch {
            // Keys that the server was not told of are no account: one with the keys before them is there.
            throw error.code == .unknownItem && keys.isNewestUnknown ? meaning(of: error) : error
        }
        logOutCount += 1
        current = nil
    }

    private func tellDeletion() async throws(SealKitError) {
        let _: Sealkit_V1_DeleteAccountResponse = try await withAnsweredChallenge(
            to: Endpoints.accounts.delete.route, by: keys.loginKey, .deletion
        ) {
            [client] answer throws(SealKitError) in
            let request = Sealkit_V1_DeleteAccountRequest.with {
                $0.loginKey = Data(answer.loginKey.bytes)
                $0.challenge = Data(answer.challenge)
                $0.time = answer.time
                $0.signature = Data(answer.signature)
            }
            return try await client.call(Endpoints.accounts.delete, request)
        }
    }

    func logOut() async throws(SealKitError) {
        logOutCount += 1
        if let current { ending.insert(current) }
        current = nil
        // Called again after a failure, it ends what the server has not heard of.
        while let token = ending.first {
            do {
                try await end(token)
            } catch let error where error.code == .sessionExpired {
                // It has ended: at another device's wish, or by an earlier attempt whose answer was lost.
            }
            ending.remove(token)
        }
    }

    /// Ends a session. That it has ended says as much as an answer that was lost.
    private func end(_ token: String) async throws(SealKitError) {
        let (client, route) = (client, Endpoints.accounts.logout.route)
        let _: Sealkit_V1_AccountResponse = try await client.attempt(route, .read) {
            @Sendable () async throws(SealKitError) in
            try Client.decode(try await client.transport.post(route.template, body: Data(), token: token))
        }
    }

    private func logIn() async throws(SealKitError) -> String {
        defer { login = nil }
        do {
            let token = try await newestToken()
            (current, isRemoved) = (token, false)
            return token
        } catch {
            isRemoved = error.code == .permissionFailure
            throw meaning(of: error)
        }
    }

    /// By the newest key that the server knows.
    private func newestToken() async throws(SealKitError) -> String {
        for key in keys.loginAttempts { if let token = try await logIn(by: key) { return token } }
        keys.noneIsKnown()
        throw SealKitError(.unknownItem, "the server knows no account with these keys")
    }

    /// - Returns: nil when the server knows no account with this key.
    private func logIn(by key: SigningKey) async throws(SealKitError) -> String? {
        guard let answer = try await loginAnswer(by: key) else { return nil }
        return begun(answer)
    }

    private func loginAnswer(by key: SigningKey) async throws(SealKitError) -> Sealkit_V1_SessionResponse? {
        do {
            let answer = try await withAnsweredChallenge(
                to: Endpoints.accounts.login.route, by: key, isTriedAgain: true
            ) { [client, devices] answer throws(SealKitError) in
                try await client.call(
                    Endpoints.accounts.login,
                    Sealkit_V1_LoginRequest(answer, knownDevices: devices.settledRevision))
            }
            keys.isKnown(key.verificationKey)
            return answer
        } catch let error where error.code == .unknownItem {
            return nil
        }
    }

    /// The newest of the former login keys that the server knows: what a rotation that was cut off goes on from. No
    /// session comes of it.
    /// - Throws: `notAuthenticated` when there is none; `keysReplaced`.
    func formerKey() async throws(SealKitError) -> SigningKey {
        for key in keys.loginKeys.dropFirst() {
            guard let token = try await logIn(by: key) else { continue }
            try? await end(token)
            return key
        }
        throw meaning(of: SealKitError(.unknownItem, "the server knows no account with these keys"))
    }

    /// Puts a new login key in the place of the one in use, with the recovery bundles that go with it.
    /// - Throws: `keysReplaced` when another device has put another one there.
    func rotate(
        from former: SigningKey, to new: SigningKey, recovery: [Sealkit_V1_RecoveryBundle]
    ) async throws(SealKitError) {
        let rotation = LoginRotation(from: former, to: new.verificationKey, origin: client.transport.origin)
        current = begun(
            try await withAnsweredChallenge(to: Endpoints.accounts.rotate.route, by: new) {
                [client, keys, devices] answer throws(SealKitError) in
                let request = Sealkit_V1_RotateKeysRequest.with {
                    $0.login = Sealkit_V1_LoginRequest(answer, knownDevices: devices.settledRevision)
                    $0.formerLoginKey = Data(rotation.formerLoginKey.bytes)
                    $0.formerSignature = Data(rotation.formerSignature)
                    $0.recovery = recovery
                }
                let mayHaveArrived = keys.beginTelling()
                do throws(SealKitError) {
                    return try await client.call(Endpoints.accounts.rotate, request)
                } catch {
                    guard !mayHaveArrived, error.isRefusedRotation else { throw error }
                    // Something on the way may have sent it twice: the first has used the challenge up.
                    if error.code == .notAuthenticated, let answer = try await self.answerIfTold(new) { return answer }
                    keys.wasRefused()
                    throw error
                }
            })
        keys.isKnown(new.verificationKey)
    }

    /// - Returns: nil where the server does not have the key, or takes no login of this device.
    private func answerIfTold(_ new: SigningKey) async throws(SealKitError) -> Sealkit_V1_SessionResponse? {
        do { return try await loginAnswer(by: new) } catch let error where error.code == .notAuthenticated {
            return nil
        }
    }

    /// What a refused login means to the call that needed it: nothing of it is about a record.
    private func meaning(of error: SealKitError) -> SealKitError {
        switch error.code {
        case .unknownItem where keys.isNewestUnknown:
            SealKitError(
                .notAuthenticated, "the server does not know this account's newest keys",
                remedy: "if new keys were being made, go on with rotateKeys(trust:show:); "
                    + "else ask whether the server was restored from an old backup")
        case .unknownItem:
            SealKitError(
                .notAuthenticated, "the server knows no account with these keys",
                remedy: "check the server's address; where there never was an account with them, create it")
        case .notAuthenticated:
            SealKitError(
                .accountTemporarilyUnavailable, "the server does not accept this account's login now: \(error.reason)",
                remedy: error.remedy, retryAfter: error.retryAfter)
        case .permissionFailure:
            SealKitError(
                .notAuthenticated, "this device was removed from the account",
                remedy: "enrol it again from another device of the account, or with the recovery key")
        default: error
        }
    }

    /// A challenge is good once: whatever is tried again, for a lost answer or a busy server, is tried with a new one.
    /// Making the same account twice logs in.
    /// - Parameters:
    ///   - route: of what `send` calls.
    ///   - isTriedAgain: once, where it is refused: for what means the same however often it is sent.
    ///   - misnamed: the code where the server is reached by another name than its own. Of an account that is there it
    ///     is a login that is not accepted now, as its name may be mended any moment.
    private func withAnsweredChallenge<Answer: Sendable>(
        to route: Route, by key: SigningKey,
        _ purpose: ChallengeAnswer.Purpose = .login, misnamed: SealKitError.Code = .notAuthenticated,
        isTriedAgain: Bool = false,
        _ send: @escaping @Sendable (ChallengeAnswer) async throws(SealKitError) -> Answer
    ) async throws(SealKitError) -> Answer {
        let attempt = { @Sendable () async throws(SealKitError) -> Answer in
            try await send(try await self.answerChallenge(by: key, purpose))
        }
        do {
            // To whoever calls it is like reading: there is nothing that anybody would have to look up.
            do {
                return try await client.attempt(route, .read, attempt)
            } catch let error where isTriedAgain && error.code == .notAuthenticated {
                // A server that was started again since, or heard of it too late, knows nothing of its challenge.
                return try await client.attempt(route, .read, attempt)
            }
        } catch {
            guard error.code == .notAuthenticated, let misnaming = await client.misnaming(as: misnamed) else {
                throw error
            }
            throw misnaming
        }
    }

    private func answerChallenge(
        by key: SigningKey, _ purpose: ChallengeAnswer.Purpose
    ) async throws(SealKitError) -> ChallengeAnswer {
        let challenge = try await client.call(
            Endpoints.accounts.challenge,
            Sealkit_V1_ChallengeRequest.with { $0.loginKey = Data(key.verificationKey.bytes) }
        ).challenge
        let device = try await devices.identity()
        return ChallengeAnswer(
            [UInt8](challenge), to: purpose, origin: client.transport.origin, by: key,
            device: (device.id, device.name ?? deviceName, device.added), time: client.pacing.time())
    }
}

extension Sealkit_V1_LoginRequest {
    fileprivate init(_ answer: ChallengeAnswer, knownDevices: UInt64) {
        self.init()
        loginKey = Data(answer.loginKey.bytes)
        challenge = Data(answer.challenge)
        time = answer.time
        signature = Data(answer.signature)
        deviceID = Data(answer.device.id.bytes)
        deviceName = answer.device.name
        deviceAdded = answer.device.added
        deviceSignature = Data(answer.device.signature)
        self.knownDevices = knownDevices
    }
}

extension SealKitError {
    /// What only a server says that has not taken the new key, and no proxy before it.
    fileprivate var isRefusedRotation: Bool {
        [.keysReplaced, .invalidArguments, .notAuthenticated, .constraintViolation, .limitExceeded].contains(code)
    }
}
