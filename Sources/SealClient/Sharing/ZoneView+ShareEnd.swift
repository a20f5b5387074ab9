public import SealEnvelope
public import SealPrimitives
import SealStatements

extension ZoneView {
    /// The end of a zone's share: everybody is put out, and every invitation taken back. Records, the share's URL and
    /// who is blocked stay, so that the zone can be shared again.
    /// - Parameter time: the owner's clock, microseconds since 1970.
    /// - Returns: nil where nobody is in it beside its owner.
    /// - Throws: `noKey`; `share`.
    public func endOfShare<H: HybridEncryption>(
        as own: OwnIdentity, using: H.Type, time: Int64, random: inout some RandomSource
    ) throws(ShareEditRefusal) -> RosterAuthor<H>.Draft? {
        var changes: [RosterChange] = []
        if roster.publicSeat != nil, let linkID = roster.linkID { changes.append(.settings(.init(linkID: linkID))) }
        for invitation in roster.invitations.keys.sorted() { changes.append(.revoke(invitation)) }
        // Those who joined by the public URL go with the public seat.
        let members = roster.members.values.filter { $0.role != .owner && $0.role != .publicUser }
        for user in members.map({ $0.userID }).sorted() { changes.append(.remove(user)) }
        guard !changes.isEmpty else { return nil }
        let key = try sealingKey(isRotating: true)
        do throws(SealError) {
            return try RosterAuthor<H>(user: user, keys: own.keys(in: roster)).next(
                on: roster, changes: changes, rotating: true, current: key, time: time, random: &random)
        } catch {
            throw .share(error)
        }
    }
}
