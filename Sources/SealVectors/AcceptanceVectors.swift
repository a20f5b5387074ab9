import SealEnvelope
import SealPrimitives
import SealStatements

enum AcceptanceVectors: Construction {
    static let name = "acceptance"
    static let algorithm = "Acceptance signatures"
    static let header = [
        "The invitation key that `linkSecret` gives in `scopeID` for `invitationID` signs an acceptance of `acceptor` (an identity of generation 0, its `identitySignature`) at `head`."
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let zone = try VectorZone()
        let alice = try VectorPerson(2)
        let keys = try zone.invitationKeys(1)
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: zone.scope.id, invitationID: keys.id, acceptor: alice.identity, head: zone.roster.head)
        try builder.group("Acceptance") { group in
            group.valid(
                "an acceptance",
                [
                    "linkSecret": .hex(VectorZone.linkBytes), "container": .string(VectorZone.container),
                    "scopeID": .hex(zone.scope.id),
                    "invitationID": .hex(keys.id), "acceptor": .hex(alice.identity.signed[0].bytes),
                    "identitySignature": .hex(alice.identity.signed[0].signature), "head": .hex(zone.roster.head),
                    "signature": .hex(keys.signingKey.sign(message)),
                ])
            group.altered("another scope", ["scopeID": .hex(Digest.zero)])
            group.altered("another invitation", ["invitationID": .hex(ID16.zero)])
            group.altered("another head", ["head": .hex(Digest.zero)])
            group.altered("another link secret", ["linkSecret": .hex(Digest.zero)])
            let bob = try VectorPerson(3).identity.signed[0]
            group.altered("another acceptor", ["acceptor": .hex(bob.bytes), "identitySignature": .hex(bob.signature)])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let acceptor = try IdentityChain(
            verifying: [SignedIdentity(bytes: test.bytes("acceptor"), signature: test.bytes("identitySignature"))],
            container: test.string("container"))
        let keys = try LinkSecret(test.secret("linkSecret")).invitationKeys(
            scopeID: test.digest("scopeID"), invitationID: test.id("invitationID"))
        try keys.signingKey.verificationKey.verify(
            test.bytes("signature"),
            over: RosterChange.Acceptance.signedBytes(
                scopeID: test.digest("scopeID"), invitationID: test.id("invitationID"), acceptor: acceptor,
                head: test.digest("head")))
    }
}
