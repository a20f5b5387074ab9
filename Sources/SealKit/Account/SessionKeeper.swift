import Foundation
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Logs in by a signed challenge when a token is needed, and keeps the token in memory only.
actor SessionKeeper {
    private let client: Client
    private let loginKey: SigningKey
    nonisolated let deviceName: String
    private let devices: DeviceKeeper
    /// There is no account to log in to: the token is empty.
    private let isEmpty: Bool
    private var current: String?
    /// How often the account logged out: event streams end by that.
    private(set) var logOutCount = 0
    private var login: SharedWork<String>?

    init(client: Client, loginKey: SigningKey, deviceName: String, devices: DeviceKeeper, isEmpty: Bool = false) {
        self.devices = devices
        self.isEmpty = isEmpty
        self.client = client
        self.loginKey = loginKey
        self.deviceName = deviceName
    }

    nonisolated var publicKey: VerificationKey { loginKey.verificationKey }

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

    func create(recovery: Sealkit_V1_RecoveryBundle) async throws(SealKitError) {
        current = begun(try await withAnsweredChallenge { answer throws(SealKitError) in
            let request = Sealkit_V1_CreateAccountRequest.with {
                $0.loginKey = answer.loginKey
                $0.challenge = answer.challenge
                $0.time = answer.time
                $0.signature = answer.signature
                $0.deviceID = answer.deviceID
                $0.deviceName = answer.deviceName
                $0.deviceAdded = answer.deviceAdded
                $0.deviceSignature = answer.deviceSignature
                $0.recovery = recovery
            }
            return try await client.call(
                "/1/accounts/create", request, as: Sealkit_V1_SessionResponse.self)
        })
    }

    /// The token of a session that has begun, with which the list of devices may come.
    private func begun(_ answer: Sealkit_V1_SessionResponse) -> String {
        if answer.hasDevices { devices.took(answer.devices) }
        return answer.token
    }

    /// Deletes the account. There is no session afterwards.
    func delete() async throws(SealKitError) {
        let _: Sealkit_V1_DeleteAccountResponse = try await withAnsweredChallenge(Challenges.deletion) {
            answer throws(SealKitError) in
            let request = Sealkit_V1_DeleteAccountRequest.with {
                $0.loginKey = answer.loginKey
                $0.challenge = answer.challenge
                $0.time = answer.time
                $0.signature = answer.signature
            }
            return try await client.call("/1/accounts/delete", request)
        }
        logOutCount += 1
        current = nil
    }

    func logOut() async throws(SealKitError) {
        logOutCount += 1
        guard let token = current else { return }
        current = nil
        do {
            let _: Sealkit_V1_AccountResponse = try await client.call(
                "/1/accounts/logout", Sealkit_V1_ChallengeRequest(), token: token)
        } catch where error.code == .sessionExpired {
            // It has ended: at another device's wish, or by an earlier attempt whose answer was lost.
        }
    }

    private func logIn() async throws(SealKitError) -> String {
        defer { login = nil }
        do {
            let token = begun(try await withAnsweredChallenge { answer throws(SealKitError) in
                try await client.call("/1/accounts/login", answer, as: Sealkit_V1_SessionResponse.self)
            })
            current = token
            return token
        } catch {
            throw SessionKeeper.meaning(of: error)
        }
    }

    /// What a refused login means to the call that needed it: nothing of it is about a record.
    private static func meaning(of error: SealKitError) -> SealKitError {
        switch error.code {
        case .unknownItem:
            SealKitError(
                .notAuthenticated, "the server knows no account with these keys",
                remedy: "check the server's address, or create the account")
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

    /// A challenge is good once: when the answer to it was lost, the next try asks for a new one. Making the same account
    /// twice logs in.
    private func withAnsweredChallenge<Answer>(
        _ message: (_ origin: String, _ challenge: [UInt8], _ time: Int64) -> PAE = Challenges.login,
        _ send: (Sealkit_V1_LoginRequest) async throws(SealKitError) -> Answer
    ) async throws(SealKitError) -> Answer {
        var tries = 0
        while true {
            do {
                return try await send(try await answerChallenge(message))
            } catch {
                tries += 1
                guard tries < 3, error.code == .networkFailure || error.code == .serverResponseLost else {
                    // Logging in changes nothing that anybody would have to look up.
                    guard error.code == .serverResponseLost else { throw error }
                    throw SealKitError(.networkFailure, error.reason, remedy: "try again", retryAfter: error.retryAfter)
                }
            }
        }
    }

    private func answerChallenge(
        _ message: (_ origin: String, _ challenge: [UInt8], _ time: Int64) -> PAE
    ) async throws(SealKitError) -> Sealkit_V1_LoginRequest {
        let publicKey = Data(loginKey.verificationKey.bytes)
        let challenge = try await client.call(
            "/1/accounts/challenge", Sealkit_V1_ChallengeRequest.with { $0.loginKey = publicKey },
            as: Sealkit_V1_ChallengeResponse.self
        ).challenge
        let device = try await devices.identity()
        let name = device.name ?? deviceName
        let time = currentTime()
        // The origin is the one that this client dialled: an answer that a server passes on is of no use elsewhere.
        let signed = message(client.transport.origin, [UInt8](challenge), time)
        return .with {
            $0.loginKey = publicKey
            $0.challenge = challenge
            $0.time = time
            $0.signature = Data(loginKey.sign(signed))
            $0.deviceID = Data(device.id.bytes)
            $0.deviceName = name
            $0.deviceAdded = device.added
            $0.deviceSignature = Data(loginKey.sign(Challenges.device(device.id, name: name, added: device.added)))
            $0.knownDevices = devices.settledRevision
        }
    }
}
