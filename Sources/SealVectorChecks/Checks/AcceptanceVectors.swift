import SealEnvelope
import SealPrimitives
import SealStatements

package enum AcceptanceVectors {
    static func check(_ test: Fields) throws(VectorError) {
        let container = try test.string("container")
        let signed = SignedIdentity(bytes: try test.bytes("acceptor"), signature: try test.bytes("identitySignature"))
        let acceptor = try core(IdentityChain(verifying: [signed], container: container))
        let (scopeID, id, head) = (
            try test.digest("scopeID"), try test.id("invitationID"), try test.digest("head")
        )
        let link = try test.linkSecret()
        let keys = try core(link.invitationKeys(scopeID: scopeID, invitationID: id))
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: scopeID, invitationID: id, acceptor: acceptor, head: head)
        let signature = try test.bytes("signature")
        try core(keys.signingKey.verificationKey.verify(signature, over: message))
    }
}
