import SealClient
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import Testing

/// What is wanted of a share, as the entry that comes of it; what asks a server besides is in the SDK's tests.
@Suite(.timeLimit(.minutes(60))) struct ShareEditorTests {
    private let ann: Person
    private let bob: Person

    init() throws {
        (ann, bob) = (try Person(1), try Person(2))
    }

    /// Ann's zone, which is not shared yet.
    private func unshared() throws -> (view: ZoneView, opening: RosterAuthor<XWingHPKE>.Draft) {
        let scope = Scope(
            container: Person.container, environment: .production, owner: ann.user, zoneName: "Notes")
        var random = FixedRandom(7)
        let opening = try ann.author.open(
            scope, following: nil, encryptionScope: .perRecord, identity: ann.own.chain, time: 1, random: &random)
        let key = try #require(opening.epochKey)
        let roster = try Roster(opening: opening.entry, scope: scope)
        return (ZoneView(roster: roster, keys: [0: key], user: ann.user, lacksGrants: false), opening)
    }

    private func editor(
        _ wish: ShareWish, in view: ZoneView, links: ShareLinks = ShareLinks(), by person: Person? = nil
    ) throws -> ShareEditor<XWingHPKE> {
        let person = person ?? ann
        return ShareEditor(
            wish, in: view, links: links, as: person.own, keptBy: try #require(person.seeds.last), time: 5)
    }

    /// The scope after an entry, with the key that it opens, and what a server then keeps of its URLs.
    private func after(
        _ entry: ShareEntry<XWingHPKE>, _ view: ZoneView, stored: [Wire.Link] = []
    ) throws -> (view: ZoneView, links: ShareLinks, stored: [Wire.Link]) {
        var (roster, keys) = (view.roster, view.keys)
        try roster.append(entry.draft.entry)
        if let key = entry.draft.epochKey { keys[key.context.epoch] = key }
        let stored = stored + entry.links
        let links = try ShareLinks(
            .with { $0.links = stored }, keptBy: ann.seeds, of: ann.own, in: roster, using: XWingHPKE.self)
        return (ZoneView(roster: roster, keys: keys, user: view.user, lacksGrants: false), links, stored)
    }

    private func shared() throws -> (view: ZoneView, links: ShareLinks, stored: [Wire.Link]) {
        let (view, _) = try unshared()
        var random = FixedRandom(8)
        let entry = try editor(ShareWish(preview: SharePreview(title: "Plans")), in: view).entry(random: &random)
        return try after(try #require(entry), view)
    }

    @Test func sharingMakesTheURLOnceAndNothingAfterwards() throws {
        let (view, links, _) = try shared()
        #expect(view.roster.isShared)
        #expect(view.keys.count == 1)
        let link = try #require(links.shareWide)
        #expect(link.secret.id(in: view.roster.scopeID) == view.roster.linkID)
        #expect(try link.shown?.verified(in: view.roster)?.title == "Plans")
        var random = FixedRandom(9)
        let again = try editor(ShareWish(preview: SharePreview(title: "Plans")), in: view, links: links)
            .entry(random: &random)
        #expect(again == nil)
        for (title, count) in [("Plans", 0), ("Other plans", 1)] {
            let renewed = try links.renewed(
                SharePreview(title: title), as: ann.own, in: view.roster, isNewest: true, time: 9, random: &random)
            #expect(renewed.count == count)
        }
    }

    @Test func aPlaceholderHasAURLOfItsOwnAndGoesWithANewKey() throws {
        var (view, links, stored) = try shared()
        var random = FixedRandom(10)
        var wish = ShareWish(preview: SharePreview(title: "Plans"))
        let id = ID16(random: &random)
        let placeholder = ShareWish.Person(
            invitationID: id, user: nil, chain: nil, address: "bob@example.org", permission: .readOnly)
        wish.people = [(nil, placeholder)]
        let entry = try #require(try editor(wish, in: view, links: links).entry(random: &random))
        #expect(entry.draft.epochKey == nil)
        #expect(entry.addresses.map(\.address) == ["bob@example.org"])
        #expect(entry.links.map(\.invitationID) == [id.bytes])
        (view, links, stored) = try after(entry, view, stored: stored)
        let url = try #require(links.oneTime(for: id, in: view.roster))
        #expect(url.secret.id(in: view.roster.scopeID) != view.roster.linkID)
        // Another permission is another invitation behind the same URL, and the one before is worth nothing.
        var more = placeholder
        more.permission = .readWrite
        wish.people = [(placeholder, more)]
        let raised = try #require(try editor(wish, in: view, links: links).entry(random: &random))
        #expect(raised.draft.epochKey != nil)
        #expect(raised.links.map(\.routingID) == [url.routingID.bytes])
        (view, links, stored) = try after(raised, view, stored: stored.filter { $0.invitationID != id.bytes })
        #expect(view.roster.invitations[id] == nil)
        let open = try #require(view.roster.invitations.values.first)
        #expect(open.permission == .readWrite)
        wish.people = []
        wish.gone = [
            ShareWish.Person(invitationID: open.id, user: nil, chain: nil, address: nil, permission: .readWrite)
        ]
        let end = try #require(try editor(wish, in: view, links: links).entry(random: &random))
        #expect(end.draft.epochKey?.context.epoch == 2)
        #expect(try after(end, view, stored: stored).view.roster.invitations.isEmpty)
    }

    /// The one that was read has ended, and nothing in the roster calls another one its successor.
    @Test func anInvitationWhosePlaceAnotherOneHasTakenIsFoundByItsAddressOrNotPassedOver() throws {
        var (view, links, stored) = try shared()
        var random = FixedRandom(14)
        func placeholder(_ address: String?) -> ShareWish.Person {
            ShareWish.Person(
                invitationID: ID16(random: &random), user: nil, chain: nil, address: address, permission: .readWrite)
        }
        let (known, bare, other) = (placeholder("bob@example.org"), placeholder(nil), placeholder("carol@example.org"))
        func wanting(_ change: (inout ShareWish) -> Void) throws -> ShareEntry<XWingHPKE>? {
            var wish = ShareWish(preview: SharePreview(title: "Plans"))
            change(&wish)
            return try editor(wish, in: view, links: links).entry(random: &random)
        }
        func take(_ entry: ShareEntry<XWingHPKE>?) throws {
            (view, links, stored) = try after(try #require(entry), view, stored: stored)
        }
        try take(wanting { $0.people = [(nil, known), (nil, bare), (nil, other)] })
        // All of them have another end by now.
        var later = [known, bare, other]
        for index in later.indices { later[index].expires = 1_000 }
        try take(wanting { $0.people = zip([known, bare, other], later).map { (.some($0), $1) } })
        #expect(view.roster.invitations.count == 3)
        #expect([known, bare, other].allSatisfy { view.roster.invitations[$0.invitationID ?? .zero] == nil })

        #expect(throws: ShareEditRefusal.usedInvitation) { _ = try wanting { $0.gone = [bare] } }
        var lowered = bare
        lowered.permission = .readOnly
        #expect(throws: ShareEditRefusal.usedInvitation) { _ = try wanting { $0.people = [(bare, lowered)] } }
        // What is as it was read is nobody's wish.
        #expect(try wanting { $0.people = [(bare, bare), (known, known)] } == nil)
        var spelled = known
        spelled.address = "BOB@example.org"
        lowered = spelled
        lowered.permission = .readOnly
        try take(wanting { $0.people = [(spelled, lowered)] })
        #expect(view.roster.invitations.values.map(\.permission).sorted() == [.readOnly, .readWrite, .readWrite])
        #expect(view.roster.invitations.values.allSatisfy { $0.expires == 1_000 })
        try take(wanting { $0.gone = [known] })
        #expect(view.roster.invitations.values.map(\.permission) == [.readWrite, .readWrite])
        // Who is invited and gone by now needs nothing; who is to be changed does.
        #expect(try wanting { $0.gone = [known] } == nil)
        #expect(throws: ShareEditRefusal.usedInvitation) { _ = try wanting { $0.people = [(known, lowered)] } }
    }

    /// Another device has taken it back, and invited somebody else since.
    @Test func anInvitationThatIsGoneIsNotSoughtBehindAnAddress() throws {
        var (view, links, stored) = try shared()
        var random = FixedRandom(15)
        let bare = ShareWish.Person(
            invitationID: ID16(random: &random), user: nil, chain: nil, address: nil, permission: .readOnly)
        let other = ShareWish.Person(
            invitationID: ID16(random: &random), user: nil, chain: nil, address: "dave@example.org",
            permission: .readOnly)
        var wish = ShareWish(preview: SharePreview(title: "Plans"))
        wish.people = [(nil, bare)]
        let first = try #require(try editor(wish, in: view, links: links).entry(random: &random))
        (view, links, stored) = try after(first, view, stored: stored)
        wish.people = [(nil, other)]
        wish.gone = [bare]
        let second = try #require(try editor(wish, in: view, links: links).entry(random: &random))
        (view, links, stored) = try after(
            second, view, stored: stored.filter { $0.invitationID != bare.invitationID?.bytes })
        #expect(view.roster.invitations.count == 1)
        wish.people = []
        #expect(try editor(wish, in: view, links: links).entry(random: &random) == nil)
    }

    /// Who opens a share to the public need not know that its invitations end.
    @Test func whatTheSettingsTakeBackIsNotInvitedAnew() throws {
        var (view, links, stored) = try shared()
        var random = FixedRandom(16)
        func placeholder(_ address: String) -> ShareWish.Person {
            ShareWish.Person(
                invitationID: ID16(random: &random), user: nil, chain: nil, address: address, permission: .readOnly)
        }
        let (carol, stranger) = (placeholder("carol@example.org"), placeholder("dave@example.org"))
        var wish = ShareWish(preview: SharePreview(title: "Plans"))
        wish.people = [(nil, carol)]
        let invited = try #require(try editor(wish, in: view, links: links).entry(random: &random))
        (view, links, stored) = try after(invited, view, stored: stored)
        func opening(raising person: ShareWish.Person) throws -> ShareEntry<XWingHPKE>? {
            var raised = person
            raised.permission = .readWrite
            wish.people = [(person, raised)]
            wish.publicPermission = .to(.readOnly)
            return try editor(wish, in: view, links: links).entry(random: &random)
        }
        // Who is not there at all is not passed over.
        #expect(throws: ShareEditRefusal.usedInvitation) { _ = try opening(raising: stranger) }
        let opened = try after(try #require(try opening(raising: carol)), view, stored: stored)
        #expect(opened.view.roster.invitations.isEmpty)
        #expect(opened.view.roster.publicSeat?.permission == .readOnly)
    }

    @Test func whoMayNotIsRefusedBeforeTheServerHearsOfIt() throws {
        let (view, links, _) = try shared()
        var random = FixedRandom(11)
        func refusal(_ view: ZoneView, by person: Person? = nil, _ change: (inout ShareWish) -> Void) throws
            -> ShareEditRefusal?
        {
            var wish = ShareWish(preview: SharePreview(title: ""))
            change(&wish)
            let editor = try editor(wish, in: view, links: links, by: person)
            do throws(ShareEditRefusal) {
                _ = try editor.entry(random: &random)
                return nil
            } catch {
                return error
            }
        }
        let owner = ShareWish.Person(
            invitationID: nil, user: ann.user, chain: ann.own.chain, address: nil, role: .owner, permission: .readWrite)
        #expect(try refusal(view) { $0.gone = [owner] } == .ownerStays)
        let known = ShareWish.Person(
            invitationID: ID16(random: &random), user: bob.user, chain: nil, address: nil, permission: .readOnly)
        #expect(try refusal(view) { $0.people = [(nil, known)] } == .noKeys)
        let named = ShareWish.Person(
            invitationID: ID16(random: &random), user: bob.user, chain: bob.own.chain, address: nil,
            permission: .readOnly, expires: nil)
        #expect(try refusal(view) { $0.people = [(nil, named)] } == .noSuchEnd)
        #expect(
            try refusal(view) {
                $0.blocked = [bob.user]
                $0.people = [(nil, named)]
            } == .isBlocked)
        #expect(
            try refusal(view) {
                $0.publicPermission = .to(.readOnly)
                $0.people = [(nil, named)]
            } == .isPublic)
        let bobs = ZoneView(roster: view.roster, keys: view.keys, user: bob.user, lacksGrants: false)
        #expect(try refusal(bobs, by: bob) { $0.publicPermission = .to(.readWrite) } == .publicIsOwners)
        let keyless = ZoneView(roster: view.roster, keys: [:], user: ann.user, lacksGrants: false)
        #expect(try refusal(keyless) { $0.publicPermission = .to(.readOnly) } == .noKey)
    }

    @Test func theEndOfAShareLeavesItsOwnerAlone() throws {
        var log = try ScopeLog(owner: ann)
        try log.add(bob)
        let view = ZoneView(roster: log.roster, keys: [0: log.key], user: ann.user, lacksGrants: false)
        var random = FixedRandom(12)
        let draft = try #require(
            try view.endOfShare(as: ann.own, using: XWingHPKE.self, time: 20, random: &random))
        try log.append(draft)
        #expect(log.roster.members.keys.sorted() == [ann.user])
        #expect(log.roster.currentEpoch.number == 1)
        #expect(log.roster.isShared)
        let alone = ZoneView(roster: log.roster, keys: [1: log.key], user: ann.user, lacksGrants: false)
        #expect(try alone.endOfShare(as: ann.own, using: XWingHPKE.self, time: 21, random: &random) == nil)
    }

    @Test func aShareOfRecordsBeginsInItsZonesLifeAndOnlyOnce() throws {
        let (zone, _) = try unshared()
        let scope = zone.scope.ofShare("share-1")
        var random = FixedRandom(13)
        let beginning = try ShareBeginning<XWingHPKE>(
            scope, rootRecordName: "root", following: nil, in: zone, as: ann.own, time: 2, random: &random)
        #expect(beginning.view.roster.rootRecordName == "root")
        #expect(beginning.view.roster.incarnations == Incarnations(zone: 1, scope: 1))
        let first = try editor(ShareWish(preview: SharePreview(title: "Root")), in: beginning.view)
            .firstEntry(random: &random)
        #expect(first?.draft.epochKey == nil)
        #expect(first?.links.count == 1)
        #expect(throws: ShareEditRefusal.alreadyShared(name: scope.shareRecordName)) {
            try ShareBeginning<XWingHPKE>(
                scope, rootRecordName: "root", following: beginning.view.roster, in: zone, as: ann.own, time: 3,
                random: &random)
        }
        #expect(throws: ShareEditRefusal.notOpenable) {
            try ShareBeginning<XWingHPKE>(
                scope, rootRecordName: "root", following: nil, in: nil, as: ann.own, time: 3, random: &random)
        }
    }
}
