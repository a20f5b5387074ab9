import SealEnvelope
import SealPrimitives
import SealStatements

/// Where those whom a wish names are in a share now.
///
/// A share may have moved on since it was read: who was invited has accepted, or has another invitation behind the same
/// URL, which no entry of the roster calls the successor of the first. By user and by invitation somebody is found for
/// certain; by address, where the reader can open those; and what might be of somebody, and is not known to be, is not
/// passed over in silence.
struct SharePlaces<H: HybridEncryption> {
    enum Place {
        case member(Roster.Member)
        case invited(Invitation)

        /// nil for the owner, and for who came by the public URL.
        var seat: Invitation? {
            switch self {
            case .member(let member): member.invitation
            case .invited(let invitation): invitation
            }
        }

        var user: UserID? {
            switch self {
            case .member(let member): member.userID
            case .invited(let invitation): invitation.invitee?.userID
            }
        }
    }

    private let roster: Roster
    /// Whether the reader can open every address: owners can, and administrators those that were sealed since.
    private let readsAll: Bool
    /// Those that nobody in the wish has for certain.
    private var others: [(place: Place, seat: Invitation, address: String?)] = []

    init(of wish: ShareWish, in roster: Roster, as own: OwnIdentity) {
        self.roster = roster
        readsAll = own.chain.userID == roster.owner
        let people = wish.people.map { $0.before ?? $0.now } + wish.gone
        let found = people.map { Self.certain($0, in: roster) }
        guard found.contains(where: { $0 == nil }) else { return }
        let taken = Set(found.compactMap { $0?.seat?.id })
        let places =
            roster.members.values.map { Place.member($0) } + roster.invitations.values.map { Place.invited($0) }
        for place in places {
            guard let seat = place.seat, !taken.contains(seat.id) else { continue }
            let address = try? own.open { keys throws(SealError) in
                try SealedAddresses<H>.open(seat, scopeID: roster.scopeID, as: own.chain.userID, keys: keys)
            }
            others.append((place, seat, address))
        }
    }

    /// - Parameter person: as it was read; or somebody new, who may be there as well.
    /// - Returns: nil for whoever is not there.
    /// - Throws: `usedInvitation` where that cannot be told.
    func place(of person: ShareWish.Person) throws(ShareEditRefusal) -> Place? {
        if let place = Self.certain(person, in: roster) { return place }
        var (same, unsure): ([Place], Bool) = ([], false)
        for (place, seat, address) in others where person.user == nil || place.user == nil {
            if let wanted = person.address, let address {
                if AddressSpelling.isSame(wanted, address) { same.append(place) }
            } else if person.user == nil, address == nil || !readsAll, mayFollow(seat, person) {
                unsure = true
            }
        }
        guard same.count < 2, !(same.isEmpty && unsure) else { throw .usedInvitation }
        return same.first
    }

    /// Also somebody who was still pending when the share was read, and has accepted since.
    private static func certain(_ person: ShareWish.Person, in roster: Roster) -> Place? {
        if let member = person.user.flatMap({ roster.members[$0] }) { return .member(member) }
        if let invitation = person.invitationID.flatMap({ roster.invitations[$0] }) { return .invited(invitation) }
        if let user = person.user { return roster.invitation(for: user).map { .invited($0) } }
        guard let id = person.invitationID else { return nil }
        return roster.members.values.first { $0.invitationID == id }.map { .member($0) }
    }

    /// Whether `seat` may be the invitation that another device has made in the place of `person`'s: later, and with a
    /// URL of its own. The successor of one by address has that address; of a bare one it is bare.
    private func mayFollow(_ seat: Invitation, _ person: ShareWish.Person) -> Bool {
        guard !seat.sealedAddresses.isEmpty || (seat.invitee == nil && person.address == nil),
            let before = person.invitationID.flatMap({ roster.sequence(ofInvitation: $0) }),
            let after = roster.sequence(ofInvitation: seat.id)
        else { return false }
        return after > before
    }
}
