import SealEnvelope
import SealPrimitives

@testable import SealStatements

/// Somebody with keys, from a seed of one repeated byte as in the vectors: their user ids are these people's.
struct Person: Sendable {
    let seed: AccountSeed
    let keys: IdentityKeys
    /// Signs for the chain's newest generation.
    let signingKey: SigningKey
    let chain: IdentityChain

    var userID: UserID { chain.userID }
    var author: RosterAuthor<StandInHPKE> { RosterAuthor(user: userID, keys: keys) }

    init(_ number: UInt8, container: String = World.container) {
        let seed = certain("a seed") { try AccountSeed(secret(number)) }
        let keys = certain("identity keys") { try seed.identityKeys(container: container, using: StandInHPKE.self) }
        self.seed = seed
        self.keys = keys
        signingKey = keys.signingKey
        chain = certain("an identity") { try keys.firstIdentity(time: 1) }
    }

    /// The same person with one generation more.
    init(_ person: Person, next number: UInt8) {
        let new = Person(number)
        seed = person.seed
        keys = person.keys
        signingKey = new.signingKey
        var identity = new.chain.current
        identity.generation = person.chain.current.generation + 1
        identity.previous = Identity.hash(person.chain.current.canonicalBytes())
        let bytes = identity.canonicalBytes()
        let signed = SignedIdentity(
            bytes: bytes, signature: signingKey.sign(Identity.signedBytes(bytes)),
            previousSignature: person.signingKey.sign(Identity.signedBytes(bytes)))
        chain = certain("a second generation") {
            try IdentityChain(verifying: person.chain.signed + [signed], container: World.container)
        }
    }
}

/// An invitation's keys, all of one link.
struct Seat: Sendable {
    let keys: InvitationKeys
    let grantKey: [UInt8]

    init(_ number: UInt8) {
        let keys = certain("an invitation's keys") {
            try World.link.invitationKeys(
                scopeID: World.scope.id, invitationID: ID16([UInt8](repeating: number, count: 16)))
        }
        self.keys = keys
        grantKey = StandInHPKE.publicKey(seed: keys.grantSeed)
    }

    func draft(_ permission: Permission, for invitee: Person? = nil) -> InvitationDraft {
        certain("an invitation") {
            try InvitationDraft(keys: keys, permission: permission, invitee: invitee?.chain, using: StandInHPKE.self)
        }
    }
}
