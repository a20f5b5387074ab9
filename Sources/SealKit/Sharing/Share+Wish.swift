import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements

extension Share {
    /// The difference between this share as it was fetched and as it is now.
    var wish: ShareWish {
        var wish = ShareWish(preview: preview)
        // The same person with another id was removed, and invited anew.
        wish.people = participants.map { participant in
            (saved.first { $0.participantID == participant.participantID }?.wished, participant.wished)
        }
        let ids = Set(participants.map(\.participantID))
        wish.gone = saved.filter { !ids.contains($0.participantID) }.map(\.wished)
        if publicPermission != edits.publicPermission { wish.publicPermission = .to(publicPermission.onRoster) }
        wish.blocked = edits.blocked
        wish.unblocked = edits.unblocked
        return wish
    }

    /// Whether it puts somebody out, blocks or lowers somebody, or leaves less to whoever has the public URL, compared
    /// with what was fetched.
    var takesRightAway: Bool {
        let before = Dictionary(saved.map { ($0.participantID, $0) }) { first, _ in first }
        let now = Set(participants.map(\.participantID))
        if !edits.blocked.isEmpty || !now.isSuperset(of: before.keys) { return true }
        if publicPermission.rawValue < edits.publicPermission.rawValue { return true }
        return participants.contains { participant in
            guard let former = before[participant.participantID] else { return false }
            let isLowered = participant.permission.rawValue < former.permission.rawValue
            return isLowered || (former.role == .administrator && participant.role != .administrator)
        }
    }

    /// For whoever changes what it says of itself: what others have stored keeps nobody from anything.
    /// - Throws: `limitExceeded` for more than a URL shows.
    func requireShowable() throws(SealKitError) {
        guard !changedDescription.isEmpty else { return }
        try editing(nil) { () throws(ShareEditRefusal) in try preview.requireShowable() }
    }

    /// What whoever has a URL sees.
    var preview: SharePreview {
        SharePreview(title: title, shareType: shareType, thumbnail: [UInt8](thumbnailImageData ?? Data()))
    }
}

extension Share.Participant {
    fileprivate var wished: ShareWish.Person {
        ShareWish.Person(
            invitationID: (try? Hex.decode(participantID)).flatMap { try? ID16($0) }, user: userID, chain: chain,
            address: userIdentity.lookupInfo?.address, role: role.onRoster, permission: permission.onRoster,
            expires: expires)
    }

    /// Microseconds since 1970; 0, which only no date may give, for never; nil for what no invitation can hold.
    private var expires: Int64? {
        guard let date = expirationDate else { return 0 }
        guard let time = ReferenceDate.microseconds(ofSeconds: date.timeIntervalSinceReferenceDate), time > 0 else {
            return nil
        }
        return time
    }
}

extension Share.Participant.Role {
    fileprivate var onRoster: SealStatements.Role {
        switch self {
        case .owner: .owner
        case .administrator: .administrator
        case .privateUser: .privateUser
        case .publicUser: .publicUser
        }
    }
}

extension Database {
    /// Decides what a share's wish means on a roster.
    func editor(of share: Share, in view: ZoneView, links: ShareLinks) -> ShareEditor<XWingHPKE> {
        ShareEditor(
            share.wish, in: view, links: links, as: core.identity(), keptBy: core.account.seed, time: currentTime())
    }

    /// What a wish comes to; nil for nothing.
    /// - Throws: what is refused before the server hears of it.
    func entry(
        of share: Share, in view: ZoneView, links: ShareLinks
    ) throws(SealKitError) -> ShareEntry<XWingHPKE>? {
        var random = SystemRandom()
        let editor = editor(of: share, in: view, links: links)
        return try editing(view) { () throws(ShareEditRefusal) in try editor.entry(random: &random) }
    }
}
