public import Foundation

/// What a share's owner sends to those who are to be in it, for a terminal: what the system's windows for sharing do on
/// Apple's platforms. Not CloudKit's.
public struct CKShareLink: Sendable, CustomStringConvertible {
    /// For participants who have an account; nil for who may not invite.
    public let url: URL?
    /// URLs for one participant each, who has no account yet: give each to nobody else.
    public let oneTimeURLs: [(participant: CKShare.Participant, url: URL)]
    public let participants: [CKShare.Participant]
    private let title: String?

    /// - Parameter share: as it was saved, or fetched by its ID.
    public init(_ share: CKShare) {
        url = share.url
        participants = share.participants
        oneTimeURLs = share.participants.compactMap { participant in
            share.oneTimeURL(for: participant.participantID).map { (participant, $0) }
        }
        title = share[CKShare.SystemFieldKey.title] as? String
    }

    /// A line for each URL and each participant. It has the secrets of the URLs: for people, and for no log.
    public var description: String {
        var lines = [title.map { "Share: \($0)" } ?? "Share"]
        if let url { lines.append("URL: \(url.absoluteString)") }
        for participant in participants {
            let identity = participant.userIdentity
            let name =
                identity.lookupInfo?.emailAddress ?? identity.lookupInfo?.phoneNumber
                ?? identity.userRecordID?.recordName ?? "whoever has the URL"
            lines.append("\(name): \(participant.role), \(participant.permission), \(participant.acceptanceStatus)")
            if let own = oneTimeURLs.first(where: { $0.participant === participant })?.url {
                lines.append("    \(own.absoluteString)")
            }
        }
        return lines.joined(separator: "\n")
    }
}
