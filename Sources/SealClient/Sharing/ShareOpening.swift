public import SealEnvelope
import SealPrimitives
public import SealStatements

/// What a share's URL leads to, as far as URL and roster vouch for it, and how a seat there is taken.
///
/// The roster comes in pages, each of which is verified before the next is asked for. The last one says what the caller
/// may do.
public struct ShareOpening: Sendable {
    public let url: ShareURL
    public private(set) var roster: Roster
    /// The roster's, all that have come.
    public private(set) var entries: [SignedRosterEntry]
    private var last: SharePage
    private let container: String
    private let environment: Environment

    /// What an account is in the share.
    public enum Standing: Sendable {
        case member(Roster.Member)
        /// The seat that it may take.
        case invited(Seat)
    }

    /// A preview that somebody vouches for.
    public struct Preview: Sendable {
        public let signed: SignedPreview
        /// Of the author, who administers the share.
        public let role: Role
    }

    /// - Parameters:
    ///   - origin: of the server that is asked.
    ///   - container: where the caller looks.
    ///   - page: the first one.
    /// - Throws: `otherServer`, `otherContainer`, `roster`.
    public init(
        _ url: ShareURL, askedOf origin: String, container: String, environment: Environment, page: SharePage
    ) throws(ShareRefusal) {
        try Self.check(url, origin: origin)
        let scope = try page.place.scope(behind: url, container: container, environment: environment)
        do throws(SealError) {
            guard let roster = try Roster(replaying: page.entries, scope: scope) else { throw .invalidURL }
            self.roster = roster
        } catch {
            throw .roster(error)
        }
        self.url = url
        self.container = container
        self.environment = environment
        entries = page.entries
        last = page
        try finish()
    }

    /// - Throws: `otherServer` for a URL of another server than the one that is asked, which would be told of it.
    public static func check(_ url: ShareURL, origin: String) throws(ShareRefusal) {
        guard url.origin == origin else { throw .otherServer }
    }

    /// The seat's, sealed, as the server gave it: `acceptance` holds it against the roster.
    public var grant: [UInt8] { last.grant }

    /// The entry from which on the next page is to be asked for; nil once all have come.
    public var next: UInt64? { last.isMoreComing ? roster.nextSequence : nil }

    /// - Throws: `endless`, also for a page of another share; `otherContainer`, `roster`.
    public mutating func append(_ page: SharePage) throws(ShareRefusal) {
        try page.place.check(container: container, environment: environment)
        guard !page.entries.isEmpty || !page.isMoreComing, page.place == last.place else { throw .endless }
        do throws(SealError) {
            var roster = self.roster
            for entry in page.entries { try roster.append(entry) }
            self.roster = roster
        } catch {
            throw .roster(error)
        }
        entries += page.entries
        last = page
        try finish()
    }

    private func finish() throws(ShareRefusal) {
        guard last.isMoreComing || !roster.isClosed else { throw .roster(.changeNotApplicable) }
    }

    /// What the share shows before it is accepted, and who says so. An older one than was seen before is still to be
    /// refused (`SignedPreview.isOlder(than:)`).
    /// - Returns: nil where nobody vouches for it: its author administers the share no more, and nobody who does has
    ///   renewed it yet.
    /// - Throws: `preview`.
    public func preview() throws(ShareRefusal) -> Preview? {
        do throws(SealError) {
            let signed = try url.secret.openPreview(last.preview, scopeID: roster.scopeID)
            guard try signed.verified(in: roster) != nil, let author = roster.members[signed.author] else { return nil }
            return Preview(signed: signed, role: author.role)
        } catch {
            throw .preview(error)
        }
    }

    /// As the verified roster has it: the server says only which seat.
    /// - Throws: `noSeat`.
    public func standing(of user: UserID) throws(ShareRefusal) -> Standing {
        if let member = roster.members[user] { return .member(member) }
        guard let id = try? ID16(last.invitationID) else { throw .noSeat }
        if let invitation = roster.invitations[id] { return .invited(.invitation(invitation)) }
        guard let seat = roster.publicSeat, seat.id == id else { throw .noSeat }
        return .invited(.everybody(seat))
    }

    /// Opens the seat's grant, joins the roster, and seals the scope's key to oneself.
    /// - Parameter time: the acceptor's clock, microseconds since 1970.
    /// - Throws: `invitation`, `grant`.
    public func acceptance<H: HybridEncryption>(
        of seat: Seat, as own: OwnIdentity, using: H.Type, time: Int64
    ) throws(ShareRefusal) -> RosterAuthor<H>.Draft {
        let epoch = roster.currentEpoch
        let keys: InvitationKeys
        do throws(SealError) {
            keys = try url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: seat.id)
            guard keys.signingKey.verificationKey == seat.signingKey else { throw .invalidURL }
            // Only a grant that a permitted entry committed to is opened, and only the key that the entry names is
            // used.
            guard epoch.grantHashes[.invitation(seat.id)] == GrantHash.of(last.grant) else { throw .keyMismatch }
        } catch {
            throw .invitation(error)
        }
        let key: EpochKey
        do throws(SealError) {
            // Whoever invited may have known earlier keys of this account.
            key = try own.open { generation throws(SealError) in
                try Grants<H>.open(
                    last.grant, epoch: epoch, invitation: keys, keys: seat.isForKnownPerson ? generation : nil)
            }
        } catch {
            throw .grant(error, epoch: epoch.number)
        }
        do throws(SealError) {
            return try RosterAuthor<H>(user: own.chain.userID, keys: own.keys).accept(
                keys, on: roster, identity: own.chain, epochKey: key, time: time)
        } catch {
            throw .invitation(error)
        }
    }
}
