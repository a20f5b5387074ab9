public import SealEnvelope
public import SealPrimitives
import SealStatements

/// Turns what is wanted of a share into one roster entry, with the grants, links and addresses that belong to it. What
/// takes a right away opens a new epoch in the same entry.
///
/// It asks nobody: whoever holds the roster sends the entry, and begins anew where another one came first.
public struct ShareEditor<H: HybridEncryption>: Sendable {
    let wish: ShareWish
    let view: ZoneView
    let links: ShareLinks
    let own: OwnIdentity
    let seed: AccountSeed
    let time: Int64

    /// - Parameters:
    ///   - view: the share's roster and keys, as its editor has verified them.
    ///   - links: of the share, that its editor has.
    ///   - seed: the account's newest, which keeps the secrets of new URLs.
    ///   - time: the editor's clock, microseconds since 1970.
    public init(
        _ wish: ShareWish, in view: ZoneView, links: ShareLinks, as own: OwnIdentity, keptBy seed: AccountSeed,
        time: Int64
    ) {
        (self.wish, self.view, self.links) = (wish, view, links)
        (self.own, self.seed, self.time) = (own, seed, time)
    }

    struct Plan {
        /// Those of whom something is wanted, and where each is in the share.
        var people: [Placed] = []
        var revoked: Set<ID16> = []
        var removed: Set<UserID> = []
        /// Whom the settings put out: everybody who joined by the public URL.
        var joiners: Set<UserID> = []
        /// After revoking and removing, in this order.
        var changes: [RosterChange] = []
        var settings: SettingsDraft?
        var invitations: [InvitationDraft] = []
        var links: [Wire.Link] = []
        var addresses: [Wire.PlaceholderAddress] = []
        var takesRightAway = false
        /// What new URLs show.
        let preview: SignedPreview
        /// The share-wide link after the entry.
        var shareWide: ShareLinks.Link?
        var renewsLink = false

        var allChanges: [RosterChange] {
            revoked.sorted().map { .revoke($0) } + removed.sorted().map { .remove($0) } + changes
        }
        var isEmpty: Bool {
            revoked.isEmpty && removed.isEmpty && changes.isEmpty && invitations.isEmpty && settings == nil
        }
        var putsOut: Bool {
            guard removed.isEmpty else { return true }
            for change in changes { if case .block = change { return true } }
            return false
        }
    }

    var roster: Roster { view.roster }
    var isOwner: Bool { roster.owner == view.user }

    /// - Returns: nil where there is nothing to change.
    /// - Throws: what is refused here, before the server hears of it.
    public func entry(random: inout some RandomSource) throws(ShareEditRefusal) -> ShareEntry<H>? {
        try entry(of: try plan(random: &random), random: &random)
    }

    /// What follows the opening of a share in the same request; nil for nothing, and for what takes a right away: that
    /// opens another key than the records of the request are sealed under.
    public func firstEntry(random: inout some RandomSource) throws(ShareEditRefusal) -> ShareEntry<H>? {
        let plan = try plan(random: &random)
        return plan.takesRightAway ? nil : try entry(of: plan, random: &random)
    }

    private func entry(of plan: Plan, random: inout some RandomSource) throws(ShareEditRefusal) -> ShareEntry<H>? {
        guard !plan.isEmpty else { return nil }
        let key = try view.sealingKey(isRotating: plan.takesRightAway)
        var entry: ShareEntry<H>
        // What the rules refuse is refused here, before the server hears of it.
        var checked = roster
        do throws(SealError) {
            let author = RosterAuthor<H>(user: view.user, keys: own.keys(in: roster))
            entry = ShareEntry(
                try author.next(
                    on: roster, changes: plan.allChanges, settings: plan.settings, invitations: plan.invitations,
                    rotating: plan.takesRightAway, current: key, time: time, random: &random))
            try checked.append(entry.draft.entry)
        } catch {
            throw .share(error)
        }
        entry.links = plan.links
        entry.sealedLinks = try sealedLinks(plan, after: checked)
        entry.addresses = plan.addresses
        return entry
    }

    private func plan(random: inout some RandomSource) throws(ShareEditRefusal) -> Plan {
        var plan = Plan(
            preview: links.sign(wish.preview, as: own, in: roster, time: time), shareWide: links.shareWide)
        let wanted = try wantedPublicPermission()
        let changesPublic = wanted != roster.publicSeat?.permission
        if changesPublic { plan.revoked.formUnion(roster.invitations.keys) }
        if changesPublic, wanted == nil {
            for member in roster.members.values where member.role == .publicUser { plan.joiners.insert(member.userID) }
        }
        let places = SharePlaces<H>(of: wish, in: roster, as: own)
        try planRemovals(&plan, places)
        plan.people = try placed(by: places, beside: plan)
        try planMembers(&plan)
        try planSettings(&plan, wanted: wanted, changesPublic: changesPublic, random: &random)
        try planInvitations(&plan, isPublic: wanted != nil, dropsPending: changesPublic, random: &random)
        plan.revoked.formUnion(roster.expiredInvitations(at: time))
        if plan.renewsLink, wanted == nil { try planRenewal(&plan, random: &random) }
        if !plan.revoked.isEmpty || !plan.removed.isEmpty { plan.takesRightAway = true }
        return plan
    }

    /// What the owner wants; what another device has set since stays where this one changed nothing.
    private func wantedPublicPermission() throws(ShareEditRefusal) -> Permission? {
        guard case .to(let wanted) = wish.publicPermission else { return roster.publicSeat?.permission }
        guard isOwner else { throw .publicIsOwners }
        return wanted
    }

    // MARK: Who goes

    private func planRemovals(_ plan: inout Plan, _ places: SharePlaces<H>) throws(ShareEditRefusal) {
        for user in wish.blocked.subtracting(roster.blocked).sorted() {
            if let member = roster.members[user] { try checkSubordinate(member) }
            if let invitation = roster.invitation(for: user) { plan.revoked.insert(invitation.id) }
            plan.changes.append(.block(user))
            plan.takesRightAway = true
        }
        for user in wish.unblocked.intersection(roster.blocked).sorted() { plan.changes.append(.unblock(user)) }
        for person in wish.gone {
            switch try places.place(of: person) {
            case .member(let member)?:
                guard !wish.blocked.contains(member.userID), !plan.joiners.contains(member.userID) else { continue }
                try checkSubordinate(member)
                plan.removed.insert(member.userID)
            case .invited(let invitation)?: plan.revoked.insert(invitation.id)
            case nil: break
            }
        }
    }

    // MARK: Who is meant

    struct Placed {
        /// As it was read; nil for somebody new.
        let before: ShareWish.Person?
        let now: ShareWish.Person
        /// nil for whoever is to be invited, or is there no more.
        let place: SharePlaces<H>.Place?
        /// Whoever was there goes by the same entry.
        let goes: Bool

        var changesPermission: Bool { before == nil || before?.permission != now.permission }
        var changesExpiry: Bool { before == nil || before?.expires != now.expires }
        /// Somebody new has the role that invitations give, unless another one is asked for.
        var changesRole: Bool { (before?.role ?? .privateUser) != now.role }
    }

    /// Those of whom something is wanted: what another device has changed since stays where this one changed nothing.
    private func placed(by places: SharePlaces<H>, beside plan: Plan) throws(ShareEditRefusal) -> [Placed] {
        var people: [Placed] = []
        for (before, now) in wish.people {
            let unplaced = Placed(before: before, now: now, place: nil, goes: false)
            guard unplaced.changesPermission || unplaced.changesExpiry || unplaced.changesRole else { continue }
            let place = try places.place(of: before ?? now)
            let goes = isLeft(place, by: before, plan)
            people.append(Placed(before: before, now: now, place: goes ? nil : place, goes: goes))
        }
        return people
    }

    /// Whether somebody goes by the same entry. Who is new in the wish comes again then; who came by the public URL,
    /// and is in it as it was read, goes.
    private func isLeft(_ place: SharePlaces<H>.Place?, by before: ShareWish.Person?, _ plan: Plan) -> Bool {
        switch place {
        case .member(let member)?:
            plan.removed.contains(member.userID) || wish.blocked.contains(member.userID)
                || (before == nil && plan.joiners.contains(member.userID))
        case .invited(let invitation)?: plan.revoked.contains(invitation.id)
        case nil: false
        }
    }

    // MARK: What members may do

    private func planMembers(_ plan: inout Plan) throws(ShareEditRefusal) {
        for person in plan.people {
            guard case .member(let member)? = person.place else { continue }
            // Only what was changed here is sent: a permission that another device has changed since stays.
            let (now, changesPermission) = (person.now, person.changesPermission)
            if person.changesRole, now.role != member.role {
                try change(member, to: now.role, changesPermission ? now.permission : nil, changesPermission, in: &plan)
            } else if changesPermission {
                try change(member, to: now.permission, in: &plan)
            }
        }
    }

    private func change(
        _ member: Roster.Member, to permission: Permission?, in plan: inout Plan
    ) throws(ShareEditRefusal) {
        guard let wanted = permission else { throw .noPermission }
        guard member.permission != wanted else { return }
        try checkSubordinate(member)
        guard member.role == .privateUser else { throw .permissionIsRoles }
        if wanted < member.permission { plan.takesRightAway = true }
        plan.changes.append(.setPermission(member.userID, wanted))
    }

    /// A permission is given before the role that needs it, and taken after it.
    private func change(
        _ member: Roster.Member, to role: Role, _ permission: Permission?, _ changesPermission: Bool,
        in plan: inout Plan
    ) throws(ShareEditRefusal) {
        guard isOwner, member.role != .owner else { throw .rolesAreOwners }
        guard member.role != .publicUser, role == .administrator || role == .privateUser else { throw .noSuchRole }
        if role == .administrator {
            if changesPermission { try change(member, to: permission, in: &plan) }
            guard (changesPermission ? permission : member.permission) == .readWrite else { throw .administratorsWrite }
            plan.changes.append(.setRole(member.userID, .administrator))
        } else {
            plan.takesRightAway = true
            plan.changes.append(.setRole(member.userID, .privateUser))
            if let permission, permission != member.permission {
                plan.changes.append(.setPermission(member.userID, permission))
            }
        }
    }

    // MARK: Settings

    /// The public seat, and the share-wide URL: made once, and anew where somebody who is put out could come back by
    /// it.
    private func planSettings(
        _ plan: inout Plan, wanted: Permission?, changesPublic: Bool, random: inout some RandomSource
    ) throws(ShareEditRefusal) {
        plan.renewsLink = (wanted != nil && plan.putsOut) || (plan.shareWide == nil && isOwner)
        if plan.renewsLink {
            let link = ShareLinks.Link(
                routingID: ID16(random: &random), secret: LinkSecret(random: &random), invitationID: nil)
            plan.shareWide = link
            plan.links.append(try kept(link, in: plan, random: &random))
        }
        guard plan.renewsLink || changesPublic, let link = plan.shareWide else { return }
        plan.settings = SettingsDraft(
            secret: link.secret, publicAccess: wanted.map { (seatID: ID16(random: &random), permission: $0) })
        // Whoever has the old URL, or joined by it, may do less than before.
        guard let before = roster.publicSeat?.permission else { return }
        if plan.renewsLink || wanted.map({ $0 < before }) ?? true { plan.takesRightAway = true }
    }

    func kept(
        _ link: ShareLinks.Link, in plan: Plan, random: inout some RandomSource
    ) throws(ShareEditRefusal) -> Wire.Link {
        do throws(SealError) {
            return try ShareLinks.keep(
                link, by: seed, scopeID: roster.scopeID, preview: plan.preview, random: &random)
        } catch {
            throw .link(error)
        }
    }

    /// The share-wide secret for those who administer the share after the entry and do not have it.
    private func sealedLinks(_ plan: Plan, after: Roster) throws(ShareEditRefusal) -> [Wire.SealedLink] {
        guard let link = plan.shareWide else { return [] }
        var sealed: [Wire.SealedLink] = []
        for member in after.members.values where member.mayAdminister {
            guard plan.renewsLink || roster.members[member.userID]?.role != member.role else { continue }
            var copy = Wire.SealedLink()
            copy.reader = member.userID.id.bytes
            do throws(SealError) {
                copy.sealed = try SealedLinks<H>.seal(link.secret, scopeID: roster.scopeID, to: member.identity)
            } catch {
                throw .link(error)
            }
            sealed.append(copy)
        }
        return sealed
    }

    /// - Throws: `ownerStays`, and `administratorsAreOwners` for one administrator in the hands of another.
    private func checkSubordinate(_ member: Roster.Member) throws(ShareEditRefusal) {
        guard member.role != .owner else { throw .ownerStays }
        guard isOwner || member.role != .administrator else { throw .administratorsAreOwners }
    }
}

extension ZoneView {
    /// The key that a roster's next entry goes by: an epoch is opened over one that its author was not given, too.
    /// - Throws: `noKey`.
    func sealingKey(isRotating: Bool) throws(ShareEditRefusal) -> EpochKey {
        if isRotating, let newestHeldKey { return newestHeldKey }
        do throws(SealError) { return try keyInForce() } catch { throw .noKey }
    }
}
