/// What a write has to itself while it runs: nobody else's write with the same home runs at the same time.
///
/// An engine with one writer, like SQLite, gives every write everything. One with several goes by this, so each write
/// names its home, and beside it what it relies on and does not change. A narrower home than it needs would let it see
/// half of what another one does.
///
/// What a body changes outside its home is right whoever else runs, and one of four things: a counter that is changed
/// in place, a row that a unique key protects, a feed's row with what hangs on it, or what has had its time, by the
/// statement's own condition. What it reads elsewhere may have changed when it commits.
package enum Home: Hashable, Sendable {
    /// All there is, as with SQLite.
    case everything
    /// A zone's records, roster, grants, links, and what follows from them.
    case zone(owner: Int64, zone: Int64)
    /// Sessions, devices, keys, identities.
    case account(Int64)
    /// A container's schema and roles, in one environment.
    case container(String, environment: Int64)
    /// How much an account has stored. Whoever has it beside their home changes it, so that they have it to themselves:
    /// held before anything else is changed, it leaves nothing that two zones' writes change in different orders.
    case bill(Int64)
    /// One row that all servers share and nothing else goes with, by its key: a challenge, what one subject is counted
    /// by, a message on its way.
    case entry([UInt8])
    /// The lease of a job, by its name, which has it beside each step's home or as that. What else a job changes there,
    /// others may add to or change at the same time: the general rule holds for it.
    case job(String)

    /// Whether several may have it beside their homes.
    var isShared: Bool {
        switch self {
        case .bill, .job: false
        case .everything, .zone, .account, .container, .entry: true
        }
    }
}

/// The homes of a transaction.
struct Homes {
    let own: Home
    /// Nobody else has one of these to itself meanwhile; a bill, nobody else has at all.
    let beside: Set<Home>

    init(_ own: Home, beside: Set<Home> = []) {
        (self.own, self.beside) = (own, beside)
    }
}
