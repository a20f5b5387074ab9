import SealClient
import SealEnvelope
import SealPrimitives

/// Who is here: an account that the page has made or brought back, and the device that the page is to it.
struct Visitor {
    var keys: KeyGenerations
    var device: (id: ID16, name: String, added: Int64)
    /// There is a way back into it: nothing that can be used up once is used up by one that goes with the tab.
    var isKept: Bool
    /// What the device that it came from has seen of rosters.
    var heads: [Enrolment.Head] = []

    init(_ seeds: [AccountSeed], deviceName: String, time: Int64, isKept: Bool, random: inout SystemRandom)
        throws(SealError)
    {
        keys = try KeyGenerations(seeds)
        device = (ID16(random: &random), deviceName, time)
        self.isKept = isKept
    }
}

/// A visitor's keys in the share's container.
struct VisitorIdentity {
    let own: OwnIdentity
    let registration: IdentityRegistration
    let heads: [Enrolment.Head]
}
