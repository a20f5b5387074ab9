import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension AcceptanceVectors: Construction {
    static let construction = VectorConstruction.acceptance
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
}
