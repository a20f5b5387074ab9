import SealClient
import SealHPKE
import SealStatements

/// Pages of a scope's roster, taken into what is known of it.
extension SharedZone {
    /// A page of the log; with the last one, the newest grants.
    static func take(
        _ tail: RosterTail, into replica: inout ScopeReplica<SodiumHPKE>, as own: OwnIdentity
    ) throws(ClientError) -> (isMoreComing: Bool, below: UInt32) {
        switch try replica.course(of: tail, asked: replica.roster?.head) {
        case .onwards: break
        // A page gives no server back what it has lost, and ends no fork: an app does.
        case .behind: throw .shortened
        case .outrun, .apart: throw .forked(from: replica.head)
        }
        replica.note(tail)
        let known = replica.entries.count
        guard replica.adopt(try replica.step(tail.entries, isLast: !tail.isMoreComing, as: own)) else {
            throw .endless
        }
        guard !tail.isMoreComing else {
            guard replica.entries.count > known else { throw .endless }
            return (true, 0)
        }
        replica.open(tail.grants, as: own)
        return (false, try next(after: tail, in: replica))
    }

    /// Grants of epochs that no newer one opens.
    static func takeEarlier(
        _ page: RosterTail, below epoch: UInt32, into replica: inout ScopeReplica<SodiumHPKE>, as own: OwnIdentity
    ) throws(ClientError) -> (isMoreComing: Bool, below: UInt32) {
        try replica.check(page, below: epoch)
        replica.open(page.grants, as: own)
        if !page.hasMoreGrants { replica.noteAllGrantsAsked() }
        return (false, try next(after: page, in: replica))
    }

    private static func next(
        after tail: RosterTail, in replica: ScopeReplica<SodiumHPKE>
    ) throws(ClientError) -> UInt32 {
        guard tail.hasMoreGrants, replica.wantsEarlierGrants else { return 0 }
        return try replica.epochToAskBelow(oldest: tail.grants.first?.epoch)
    }
}
