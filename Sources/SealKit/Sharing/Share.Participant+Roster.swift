import Foundation
import SealPrimitives
import SealStatements

extension Share.Participant {
    /// Everybody whom a verified roster has.
    /// - Parameter address: that somebody was invited by, for those who can open it.
    static func all(of roster: Roster, address: (Invitation) -> Share.LookupInfo?) -> [Share.Participant] {
        // The owner first, then in the order in which people joined the log; invitations stand by id, so that lists are
        // stable.
        let members = roster.members.values.sorted { $0.since < $1.since }.map { member in
            Share.Participant(
                participantID: member.invitationID?.hex ?? member.userID.recordName,
                userIdentity: Share.UserIdentity(
                    userRecordID: Record.ID(recordName: member.userID.recordName),
                    lookupInfo: member.invitation.flatMap(address)),
                role: Role(member.role), permission: .init(member.permission), acceptanceStatus: .accepted,
                expirationDate: member.invitation.flatMap(expiration), chain: member.identity)
        }
        let invited = roster.invitations.values.sorted { $0.id < $1.id }.map { invitation in
            Share.Participant(
                participantID: invitation.id.hex,
                userIdentity: Share.UserIdentity(
                    userRecordID: invitation.invitee.map { Record.ID(recordName: $0.userID.recordName) },
                    lookupInfo: address(invitation)),
                role: .privateUser, permission: .init(invitation.permission), acceptanceStatus: .pending,
                expirationDate: expiration(of: invitation), chain: invitation.invitee)
        }
        return members + invited
    }

    private static func expiration(of invitation: Invitation) -> Date? {
        invitation.expires == 0 ? nil : Date(microseconds: invitation.expires)
    }
}
