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
        wish.people = participants.map { participant in
            let before = saved.first { $0.isSamePerson(as: participant) }
            return (before?.wished, participant.wished)
        }
        wish.gone = saved.filter { before in !participants.contains { before.isSamePerson(as: $0) } }.map(\.wished)
        if publicPermission != edits.publicPermission { wish.publicPermission = .to(publicPermission.onRoster) }
        wish.blocked = edits.blocked
        wish.unblocked = edits.unblocked
        return wish
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

    /// Appends what a wish comes to, and gives the scope as it is then.
    func apply(_ editor: ShareEditor<XWingHPKE>, in view: ZoneView, _ keeper: ZoneKeeper) async throws(SealKitError)
        -> ZoneView
    {
        var random = SystemRandom()
        let entry = try editing(view) { () throws(ShareEditRefusal) in try editor.entry(random: &random) }
        guard let entry else { return view }
        try await append(entry, view: view)
        return try await keeper.adopt(entry.draft)
    }
}
