import SealClient
import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements

/// A share that the visitor looks after: who is in it, who is invited, and what each may do.
extension Core {
    private static let peopleAtMost = 256
    private static let addressBytes = 320

    // MARK: URLs

    /// A zone → the request for the URLs that the visitor has of its share.
    func linksRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let zone = try core { () throws(SealError) in try zones[try reader.number()] }
        var request = Wire.LinksRequest()
        request.zone = zone.zoneID
        request.shareRecordName = zone.scope.shareRecordName
        writer.blob(request.protobuf())
    }

    /// A zone, a visitor, the answer → the handle of the share.
    mutating func linksAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, seeds, answer) = try core {
            () throws(SealError) -> (SharedZone, [AccountSeed], Wire.LinksResponse) in
            (
                try zones[try reader.number()], try visitors[try reader.number()].keys.seeds,
                try Wire.LinksResponse(protobuf: try reader.blob(atMost: reader.remaining))
            )
        }
        let roster = try ManagedShare.view(of: zone).roster
        let share = try core { () throws(SealError) -> ManagedShare in
            guard let seed = seeds.last else { throw .missingKey }
            let links = try ShareLinks(answer, keptBy: seeds, of: zone.own, in: roster, using: SodiumHPKE.self)
            return ManagedShare(zone, links, keptBy: seed)
        }
        writer.number(shares.insert(share, &last))
    }

    // MARK: What is shown

    /// A zone, its share or 0 for whoever does not administer it, the server's origin → whether it is shared; what the
    /// visitor is in it (1 its owner, 2 an administrator, 3 a participant, 4 by the public URL); what anybody with the
    /// URL may do (0 nothing, 1 read, 2 write); whether there is a record of the share, its title and type; the
    /// share-wide URL, or nothing; and its people, each: the id that a change names, the user's name or nothing, role,
    /// permission, whether it has accepted, the address that it was invited by, the digits to compare with it, when an
    /// open invitation ends, and the URL for it alone, or nothing.
    func shareShown(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, handle, origin) = try core { () throws(SealError) -> (SharedZone, UInt32, String) in
            (try zones[try reader.number()], try reader.number(), try reader.string(atMost: Limits.nameBytes))
        }
        let share = handle == 0 ? nil : try core { () throws(SealError) in try shares[handle] }
        let view = try ManagedShare.view(of: zone)
        let roster = view.roster
        let preview = ManagedShare.preview(of: zone)
        writer.flag(roster.isShared)
        writer.number(roster.members[view.user]?.role.rawValue ?? 0)
        writer.number(roster.publicSeat?.permission.rawValue ?? 0)
        writer.flag(preview != nil)
        writer.string(preview?.title ?? "")
        writer.string(preview?.shareType ?? "")
        writer.string(share?.links.shareWide?.url(origin: origin, scopeID: roster.scopeID) ?? "")
        let members = roster.members.values.sorted { $0.since < $1.since }
        let invitations = roster.invitations.values.sorted { $0.id < $1.id }
        writer.number(UInt32(members.count + invitations.count))
        for member in members {
            writer.string(member.userID.recordName)
            writer.string(member.userID.recordName)
            writer.number(member.role.rawValue)
            writer.number(member.permission.rawValue)
            writer.flag(true)
            writer.string(member.invitation.flatMap { ManagedShare.address(of: $0, in: roster, for: zone.own) } ?? "")
            writer.string(member.userID == view.user ? "" : SafetyNumber.of(member.identity, zone.own.chain))
            writer.number(Int64(0))
            writer.string("")
        }
        for invitation in invitations {
            writer.string(invitation.id.hex)
            writer.string(invitation.invitee?.userID.recordName ?? "")
            writer.number(Role.privateUser.rawValue)
            writer.number(invitation.permission.rawValue)
            writer.flag(false)
            writer.string(ManagedShare.address(of: invitation, in: roster, for: zone.own) ?? "")
            writer.string(invitation.invitee.map { SafetyNumber.of($0, zone.own.chain) } ?? "")
            writer.number(invitation.expires)
            writer.string(
                share?.links.oneTime(for: invitation.id, in: roster)?.url(origin: origin, scopeID: roster.scopeID) ?? ""
            )
        }
    }

    // MARK: Who is invited

    /// A container, a handle's kind (1 e-mail address, 2 phone number, 3 user name), the handle → the question whose it
    /// is.
    func directoryRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        var request = Wire.LookupIdentitiesRequest()
        var info = Wire.LookupInfo()
        try core { () throws(SealError) in
            request.container = try reader.string(atMost: Limits.nameBytes)
            info.handle = try handle(&reader)
        }
        request.handles = [info]
        writer.blob(request.protobuf())
    }

    /// An identity, its container, a handle's kind, the handle, the answer → whether it is somebody's who is known;
    /// then who that is, as a handle, the user's name, and the digits to compare.
    mutating func directoryAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (own, container, handle, answer) = try core {
            () throws(SealError) -> (OwnIdentity, String, Wire.LookupInfo.Handle, Wire.LookupIdentitiesResponse) in
            (
                try identities[try reader.number()].own, try reader.string(atMost: Limits.nameBytes),
                try self.handle(&reader),
                try Wire.LookupIdentitiesResponse(protobuf: try reader.blob(atMost: reader.remaining))
            )
        }
        guard answer.results.count == 1 else { throw Refusal("unexpected") }
        if let failure = answer.results[0].failure { throw Refusal(code: failure.code) }
        guard let wire = answer.results[0].chain else {
            // A name certifies keys: nobody is invited by one as somebody whom nobody knows.
            if case .userRecordName = handle { throw Refusal("unknownItem") }
            writer.flag(false)
            return
        }
        let chain = try core { () throws(SealError) -> IdentityChain in
            let chain = try IdentityChain(wire, container: container)
            if case .userRecordName(let name) = handle, chain.userID.recordName != name { throw .invalidIdentity }
            return chain
        }
        writer.flag(true)
        writer.number(people.insert(chain, &last))
        writer.string(chain.userID.recordName)
        writer.string(SafetyNumber.of(chain, own.chain))
    }

    private func handle(_ reader: inout CanonicalReader) throws(SealError) -> Wire.LookupInfo.Handle {
        let kind: UInt8 = try reader.number()
        let text = try reader.string(atMost: Self.addressBytes)
        switch kind {
        case 1: return .email(text)
        case 2: return .phone(text)
        case 3: return .userRecordName(text)
        default: throw .malformed
        }
    }

    // MARK: Changes

    /// A share, what anybody with the URL may do (0 as it is, 1 nothing, 2 read, 3 write), who is to be invited (a
    /// person's handle or 0, an address or nothing, permission, when the invitation ends or 0), what others may do (id,
    /// role, permission, each 0 as it is by now), who is to go (id), time → whether there is anything to change, the
    /// request for it, and the ids of those who are invited by it, in their order.
    mutating func shareRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let share = try core { () throws(SealError) in try shares[try reader.number()] }
        var wish = ShareWish(preview: ManagedShare.preview(of: share.zone) ?? SharePreview(title: ""))
        switch try core({ () throws(SealError) in try reader.byte() }) {
        case 0: break
        case 1: wish.publicPermission = .to(nil)
        case 2: wish.publicPermission = .to(.readOnly)
        case 3: wish.publicPermission = .to(.readWrite)
        default: throw Refusal(SealError.malformed)
        }
        for _ in 0..<(try core { () throws(SealError) in try count(&reader, ofAtLeast: 17) }) {
            wish.people.append((nil, try core { () throws(SealError) in try invitee(&reader) }))
        }
        for _ in 0..<(try core { () throws(SealError) in try count(&reader, ofAtLeast: 6) }) {
            let before = try share.person(try core { () throws(SealError) in try reader.string(atMost: 64) })
            let now = try core { () throws(SealError) in try changed(before, &reader) }
            wish.people.append((before, now))
        }
        for _ in 0..<(try core { () throws(SealError) in try count(&reader, ofAtLeast: 4) }) {
            wish.gone.append(try share.person(try core { () throws(SealError) in try reader.string(atMost: 64) }))
        }
        let time = try core { () throws(SealError) in try reader.number(Int64.self) }
        guard let entry = try share.entry(wish, at: time, random: &random) else {
            writer.flag(false)
            return
        }
        writer.flag(true)
        write(entry, to: share.zone, &writer)
        let invited = wish.people.filter { $0.before == nil }
        writer.number(UInt32(invited.count))
        for (_, person) in invited { writer.string(person.invitationID?.hex ?? "") }
    }

    private func count(_ reader: inout CanonicalReader, ofAtLeast bytes: Int) throws(SealError) -> Int {
        let count = Int(try reader.count(UInt32.self, ofAtLeast: bytes))
        guard count <= Self.peopleAtMost else { throw .invalidLength }
        return count
    }

    private func permission(_ reader: inout CanonicalReader) throws(SealError) -> Permission {
        guard let permission = Permission(rawValue: try reader.number()) else { throw .malformed }
        return permission
    }

    /// What is not named stays as it is, also where another device has changed it since it was shown.
    private func changed(
        _ person: ShareWish.Person, _ reader: inout CanonicalReader
    ) throws(SealError) -> ShareWish.Person {
        var person = person
        let (role, permission) = (try reader.byte(), try reader.byte())
        if role != 0 {
            guard let role = Role(rawValue: role) else { throw .malformed }
            person.role = role
        }
        if permission != 0 {
            guard let permission = Permission(rawValue: permission) else { throw .malformed }
            person.permission = permission
        }
        return person
    }

    private mutating func invitee(_ reader: inout CanonicalReader) throws(SealError) -> ShareWish.Person {
        let handle: UInt32 = try reader.number()
        let address = try reader.string(atMost: Self.addressBytes)
        let chain = handle == 0 ? nil : try people[handle]
        let (permission, expires) = (try self.permission(&reader), try reader.number(Int64.self))
        return ShareWish.Person(
            invitationID: ID16(random: &random), user: chain?.userID, chain: chain,
            address: address.isEmpty ? nil : address, permission: permission, expires: expires < 0 ? nil : expires)
    }

    private mutating func write(
        _ entry: ShareEntry<SodiumHPKE>, to zone: SharedZone, _ writer: inout CanonicalWriter
    ) {
        var request = appendRequest(entry.draft.entry, to: zone)
        for grant in entry.draft.grants {
            request.grants.append(Wire.Grant(subject: grant.subject, epoch: grant.epoch, sealed: grant.sealed))
        }
        request.links = entry.links
        request.addresses = entry.addresses
        request.sealedLinks = entry.sealedLinks
        writer.blob(request.protobuf())
    }

    /// A share, time → whether its URLs show something else than its record says by now, or what nobody vouches for,
    /// and the request that mends them.
    mutating func previewRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (share, time) = try core { () throws(SealError) -> (ManagedShare, Int64) in
            (try shares[try reader.number()], try reader.number())
        }
        let view = try ManagedShare.view(of: share.zone)
        var links: [Wire.Link] = []
        if let preview = ManagedShare.preview(of: share.zone) {
            links = try edit { () throws(ShareEditRefusal) in
                try share.links.renewed(
                    preview, as: share.zone.own, in: view.roster, isNewest: false, time: time, random: &random)
            }
        }
        writer.flag(!links.isEmpty)
        var request = Wire.UpdateLinksRequest()
        request.zone = share.zone.zoneID
        request.shareRecordName = share.zone.scope.shareRecordName
        request.links = links
        writer.blob(request.protobuf())
    }

    // MARK: The end

    /// A zone, time → whether somebody is in its share, or invited, and the request that puts everybody out.
    mutating func shareEndRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, time) = try core { () throws(SealError) -> (SharedZone, Int64) in
            (try zones[try reader.number()], try reader.number())
        }
        let view = try ManagedShare.view(of: zone)
        guard view.scope.shareRecordName.isEmpty, view.roster.owner == view.user else {
            throw Refusal("permissionFailure")
        }
        let draft = try edit { () throws(ShareEditRefusal) in
            try view.endOfShare(as: zone.own, using: SodiumHPKE.self, time: time, random: &random)
        }
        writer.flag(draft != nil)
        if let draft { write(ShareEntry(draft), to: zone, &writer) }
    }
}
