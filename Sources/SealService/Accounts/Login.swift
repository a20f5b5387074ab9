package import SealPrimitives
package import SealStorage
package import SealWire
import SwiftProtobuf

/// A login: who holds the key, on which device.
package struct Login: Sendable {
    package let proof: LoginProof
    package let device: DeviceStatement
    /// The revision of the account's list of devices that the client has.
    let knownDevices: UInt64

    package var loginKey: VerificationKey { proof.loginKey }

    package init(_ request: Sealkit_V1_LoginRequest) throws(ServerError) {
        proof = try LoginProof(request)
        device = try DeviceStatement(
            id: request.deviceID, name: request.deviceName, added: request.deviceAdded,
            signature: request.deviceSignature)
        knownDevices = request.knownDevices
    }

    package init(_ request: Sealkit_V1_CreateAccountRequest) throws(ServerError) {
        try self.init(
            Sealkit_V1_LoginRequest.with {
                $0.loginKey = request.loginKey
                $0.challenge = request.challenge
                $0.time = request.time
                $0.signature = request.signature
                $0.deviceID = request.deviceID
                $0.deviceName = request.deviceName
                $0.deviceAdded = request.deviceAdded
                $0.deviceSignature = request.deviceSignature
            })
    }

    /// Checks everything.
    /// - Parameter holder: as `LoginProof.claimChallenge` takes it.
    package func verify(
        _ terms: LoginTerms, as holder: LoginChallenges.Holder? = nil
    ) async throws -> ClaimedChallenge {
        try proof.check(terms)
        try device.verify(by: loginKey)
        return try await proof.claimChallenge(terms, as: holder)
    }

    /// Enters the device and issues its session, in the caller's transaction.
    /// - Parameter token: 32 random bytes.
    /// - Throws: `accountSuspended`; what devices are refused with.
    package func begin(
        _ account: Accounts.Row, token: [UInt8], now: Int64, in connection: any SQLConnection
    ) throws -> Sealkit_V1_SessionResponse {
        try account.requireInForce()
        let entered = try Devices.enter(device, account: account.id, loginKey: loginKey, now: now, in: connection)
        let issued = try Sessions.issue(
            account: account.id, device: entered.row, now: now, randomToken: token, in: connection)
        return try answer(account, entered, issued, in: connection)
    }

    /// The same where nothing can be written, of a device that is entered already, from a snapshot.
    /// - Returns: nil for another device.
    /// - Throws: `storageFull` where there are too many such sessions; `accountSuspended`.
    package func beginProvisionally(
        _ account: Accounts.Row, token: [UInt8], now: Int64, sessions: Sessions, in connection: any SQLConnection
    ) throws -> Sealkit_V1_SessionResponse? {
        try account.requireInForce()
        guard
            let entered = try Devices.entered(device, account: account.id, loginKey: loginKey, in: connection)
        else { return nil }
        let issued = try sessions.issueProvisional(
            account: account.id, device: entered.row, now: now, randomToken: token)
        return try answer(account, entered, issued, in: connection)
    }

    private func answer(
        _ account: Accounts.Row, _ entered: Devices.Entered, _ issued: Sessions.Issued,
        in connection: any SQLConnection
    ) throws -> Sealkit_V1_SessionResponse {
        let isKnown = knownDevices == UInt64(clamping: entered.revision)
        let devices = isKnown ? nil : try Devices.list(account: account.id, revision: entered.revision, in: connection)
        return .with {
            if let devices { $0.devices = devices }
            $0.token = issued.token
            $0.expires = issued.expires
            $0.account = account.name
        }
    }
}
