public import SealPrimitives
import SealStatements

/// What answers a server's challenge: the login key is at hand now, and on which device.
public struct ChallengeAnswer: Sendable {
    public enum Purpose: Sendable {
        case login
        case deletion
    }

    public let loginKey: VerificationKey
    public let challenge: [UInt8]
    /// The client's clock, microseconds since 1970.
    public let time: Int64
    public let signature: [UInt8]
    public let device: DeviceStatement

    /// - Parameters:
    ///   - challenge: as the server gave it for the key. It is good once.
    ///   - origin: of the server that was asked, as this client reaches it: an answer that a server passes on is of no
    ///     use elsewhere.
    ///   - device: id, name and time of the device, which are the same at each login.
    public init(
        _ challenge: [UInt8], to purpose: Purpose, origin: String, by key: SigningKey,
        device: (id: ID16, name: String, added: Int64), time: Int64
    ) {
        loginKey = key.verificationKey
        self.challenge = challenge
        self.time = time
        let message =
            switch purpose {
            case .login: Challenges.login(origin: origin, challenge: challenge, time: time)
            case .deletion: Challenges.deletion(origin: origin, challenge: challenge, time: time)
            }
        signature = key.sign(message)
        self.device = DeviceStatement(id: device.id, name: device.name, added: device.added, by: key)
    }
}

extension Wire.LoginRequest {
    /// - Parameter knownDevices: the revision of the list of devices that this one knows; 0 for none.
    public init(_ answer: ChallengeAnswer, knownDevices: UInt64) {
        loginKey = answer.loginKey.bytes
        challenge = answer.challenge
        time = answer.time
        signature = answer.signature
        deviceName = answer.device.name
        deviceID = answer.device.id.bytes
        deviceAdded = answer.device.added
        deviceSignature = answer.device.signature
        self.knownDevices = knownDevices
    }
}

extension Wire.CreateAccountRequest {
    /// - Parameter registrationCode: empty where anybody may make an account.
    public init(_ answer: ChallengeAnswer, recovery: RecoveryBundle, registrationCode: String) {
        self.init(answer, registrationCode: registrationCode)
        self.recovery = Wire.RecoveryBundle(recovery)
    }

    /// Of an account that nothing brings back.
    public init(_ answer: ChallengeAnswer, registrationCode: String) {
        loginKey = answer.loginKey.bytes
        challenge = answer.challenge
        time = answer.time
        signature = answer.signature
        deviceName = answer.device.name
        deviceID = answer.device.id.bytes
        deviceAdded = answer.device.added
        deviceSignature = answer.device.signature
        self.registrationCode = registrationCode
    }
}

extension Wire.DeleteAccountRequest {
    public init(_ answer: ChallengeAnswer) {
        loginKey = answer.loginKey.bytes
        challenge = answer.challenge
        time = answer.time
        signature = answer.signature
    }
}
