public import SealPrimitives
import SealStatements

/// A new login key in the place of the one before, at one server: signed by the one before.
public struct LoginRotation: Sendable {
    public let formerLoginKey: VerificationKey
    public let formerSignature: [UInt8]

    /// - Parameter origin: of the server, as this client reaches it.
    public init(from former: SigningKey, to new: VerificationKey, origin: String) {
        formerLoginKey = former.verificationKey
        formerSignature = former.sign(Challenges.loginRotation(origin: origin, newKey: new))
    }
}

extension Wire.RotateKeysRequest {
    /// - Parameters:
    ///   - login: by the new login key.
    ///   - recovery: every way back that the account is to have: all others go.
    public init(_ rotation: LoginRotation, login: Wire.LoginRequest, recovery: [RecoveryBundle]) {
        self.login = login
        formerLoginKey = rotation.formerLoginKey.bytes
        formerSignature = rotation.formerSignature
        self.recovery = recovery.map { Wire.RecoveryBundle($0) }
    }
}
