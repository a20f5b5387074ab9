import SealClient
import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements

/// A visitor looks at a share behind its URL, and takes a seat.
extension Core {
    /// The whole URL, the origin of the server that is asked → its handle, its routing id.
    mutating func visit(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let text = try core { () throws(SealError) in try reader.string(atMost: reader.remaining) }
        let origin = try core { () throws(SealError) in try reader.string(atMost: Limits.nameBytes) }
        let url = try core { () throws(SealError) in try ShareURL(text) }
        try share { () throws(ShareRefusal) in try ShareOpening.check(url, origin: origin) }
        writer.number(urls.insert(url, &last))
        writer.id(url.routingID)
    }

    /// A URL → the question whether somebody without an account could take a seat.
    func newcomerRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var request = Wire.ShareMetadataRequest()
        request.routingID = try urls[try reader.number()].routingID.bytes
        writer.blob(request.protobuf())
    }

    /// A URL → the question where it leads.
    func placeRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var request = Wire.SharePlaceRequest()
        request.routingID = try urls[try reader.number()].routingID.bytes
        writer.blob(request.protobuf())
    }

    /// The answer → container and environment.
    func placeAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let answer = try Wire.SharePlaceResponse(protobuf: try reader.blob(atMost: reader.remaining))
        guard Environment(name: answer.environment) != nil else { throw .malformed }
        writer.string(answer.container)
        writer.string(answer.environment)
    }

    // MARK: Metadata

    /// A URL, the first entry of the roster that is asked for → the request.
    func metadataRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var request = Wire.ShareMetadataRequest()
        request.routingID = try urls[try reader.number()].routingID.bytes
        request.firstSequence = try reader.number()
        writer.blob(request.protobuf())
    }

    /// A URL, the server's origin, container, environment, the first answer → the handle of what it leads to, whether
    /// more is to be asked for, and from which entry on.
    mutating func metadataAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (url, origin, container, environment, page) = try core {
            () throws(SealError) -> (ShareURL, String, String, Environment, SharePage) in
            let url = try urls[try reader.number()]
            let origin = try reader.string(atMost: Limits.nameBytes)
            let container = try reader.string(atMost: Limits.nameBytes)
            guard let environment = Environment(name: try reader.string(atMost: 16)) else { throw .malformed }
            let answer = try Wire.ShareMetadataResponse(protobuf: try reader.blob(atMost: reader.remaining))
            return (url, origin, container, environment, SharePage(answer))
        }
        let opening = try share { () throws(ShareRefusal) in
            try ShareOpening(url, askedOf: origin, container: container, environment: environment, page: page)
        }
        writer.number(openings.insert(Visit(opening: opening), &last))
        write(next: opening.next, &writer)
    }

    /// What a URL leads to, the next answer → as before.
    mutating func metadataGoesOn(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (handle, page) = try core { () throws(SealError) -> (UInt32, SharePage) in
            let handle: UInt32 = try reader.number()
            let answer = try Wire.ShareMetadataResponse(protobuf: try reader.blob(atMost: reader.remaining))
            return (handle, SharePage(answer))
        }
        let visit = try core { () throws(SealError) in try openings[handle] }
        var opening = visit.opening
        try share { () throws(ShareRefusal) in try opening.append(page) }
        visit.opening = opening
        write(next: opening.next, &writer)
    }

    private func write(next: UInt64?, _ writer: inout CanonicalWriter) {
        writer.flag(next != nil)
        writer.number(next ?? 0)
    }

    /// What a URL leads to → whether somebody vouches for what it shows; title, type, thumbnail, who says so, whether
    /// that is the owner.
    func preview(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let visit = try core { () throws(SealError) in try openings[try reader.number()] }
        let shown = try share { () throws(ShareRefusal) in try visit.opening.preview() }
        writer.flag(shown != nil)
        writer.string(shown?.signed.preview.title ?? "")
        writer.string(shown?.signed.preview.shareType ?? "")
        writer.blob(shown?.signed.preview.thumbnail ?? [])
        writer.string(shown?.signed.author.recordName ?? "")
        writer.flag(shown?.role == .owner)
    }

    /// What a URL leads to, an identity → what the visitor is there (0 a participant, 1 invited, 2 whoever has the
    /// URL), whether it may write, where the records are (owner, zone, share), the digits to compare with the owner,
    /// how many people are in it.
    func standing(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let visit = try core { () throws(SealError) in try openings[try reader.number()] }
        let own = try core { () throws(SealError) in try identities[try reader.number()].own }
        let roster = visit.opening.roster
        switch try share({ () throws(ShareRefusal) in try visit.opening.standing(of: own.chain.userID) }) {
        case .member(let member):
            writer.number(UInt8(0))
            writer.flag(member.permission == .readWrite)
        case .invited(.invitation(let invitation)):
            writer.number(UInt8(1))
            writer.flag(invitation.permission == .readWrite)
        case .invited(.everybody(let seat)):
            writer.number(UInt8(2))
            writer.flag(seat.permission == .readWrite)
        }
        writer.string(roster.owner.recordName)
        writer.string(roster.scope.zoneName)
        writer.string(roster.scope.shareRecordName)
        writer.string(roster.members[roster.owner].map { SafetyNumber.of($0.identity, own.chain) } ?? "")
        writer.number(UInt32(roster.members.count))
    }

    // MARK: Accepting

    /// What a URL leads to, an identity, a visitor, a token of a proven address or none, time → the request that takes
    /// the seat. A seat that is good once is taken by an account alone that has a way back.
    mutating func acceptRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (handle, own, visitor, token, time) = try core {
            () throws(SealError) -> (UInt32, OwnIdentity, Visitor, String, Int64) in
            (
                try reader.number(), try identities[try reader.number()].own, try visitors[try reader.number()],
                try reader.string(atMost: reader.remaining), try reader.number()
            )
        }
        let visit = try core { () throws(SealError) in try openings[handle] }
        guard
            case .invited(let seat) = try share({ () throws(ShareRefusal) in
                try visit.opening.standing(of: own.chain.userID)
            })
        else { throw Refusal("alreadyAccepted") }
        if case .invitation = seat, !visitor.isKept { throw Refusal("notKept") }
        let draft = try share { () throws(ShareRefusal) in
            try visit.opening.acceptance(of: seat, as: own, using: SodiumHPKE.self, time: time)
        }
        var request = Wire.AcceptShareRequest()
        request.operationID = ID16(random: &random).bytes
        request.routingID = visit.opening.url.routingID.bytes
        request.entry = Wire.SignedEntry(draft.entry)
        if let grant = draft.grants.first {
            request.grant = Wire.Grant(subject: grant.subject, epoch: grant.epoch, sealed: grant.sealed)
        }
        request.token = token
        visit.acceptance = draft.entry
        writer.blob(request.protobuf())
    }

    // MARK: Proving an address

    /// A URL, the container, an address as it was typed, a language → the request for a code.
    func codeRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var request = Wire.BeginVerificationRequest()
        request.routingID = try urls[try reader.number()].routingID.bytes
        request.container = try reader.string(atMost: Limits.nameBytes)
        request.address = try reader.string(atMost: reader.remaining)
        request.language = try reader.string(atMost: Limits.nameBytes)
        writer.blob(request.protobuf())
    }

    /// A URL, the server's origin, the address, the answer → the handle of the proof, and when its code stops being
    /// good.
    mutating func codeAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let url = try urls[try reader.number()]
        let origin = try reader.string(atMost: Limits.nameBytes)
        let address = try reader.string(atMost: reader.remaining)
        let answer = try Wire.BeginVerificationResponse(protobuf: try reader.blob(atMost: reader.remaining))
        let proof = AddressProof(
            origin: origin, verificationID: answer.verificationID, address: address, routingID: url.routingID)
        writer.number(proofs.insert(proof, &last))
        writer.number(answer.expires)
    }

    /// A proof, an identity, the code as it was typed → the request that proves the address.
    func proofRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let proof = try proofs[try reader.number()]
        let own = try identities[try reader.number()].own
        let answer = proof.answer(try reader.string(atMost: Limits.nameBytes), key: own.keys.signingKey)
        var request = Wire.CompleteVerificationRequest()
        request.verificationID = proof.verificationID
        request.address = proof.address
        request.code = answer.digits
        request.signature = answer.signature
        writer.blob(request.protobuf())
    }

    /// The answer → the token.
    func proofAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        writer.string(
            try Wire.CompleteVerificationResponse(protobuf: try reader.blob(atMost: reader.remaining)).token)
    }
}

/// What a URL leads to, and the entry by which the visitor has taken its seat.
final class Visit {
    var opening: ShareOpening
    var acceptance: SignedRosterEntry?

    init(opening: ShareOpening) { self.opening = opening }
}
