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
    private struct Right: Equatable {
        let from: UInt64
        let permission: Permission?
        let signingKey: VerificationKey
    }

    private let scope: Scope
    private let scopeID: Digest
    private let hashes: [Digest]
    private let incarnations: Incarnations
    private let isClosed, isShared, rotationDue: Bool
    private let rootRecordName: String?
    private let members: [UserID: Member]
    private let invitations: [ID16: Invitation]
    private let epochs: [Epoch]
    private let used: [ID16: UInt64]
    private let history: [UserID: [Right]]

    init(_ roster: Roster) {
        scope = roster.scope
        scopeID = roster.scopeID
        hashes = roster.hashes
        incarnations = roster.incarnations
        isClosed = roster.isClosed
        isShared = roster.isShared
        rotationDue = roster.rotationDue
        rootRecordName = roster.rootRecordName
        members = roster.members.mapValues {
            Member(identity: $0.identity, role: $0.role, permission: $0.permission, invitation: $0.invitation, since: $0.since)
        }
        invitations = roster.invitations
        epochs = roster.epochs.map {
            Epoch(
                context: $0.context, keyID: $0.keyID, previousKey: $0.previousKey, openedAt: $0.openedAt,
                grantHashes: $0.grantHashes)
        }
        used = roster.usedInvitations
        history = roster.history.mapValues {
            $0.map { Right(from: $0.from, permission: $0.permission, signingKey: $0.signingKey) }
        }
    }

    /// Stops where the core's roster has grown a property that is not compared here: add it, and to this list.
    static func coversEverything() {
        let known: [(Any, String)] = [
            (
                World.zone.roster,
                "scope scopeID hashes incarnations isClosed rotationDue isShared members invitations epochs rootRecordName "
                    + "usedInvitations history"
            ),
            (World.zone.roster.members.values.first as Any, "identity role permission invitation since"),
            (World.zone.roster.currentEpoch, "context keyID previousKey openedAt grantHashes"),
            (World.zone.roster.history.values.first?.first as Any, "from permission signingKey"),
        ]
        for (value, names) in known {
            var mirror = Mirror(reflecting: value)
            // An optional is reflected as what it holds.
            if mirror.displayStyle == .optional, let held = mirror.children.first { mirror = Mirror(reflecting: held.value) }
            let labels = mirror.children.compactMap(\.label)
            require(labels.sorted() == names.split(separator: " ").map(String.init).sorted(), "not all of \(labels) is compared")
        }
    }
}
