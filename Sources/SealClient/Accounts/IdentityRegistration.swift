public import SealPrimitives
public import SealStatements

/// An identity that a server is told of, tied to the account whose login key it names.
public struct IdentityRegistration: Sendable {
    public let chain: IdentityChain
    /// By the identity's key, over container and login key.
    public let loginBinding: [UInt8]

    /// - Parameter key: the identity's newest.
    public init(_ chain: IdentityChain, container: String, loginKey: VerificationKey, by key: SigningKey) {
        self.chain = chain
        loginBinding = key.sign(Challenges.loginBinding(container: container, loginKey: loginKey))
    }

    /// - Parameter userRecordName: what the server calls the identity.
    /// - Throws: `invalidIdentity` unless that is what its keys call it.
    public func check(answer userRecordName: String) throws(SealError) {
        guard userRecordName == chain.userID.recordName else { throw .invalidIdentity }
    }
}

extension Wire.RegisterIdentityRequest {
    public init(_ registration: IdentityRegistration, container: String) {
        self.container = container
        chain = Wire.IdentityChain(registration.chain)
        loginBinding = registration.loginBinding
    }
}
