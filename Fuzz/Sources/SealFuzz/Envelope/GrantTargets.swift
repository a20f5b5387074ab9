import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// Epoch keys on their way to a member, to an invitation's bearer, and to a known invitee.
enum GrantTarget: FuzzTarget {
    static let name = "grant"
    static let seeds = [Seed.hex("grants", "sealed"), .hex("grants", "key"), .made(World.zone.key.key.copyBytes())]

    static func run(_ input: [UInt8]) {
        let (zone, bob, seat) = (World.zone, World.people[1], World.seats[2])
        let epoch = zone.roster.currentEpoch
        let isKey = input == zone.key.key.copyBytes()

        let member = info(.grant, epoch, .member(bob.userID))
        let sealed = certain("sealing") { try StandInHPKE.seal(input, to: bob.keys.grantKey, info: member) }
        let open = { try Grants<StandInHPKE>.open($0, epoch: epoch, as: bob.userID, keys: bob.keys) }
        opensOnlyWhole(hostile: input, sealed: sealed, "a member's grant", open: open)
        check("a member's grant", isKey) { try open(sealed) }
        refuses("as somebody else's grant", with: .authenticationFailed) {
            try Grants<StandInHPKE>.open(sealed, epoch: epoch, as: World.people[0].userID, keys: bob.keys)
        }

        let bearer = info(.grant, epoch, .invitation(seat.keys.id))
        let inner = certain("sealing") { try StandInHPKE.seal(input, to: seat.grantKey, info: bearer) }
        check("an invitation's grant", isKey) {
            try Grants<StandInHPKE>.open(inner, epoch: epoch, invitation: seat.keys, keys: nil)
        }
        let outerInfo = info(.grantOuter, epoch, .invitation(seat.keys.id))
        let outer = certain("sealing") { try StandInHPKE.seal(inner, to: bob.keys.grantKey, info: outerInfo) }
        check("a known invitee's grant", isKey) {
            try Grants<StandInHPKE>.open(outer, epoch: epoch, invitation: seat.keys, keys: bob.keys)
        }
        let hollow = certain("sealing") { try StandInHPKE.seal(input, to: bob.keys.grantKey, info: outerInfo) }
        refuses("hostile bytes inside a known invitee's grant", with: .authenticationFailed) {
            try Grants<StandInHPKE>.open(hollow, epoch: epoch, invitation: seat.keys, keys: bob.keys)
        }
    }

    private static func check(_ what: String, _ isKey: Bool, _ open: () throws -> EpochKey) {
        if isKey { certain(what, open) } else { refuses(what, with: .keyMismatch, open) }
    }

    private static func info(_ label: Label, _ epoch: Roster.Epoch, _ subject: GrantSubject) -> [UInt8] {
        var pae = PAE(label, pieces: 7)
        epoch.context.add(to: &pae)
        pae.add(epoch.keyID)
        pae.add(subject.kind)
        pae.add(subject.id)
        return pae.finish()
    }
}

/// Look-up addresses of invitations.
enum SealedAddressTarget: FuzzTarget {
    static let name = "sealed-address"
    static let seeds = [Seed.hex("grants", "sealed"), .hex("padding", "plaintext"), .hex("values", "encoded")]

    static func run(_ input: [UInt8]) {
        let (owner, seat, scopeID) = (World.people[0], World.seats[0], World.zone.roster.scopeID)
        var pae = PAE(.sealedAddress, pieces: 3)
        pae.add(scopeID)
        pae.add(seat.keys.id)
        pae.add(owner.userID.id)
        let sealed = certain("sealing") { try StandInHPKE.seal(input, to: owner.keys.grantKey, info: pae.finish()) }
        let open = { (sealed: [UInt8]) in
            let invitation = Invitation(
                id: seat.keys.id, permission: .readOnly, invitee: nil, signingKey: seat.keys.signingKey.verificationKey,
                grantKey: seat.grantKey, grantHash: .zero,
                sealedAddresses: [SealedAddress(reader: owner.userID, sealed: sealed)])
            return try SealedAddresses<StandInHPKE>.open(
                invitation, scopeID: scopeID, as: owner.userID, keys: owner.keys)
        }
        opensOnlyWhole(hostile: input, sealed: sealed, "an address", open: open)
        guard let address = try? open(sealed) else {
            if case .string = try? Value(padded: input) { violated("an address is refused") }
            return
        }
        let bytes = certain("an address") { try Value.string(address).canonicalBytes() }
        require(Padding.pad(bytes) == input, "an address with another encoding")
        refuses("an address as a contact", with: .authenticationFailed) {
            try SealedContact<StandInHPKE>.open(
                sealed, scopeID: scopeID, requestID: seat.keys.id, as: owner.userID, keys: owner.keys)
        }
    }
}

/// What those who ask for access say of themselves.
enum SealedContactTarget: FuzzTarget {
    static let name = "sealed-contact"
    static let seeds = [Seed.hex("grants", "sealed"), .hex("padding", "plaintext"), .hex("values", "encoded")]

    static func run(_ input: [UInt8]) {
        let (owner, requestID, scopeID) = (World.people[0], World.seats[0].keys.id, World.zone.roster.scopeID)
        var pae = PAE(.sealedContact, pieces: 3)
        pae.add(scopeID)
        pae.add(requestID)
        pae.add(owner.userID.id)
        let sealed = certain("sealing") { try StandInHPKE.seal(input, to: owner.keys.grantKey, info: pae.finish()) }
        let open = { (sealed: [UInt8], requestID: ID16) in
            try SealedContact<StandInHPKE>.open(
                sealed, scopeID: scopeID, requestID: requestID, as: owner.userID, keys: owner.keys)
        }
        opensOnlyWhole(hostile: input, sealed: sealed, "a contact") { try open($0, requestID) }
        refuses("another request's contact", with: .authenticationFailed) { try open(sealed, .zero) }
        guard let contact = try? open(sealed, requestID) else {
            if case .string = try? Value(padded: input) { violated("a contact is refused") }
            return
        }
        let again = certain("a contact that was read is sealed") {
            try SealedContact<StandInHPKE>.seal(contact, scopeID: scopeID, requestID: requestID, to: owner.chain)
        }
        require(again == sealed, "a contact with another encoding")
    }
}

/// The share-wide link secret on its way to an administrator.
enum SealedLinkTarget: FuzzTarget {
    static let name = "sealed-link"
    static let maximumLength = 512
    static let seeds = [
        Seed.made(World.link.bytes.copyBytes()), .made(World.nextLink.bytes.copyBytes()),
        .hex("links", "linkSecret"), .made([1, 2]),
    ]

    static func run(_ input: [UInt8]) {
        let (bob, scopeID) = (World.people[1], World.shareScope.id)
        let secret = try? LinkSecret(SecretBytes(copying: input))
        require((secret != nil) == (input.count == 32), "a secret of another length")
        // Under the link id that it gives, and under the one in use.
        for linkID in [secret?.id(in: scopeID), World.nextLink.id(in: scopeID)] {
            guard let linkID else { continue }
            var pae = PAE(.sealedLink, pieces: 3)
            pae.add(scopeID)
            pae.add(linkID)
            pae.add(bob.userID.id)
            let sealed = certain("sealing") { try StandInHPKE.seal(input, to: bob.keys.grantKey, info: pae.finish()) }
            let open = { (sealed: [UInt8], scopeID: Digest, user: UserID) in
                try SealedLinks<StandInHPKE>.open(sealed, scopeID: scopeID, linkID: linkID, as: user, keys: bob.keys)
            }
            opensOnlyWhole(hostile: input, sealed: sealed, "a link") { try open($0, scopeID, bob.userID) }
            refuses("somebody else's link", with: .authenticationFailed) {
                try open(sealed, scopeID, World.people[0].userID)
            }
            refuses("another scope's link", with: .authenticationFailed) {
                try open(sealed, World.scope.id, bob.userID)
            }
            guard let secret else {
                refuses("a link secret of another length", with: .invalidLength) {
                    try open(sealed, scopeID, bob.userID)
                }
                continue
            }
            guard secret.id(in: scopeID) == linkID else {
                refuses("another link than the roster names", with: .keyMismatch) {
                    try open(sealed, scopeID, bob.userID)
                }
                continue
            }
            let opened = certain("a link opens") { try open(sealed, scopeID, bob.userID) }
            require(SecretBytes.areEqual(opened.bytes, secret.bytes), "another link secret")
            require(
                (try? SealedLinks<StandInHPKE>.seal(secret, scopeID: scopeID, to: bob.chain)) == sealed,
                "sealed otherwise")
        }
    }
}
