import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

package enum ClientAcceptVectors {
    static func check<H: HybridEncryption>(
        _ test: Fields, shared: Fields, type: String, using hybrid: H.Type
    ) throws(VectorError) {
        switch type {
        case "Owner": try checkOwner(test)
        case "Bundle": try checkBundle(test, using: H.self)
        default:
            var script = try ShareScript<H>(test, shared: shared)
            try script.run()
        }
    }

    private static func checkOwner(_ test: Fields) throws(VectorError) {
        let (container, environment) = (try test.string("container"), try test.environment())
        let text = try test.string("url")
        let url = try core(ShareURL(text))
        let place = try test.object("place").place()
        let generations = try test.objects("chain").map { link throws(VectorError) in
            SignedIdentity(
                bytes: try link.bytes("identity"), signature: try link.bytes("signature"),
                previousSignature: try link.bytes("previousSignature"))
        }
        let found: (owner: IdentityChain, scope: Scope)
        do {
            found = try place.owner(
                try IdentityChain(verifying: generations, container: container), behind: url, container: container,
                environment: environment)
        } catch {
            let judgement = Judgement(error)
            try test.expect("verdict", .string(judgement.name))
            throw .disbelieved(judgement)
        }
        try test.expect("verdict", .string("accepted"))
        try test.expect("scopeID", .hex(found.scope.id))
        try test.expect("signingKey", .hex(found.owner.current.signingKey.bytes))
    }

    /// The account that a guest opens with a passphrase, to accept with.
    private static func checkBundle<H: HybridEncryption>(_ test: Fields, using: H.Type) throws(VectorError) {
        let (passphrase, name, origin) = (
            try test.secret("passphrase"), try test.string("name"), try test.string("origin")
        )
        let key = try core(RecoveryKey(passphrase: passphrase, name: name, origin: origin))
        let sealed = try test.bytes("sealed")
        let opened = try core(key.open(sealed))
        let container = try test.string("container")
        let own = try core(OwnIdentity(opened, container: container, using: H.self))
        try test.expect("userRecordName", .string(own.chain.userID.recordName))
        try test.expect("signingKey", .hex(own.keys.signingKey.verificationKey.bytes))
        let seeds = try test.accountSeeds()
        try test.expect("bringsBack", .bool(RecoveryBundle.brings(opened, back: seeds)))
    }
}
