import SealClient
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// Somebody with an account, of one or more generations.
struct Person {
    static let container = "com.example.notes"

    let seeds: [AccountSeed]
    let own: OwnIdentity
    var user: UserID { own.chain.userID }
    var author: RosterAuthor<XWingHPKE> { RosterAuthor(user: user, keys: own.keys) }

    init(_ generations: UInt8...) throws(SealError) {
        var seeds: [AccountSeed] = []
        for number in generations {
            seeds.append(try AccountSeed(SecretBytes(copying: [UInt8](repeating: number, count: 32))))
        }
        self.seeds = seeds
        own = try OwnIdentity(seeds, container: Person.container, using: XWingHPKE.self)
    }

    func replica(of scope: Scope) -> ScopeReplica<XWingHPKE> { ScopeReplica(scope: scope, user: user) }
}
