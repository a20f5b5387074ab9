public import SealPrimitives
public import SealStatements

/// What somebody who asks for access to a share says of itself, readable by the share's owner alone.
public enum SealedContact<H: HybridEncryption> {
    public static func seal(
        _ contact: String, scopeID: Digest, requestID: ID16, to owner: IdentityChain
    ) throws(SealError) -> [UInt8] {
        try text(scopeID, requestID, owner.userID).seal(contact, to: owner, using: H.self)
    }

    /// - Throws: `authenticationFailed`; `malformed`.
    public static func open(
        _ sealed: [UInt8], scopeID: Digest, requestID: ID16, as owner: UserID, keys: IdentityKeys
    ) throws(SealError) -> String {
        try text(scopeID, requestID, owner).open(sealed, keys: keys, using: H.self)
    }

    private static func text(_ scopeID: Digest, _ requestID: ID16, _ owner: UserID) -> SealedText {
        SealedText(label: .sealedContact, scopeID: scopeID, id: requestID, reader: owner)
    }
}
