import SealEnvelope
import SealPrimitives

@testable import SealStatements

/// Somebody with keys, from a seed of one repeated byte as in the vectors: their user ids are these people's.
struct Person: Sendable {
    /// Of the chain's newest generation.
    let keys: IdentityKeys
    let chain: IdentityChain

    var signingKey: SigningKey { keys.signingKey }
    var userID: UserID { chain.userID }
    var author: RosterAuthor<StandInHPKE> { RosterAuthor(user: userID, keys: keys) }

    init(_ number: UInt8, container: String = World.container) {
        let keys = certain("identity keys") {
            try AccountSeed(secret(number)).identityKeys(container: container, using: StandInHPKE.self)
        }
        self.keys = keys
        chain = certain("an identity") { try keys.firstIdentity(time: 1) }
    }

    private init(keys: IdentityKeys, chain: IdentityChain) {
        self.keys = keys
        self.chain = chain
    }

    /// The same person with one generation more; nil where there are as many as may be.
    func next(_ keys: IdentityKeys, time: Int64 = 2) -> Person? {
        guard chain.signed.count < 64 else { return nil }
        let next = certain("one generation more") {
            try keys.nextIdentity(after: chain, signedBy: self.keys, time: time)
        }
        return Person(keys: keys, chain: next)
    }

    /// The same person as a roster knows it: whoever stated newer generations there signs with those.
    func known(to roster: Roster?) -> Person {
        guard let chain = roster?.knownIdentity(of: userID), let keys = World.keyring[chain.current.signingKey] else {
            return self
        }
        return self.chain.continues(chain) ? self : Person(keys: keys, chain: chain)
    }
}

/// An invitation's keys, or a public seat's, all of one link.
struct Seat: Sendable {
    let keys: InvitationKeys
    let grantKey: [UInt8]

    init(_ number: UInt8, in scope: Scope) {
        let keys = certain("an invitation's keys") {
            try World.link.invitationKeys(scopeID: scope.id, invitationID: ID16([UInt8](repeating: number, count: 16)))
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
