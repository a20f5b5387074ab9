import SealClient
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// A scope's log with the grants that went with it, as an honest server has them.
struct ScopeLog {
    let owner: Person
    let scope: Scope
    private(set) var roster: Roster
    private(set) var entries: [SignedRosterEntry]
    private(set) var key: EpochKey
    private var grants: [RosterAuthor<XWingHPKE>.Grant]
    private let link: LinkSecret
    private var random: FixedRandom

    /// - Parameter share: of a hierarchy in the zone; empty for the zone.
    init(owner: Person, zone: String = "Notes", share: String = "", random seed: UInt64 = 1) throws(SealError) {
        self.owner = owner
        random = FixedRandom(seed)
        scope = Scope(
            container: Person.container, environment: .production, owner: owner.user, zoneName: zone,
            shareRecordName: share)
        let draft = try owner.author.open(
            scope, following: nil, encryptionScope: .perRecord, rootRecordName: share.isEmpty ? nil : "root",
            identity: owner.own.chain, time: 1, random: &random)
        roster = try Roster(opening: draft.entry, scope: scope)
        guard let opened = draft.epochKey else { throw .missingKey }
        (key, entries, grants) = (opened, [draft.entry], draft.grants)
        link = LinkSecret(random: &random)
        try write([], settings: SettingsDraft(secret: link))
    }

    /// Appends what its owner signs.
    /// - Parameter held: what its author takes for the key so far.
    mutating func write(
        _ changes: [RosterChange], settings: SettingsDraft? = nil, invitations: [InvitationDraft] = [],
        rotating: Bool = false, by author: Person? = nil, holding held: EpochKey? = nil
    ) throws(SealError) {
        try append(
            try (author ?? owner).author.next(
                on: roster, changes: changes, settings: settings, invitations: invitations, rotating: rotating,
                current: held ?? key, time: Int64(roster.nextSequence) + 1, random: &random))
    }

    mutating func append(_ draft: RosterAuthor<XWingHPKE>.Draft) throws(SealError) {
        try roster.append(draft.entry)
        entries.append(draft.entry)
        grants += draft.grants
        if let opened = draft.epochKey { key = opened }
    }

    /// Invites somebody, who accepts.
    mutating func add(_ person: Person, _ permission: Permission = .readWrite) throws(SealError) {
        let keys = try link.invitationKeys(scopeID: roster.scopeID, invitationID: ID16(random: &random))
        try write(
            [],
            invitations: [
                try InvitationDraft(
                    keys: keys, permission: permission, invitee: person.own.chain, using: XWingHPKE.self)
            ])
        try append(
            try person.author.accept(keys, on: roster, identity: person.own.chain, epochKey: key, time: 9))
    }

    /// - Parameter held: as in `write`.
    mutating func rotate(holding held: EpochKey? = nil) throws(SealError) {
        try write([], rotating: true, holding: held)
    }

    /// The grants to somebody, oldest first.
    func grants(to person: Person) -> [OwnGrant] {
        grants.filter { $0.subject == .member(person.user) }.map { OwnGrant(epoch: $0.epoch, sealed: $0.sealed) }
    }

    /// What an honest server answers to who knows that many entries.
    func tail(after known: Int, to person: Person, atMost count: Int = .max) throws(ClientError) -> RosterTail {
        let page = Array(entries.dropFirst(known).prefix(count))
        let isMore = known + page.count < entries.count
        return try RosterTail(
            entries: page, isMoreComing: isMore, grants: isMore ? [] : grants(to: person).suffix(1),
            hasMoreGrants: !isMore && grants(to: person).count > 1, headSequence: roster.sequence,
            head: roster.head.bytes, isUngranted: false, abandoned: [])
    }
}

extension ScopeReplica {
    /// Judges the entries, and takes them over.
    mutating func take(_ entries: [SignedRosterEntry], isLast: Bool = true, as person: Person) throws(ClientError) {
        let step = try step(entries, isLast: isLast, as: person.own)
        _ = adopt(step)
    }
}
