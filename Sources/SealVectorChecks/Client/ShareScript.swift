import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// Somebody who has a share's URL, and what a server answers: looked at, and accepted where that is possible.
struct ShareScript<H: HybridEncryption> {
    private let test: Fields
    private let url: ShareURL
    private let own: OwnIdentity
    private let pages: [SharePage]
    private var judged = Judged()

    init(_ test: Fields, shared: Fields) throws(VectorError) {
        self.test = test
        let text = try test.string("url")
        url = try core(ShareURL(text))
        own = try test.own(container: try test.string("container"), using: H.self)
        pages = try test.objects("pages").map { page throws(VectorError) in
            SharePage(
                place: try page.object("place").place(), entries: try page.page(of: shared),
                isMoreComing: try page.bool("moreComing"), invitationID: try page.bytes("invitationID"),
                grant: try page.bytes("grant"), preview: try page.bytes("preview"))
        }
        guard !pages.isEmpty else { throw .missing("pages") }
    }

    /// - Throws: `disbelieved` where something was refused, once all that still can be done is done.
    mutating func run() throws(VectorError) {
        guard let opening = try open() else { return try judged.finish() }
        try test.expect("head", .hex(opening.roster.head))
        try preview(opening)
        guard let seat = try seat(opening) else { return try judged.finish() }
        try accept(seat, opening)
        try judged.finish()
    }

    /// The whole roster, each page verified before the next is asked for.
    private mutating func open() throws(VectorError) -> ShareOpening? {
        let (origin, container) = (try test.string("server"), try test.string("container"))
        let environment = try test.environment()
        let found: ShareOpening
        do throws(ShareRefusal) {
            var opening = try ShareOpening(
                url, askedOf: origin, container: container, environment: environment, page: pages[0])
            var number = 1
            while opening.next != nil, number < pages.count {
                try opening.append(pages[number])
                number += 1
            }
            found = opening
        } catch {
            try judged.expect("opening", of: test, Judgement(error))
            return nil
        }
        try judged.expect("opening", of: test, .taken("accepted"))
        return found
    }

    /// What the share shows. One that is refused keeps nobody from accepting.
    private mutating func preview(_ opening: ShareOpening) throws(VectorError) {
        let shown: ShareOpening.Preview?
        do { shown = try opening.preview() } catch {
            return try judged.expect("preview", of: test, Judgement(error))
        }
        guard let shown else { return try judged.expect("preview", of: test, .taken("notVouched")) }
        if test.has("seenPreview") {
            let seen = try test.object("seenPreview")
            let last = (
                rosterSequence: try seen.number("rosterSequence", as: UInt64.self),
                time: try seen.number("time", as: Int64.self)
            )
            guard !shown.signed.isOlder(than: last) else {
                return try judged.expect("preview", of: test, .refused("older"))
            }
        }
        try judged.expect("preview", of: test, .taken("shown"))
        try test.expect("title", .string(shown.signed.preview.title))
        try test.expect("previewAuthor", .string(shown.signed.author.recordName))
    }

    /// - Returns: nil for a member, and for who has no seat.
    private mutating func seat(_ opening: ShareOpening) throws(VectorError) -> Seat? {
        let standing: ShareOpening.Standing
        do { standing = try opening.standing(of: own.chain.userID) } catch {
            try judged.expect("seat", of: test, Judgement(error))
            return nil
        }
        switch standing {
        case .member(let member):
            try judged.expect("seat", of: test, .taken("member"))
            try test.expect("permission", .string(Self.name(of: member.permission)))
            return nil
        case .invited(let seat):
            let name =
                switch seat {
                case .everybody: "publicSeat"
                case .invitation(let invitation): invitation.invitee == nil ? "invitation" : "knownInvitation"
                }
            try judged.expect("seat", of: test, .taken(name))
            try test.expect("permission", .string(Self.name(of: seat.permission)))
            return seat
        }
    }

    private mutating func accept(_ seat: Seat, _ opening: ShareOpening) throws(VectorError) {
        let time: Int64 = try test.number("time")
        let draft: RosterAuthor<H>.Draft
        do { draft = try opening.acceptance(of: seat, as: own, using: H.self, time: time) } catch {
            return try judged.expect("acceptance", of: test, Judgement(error))
        }
        try judged.expect("acceptance", of: test, .taken("accepted"))
        try test.expect("entry", .hex(draft.entry.bytes))
        try test.expect("signature", .hex(draft.entry.signature))
        // What others would judge of it, and what this account gets of it.
        var roster = opening.roster
        try core(roster.append(draft.entry))
        let epoch = roster.currentEpoch
        guard let grant = draft.grants.first, draft.grants.count == 1 else { throw .differs("key") }
        let key = try core(Grants<H>.open(grant.sealed, epoch: epoch, as: own.chain.userID, keys: own.keys))
        guard key.keyID == GrantVectors.keyID(try test.bytes("key"), epoch.context) else { throw .differs("key") }
    }

    private static func name(of permission: Permission) -> String {
        switch permission {
        case .readOnly: "readOnly"
        case .readWrite: "readWrite"
        }
    }
}

extension Fields {
    func place() throws(VectorError) -> SharePlace {
        SharePlace(
            container: try string("container"), environment: try string("environment"),
            zoneName: try string("zoneName"), ownerName: try string("owner"),
            shareRecordName: try string("shareRecordName"))
    }
}
