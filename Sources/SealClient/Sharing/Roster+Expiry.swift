public import SealPrimitives
public import SealStatements

extension Roster {
    /// Open invitations that are over, in a stable order.
    public func expiredInvitations(at time: Int64) -> [ID16] {
        invitations.values.filter { $0.expires != 0 && $0.expires <= time }.map { $0.id }.sorted()
    }
}
