import SealPrimitives

/// What takes a refused entry back: the part of the state that is bounded, as it was. What grows with the log is marked
/// with the sequence of its entry instead, so that appending never copies it.
struct RosterUndo {
    private let incarnations: Incarnations
    private let encryptionScope: EncryptionScope
    private let isClosed, rotationDue: Bool
    private let linkID: Digest?
    private let publicSeat: PublicSeat?
    private let members: [UserID: Roster.Member]
    private let invitations: [ID16: Invitation]
    private let inviters: [ID16: UserID]
    private let blocked: Set<UserID>
    private let rootRecordName: String?
    private let lastGrantHashes: [GrantSubject: Digest]
    private let abandonments: Int

    init(_ roster: Roster) {
        incarnations = roster.incarnations
        encryptionScope = roster.encryptionScope
        isClosed = roster.isClosed
        rotationDue = roster.rotationDue
        linkID = roster.linkID
        publicSeat = roster.publicSeat
        members = roster.members
        invitations = roster.invitations
        inviters = roster.inviters
        blocked = roster.blocked
        rootRecordName = roster.rootRecordName
        lastGrantHashes = roster.epochs.last?.grantHashes ?? [:]
        abandonments = roster.abandonments.count
    }

    func restore(_ roster: inout Roster) {
        roster.incarnations = incarnations
        roster.encryptionScope = encryptionScope
        roster.isClosed = isClosed
        roster.rotationDue = rotationDue
        roster.linkID = linkID
        roster.publicSeat = publicSeat
        roster.members = members
        roster.invitations = invitations
        roster.inviters = inviters
        roster.blocked = blocked
        roster.rootRecordName = rootRecordName
        roster.abandonments.removeSubrange(abandonments...)
        let refused = roster.nextSequence
        roster.epochs.removeAll { $0.openedAt >= refused }
        if !roster.epochs.isEmpty { roster.epochs[roster.epochs.count - 1].grantHashes = lastGrantHashes }
        roster.usedInvitations = roster.usedInvitations.filter { $0.value < refused }
        for (user, standings) in roster.history where standings.contains(where: { $0.from >= refused }) {
            let kept = standings.filter { $0.from < refused }
            roster.history[user] = kept.isEmpty ? nil : kept
        }
    }
}
