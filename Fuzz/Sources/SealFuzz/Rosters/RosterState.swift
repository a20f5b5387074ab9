import SealPrimitives

@testable import SealStatements

/// Everything in a roster, to compare two of them.
struct RosterState: Equatable {
    private struct Member: Equatable {
        let identity: IdentityChain
        let role: Role
        let permission: Permission
        let invitation: Invitation?
        let since: UInt64
    }
    private struct Epoch: Equatable {
        let context: EpochContext
        let keyID: Digest
        let previousKey: [UInt8]
        let openedAt: UInt64
        let grantHashes: [GrantSubject: Digest]
    }
    private struct Abandonment: Equatable {
        let head: RosterChange.AbandonedHead
        let incarnations: Incarnations
        let owner: IdentityChain
    }
    private struct Standing: Equatable {
        let from: UInt64
        let role: Role
        let permission: Permission?
        let identity: IdentityChain
    }

    private let scope: Scope
    private let scopeID: Digest
    private let hashes: [Digest]
    private let incarnations: Incarnations
    private let encryptionScope: EncryptionScope
    private let isClosed, rotationDue: Bool
    private let linkID: Digest?
    private let publicSeat: PublicSeat?
    private let rootRecordName: String?
    private let members: [UserID: Member]
    private let invitations: [ID16: Invitation]
    private let blocked: Set<UserID>
    private let abandonments: [Abandonment]
    private let epochs: [Epoch]
    private let used: [ID16: UInt64]
    private let inviters: [ID16: UserID]
    private let history: [UserID: [Standing]]

    init(_ roster: Roster) {
        scope = roster.scope
        scopeID = roster.scopeID
        hashes = roster.hashes
        incarnations = roster.incarnations
        encryptionScope = roster.encryptionScope
        isClosed = roster.isClosed
        rotationDue = roster.rotationDue
        linkID = roster.linkID
        publicSeat = roster.publicSeat
        rootRecordName = roster.rootRecordName
        members = roster.members.mapValues {
            Member(
                identity: $0.identity, role: $0.role, permission: $0.permission, invitation: $0.invitation,
                since: $0.since)
        }
        invitations = roster.invitations
        blocked = roster.blocked
        abandonments = roster.abandonments.map {
            Abandonment(head: $0.head, incarnations: $0.incarnations, owner: $0.owner)
        }
        epochs = roster.epochs.map {
            Epoch(
                context: $0.context, keyID: $0.keyID, previousKey: $0.previousKey, openedAt: $0.openedAt,
                grantHashes: $0.grantHashes)
        }
        used = roster.usedInvitations
        inviters = roster.inviters
        history = roster.history.mapValues {
            $0.map { Standing(from: $0.from, role: $0.role, permission: $0.permission, identity: $0.identity) }
        }
    }

    /// Stops where the core's roster has grown a property that is not compared here: add it, and to this list.
    static func coversEverything() {
        let known: [(Any, String)] = [
            (
                World.zone.roster,
                "scope scopeID hashes incarnations encryptionScope isClosed rotationDue linkID publicSeat members invitations blocked "
                    + "abandonments epochs rootRecordName usedInvitations inviters history"
            ),
            (World.zone.roster.members.values.first as Any, "identity role permission invitation since"),
            (World.zone.roster.currentEpoch, "context keyID previousKey openedAt grantHashes"),
            (World.zone.roster.history.values.first?.first as Any, "from role permission identity"),
        ]
        for (value, names) in known {
            var mirror = Mirror(reflecting: value)
            // An optional is reflected as what it holds.
            if mirror.displayStyle == .optional, let held = mirror.children.first {
                mirror = Mirror(reflecting: held.value)
            }
            let labels = mirror.children.compactMap(\.label)
            require(
                labels.sorted() == names.split(separator: " ").map(String.init).sorted(),
                "not all of \(labels) is compared")
        }
    }
}
