import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements
import SealWeb

extension Pieces {
    /// The URL with its secret part → its handle, the server's origin, the routing id.
    mutating func readURL(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let url = try ShareURL(try reader.string(atMost: reader.remaining))
        writer.number(urls.insert(url, &last))
        writer.string(url.origin)
        writer.id(url.routingID)
    }

    /// A scope and all of its entries → the roster's handle, its head, its sequence and its epoch.
    mutating func replayRoster(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let container = try reader.string(atMost: Limits.nameBytes)
        guard let environment = Environment(rawValue: try reader.byte()) else { throw .malformed }
        let scope = Scope(
            container: container, environment: environment, owner: UserID(try reader.id()),
            zoneName: try reader.string(atMost: Limits.nameBytes),
            shareRecordName: try reader.string(atMost: Limits.nameBytes))
        var entries: [SignedRosterEntry] = []
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 8)) {
            entries.append(
                SignedRosterEntry(
                    bytes: try reader.blob(atMost: Limits.rosterEntryBytes), signature: try reader.blob(atMost: 64)))
        }
        guard let roster = try Roster(replaying: entries, scope: scope) else { throw .malformed }
        writer.number(rosters.insert(roster, &last))
        writer.digest(roster.head)
        writer.number(roster.sequence)
        writer.number(roster.currentEpoch.number)
    }

    /// URL, roster, sealed preview → whether somebody vouches for it now, title, share's type, thumbnail.
    func openPreview(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let (url, roster) = try share(&reader)
        let signed = try url.secret.openPreview(try reader.blob(atMost: reader.remaining), scopeID: roster.scopeID)
        writer.flag(try signed.verified(in: roster) != nil)
        writer.string(signed.preview.title)
        writer.string(signed.preview.shareType)
        writer.blob(signed.preview.thumbnail)
    }

    /// Roster, epoch, account, the member's name, the member's grant → the handle of the epoch's key.
    mutating func openGrant(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let roster = try rosters[try reader.number()]
        let epoch = try epoch(&reader, of: roster)
        let keys = try accounts[try reader.number()].identityKeys(
            container: roster.scope.container, using: SodiumHPKE.self)
        let user = UserID(try reader.id())
        let key = try Grants<SodiumHPKE>.open(
            try reader.blob(atMost: Limits.grantBytes), epoch: epoch, as: user, keys: keys)
        writer.number(epochKeys.insert(key, &last))
    }

    /// URL, roster, epoch, invitation, its grant, and for a known invitee the account → the handle of the epoch's key.
    mutating func openInvitation(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let (url, roster) = try share(&reader)
        let epoch = try epoch(&reader, of: roster)
        let invitation = try url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: try reader.id())
        let sealed = try reader.blob(atMost: Limits.grantBytes)
        var keys: IdentityKeys?
        if try reader.flag() {
            keys = try accounts[try reader.number()].identityKeys(
                container: roster.scope.container, using: SodiumHPKE.self)
        }
        let key = try Grants<SodiumHPKE>.open(sealed, epoch: epoch, invitation: invitation, keys: keys)
        writer.number(epochKeys.insert(key, &last))
    }

    /// URL, roster, invitation, account, the person's generations, epoch key, time → the entry that takes the seat, its
    /// signature, and the grant that the person seals to itself.
    func accept(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let (url, roster) = try share(&reader)
        let invitation = try url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: try reader.id())
        let keys = try accounts[try reader.number()].identityKeys(
            container: roster.scope.container, using: SodiumHPKE.self)
        var generations: [SignedIdentity] = []
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 12)) {
            generations.append(
                SignedIdentity(
                    bytes: try reader.blob(atMost: Limits.identityBytes), signature: try reader.blob(atMost: 64),
                    previousSignature: try reader.blob(atMost: 64)))
        }
        let identity = try IdentityChain(verifying: generations, container: roster.scope.container)
        let key = try epochKeys[try reader.number()]
        let draft = try RosterAuthor<SodiumHPKE>(user: identity.userID, keys: keys).accept(
            invitation, on: roster, identity: identity, epochKey: key, time: try reader.number())
        writer.blob(draft.entry.bytes)
        writer.blob(draft.entry.signature)
        writer.blob(draft.grants[0].sealed)
    }

    /// A URL and the roster that it was made for: no secret of one is used on another.
    private func share(_ reader: inout CanonicalReader) throws(SealError) -> (ShareURL, Roster) {
        let (url, roster) = (try urls[try reader.number()], try rosters[try reader.number()])
        try url.check(scopeID: roster.scopeID)
        return (url, roster)
    }

    /// By its number, of the scope's present life.
    private func epoch(_ reader: inout CanonicalReader, of roster: Roster) throws(SealError) -> Roster.Epoch {
        guard let epoch = roster.epoch(try reader.number(), incarnations: roster.incarnations) else {
            throw .missingKey
        }
        return epoch
    }
}
