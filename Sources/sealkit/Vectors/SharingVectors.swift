import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

enum EpochVectors: Construction {
    static let name = "epochs"
    static let algorithm = "Key ids and previous keys"
    static let header = [
        "KeyID: `key` in `context` has `keyID`.",
        "PreviousKey: the key of epoch 0 under that of epoch 1. The roster of `scope` and `entries` has both epochs; `sealed` opens with `key` to the key of epoch 0; of a valid test, `previous` and `random` give the very bytes.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        var zone = try VectorZone()
        try zone.append(by: zone.owner, [], epoch: zone.epoch())
        let keyBytes = [UInt8](repeating: 0x50, count: 32)
        try builder.group("KeyID") { group in
            let context = zone.keys[0].context
            group.valid("epoch 0", ["context": .context(context), "key": .hex(keyBytes), "keyID": .hex(zone.keys[0].keyID)])
            for (comment, other, key) in [
                ("another epoch", EpochContext(scopeID: context.scopeID, incarnations: context.incarnations, epoch: 1), keyBytes),
                ("another life of the scope", EpochContext(scopeID: context.scopeID, incarnations: Incarnations(zone: 1, scope: 2), epoch: 0), keyBytes),
                ("another life of the zone", EpochContext(scopeID: context.scopeID, incarnations: Incarnations(zone: 2, scope: 1), epoch: 0), keyBytes),
                ("another scope", EpochContext(scopeID: .zero, incarnations: context.incarnations, epoch: 0), keyBytes),
                ("another key", context, [UInt8](repeating: 1, count: 32)), ("a shorter key", context, [1]),
            ] { group.altered(comment, ["context": .context(other), "key": .hex(key)]) }
        }
        let shared: [String: JSON] = ["scope": .scope(zone.scope), "entries": .entries(zone.entries)]
        var random = RecordingRandom("previous key")
        let sealed = zone.keys[1].seal(previous: zone.keys[0], random: &random)
        try builder.group("PreviousKey", shared: shared) { group in
            group.valid(
                "the key before",
                [
                    "key": .hex([UInt8](repeating: 0x51, count: 32)), "previous": .hex(keyBytes), "random": .hex(random.drawn),
                    "sealed": .hex(sealed),
                ])
            var altered = sealed
            altered[40] ^= 1
            group.altered("an altered byte", ["sealed": .hex(altered)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
            group.altered("another key", ["key": .hex([UInt8](repeating: 1, count: 32))])
            var again = RecordingRandom("another previous key")
            group.altered("not the key that the roster names", ["sealed": .hex(zone.keys[1].seal(previous: zone.keys[1], random: &again))])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        if type == "KeyID" {
            _ = try EpochKey(test.secret("key"), context: test.context(), keyID: test.digest("keyID"))
            return
        }
        let roster = try shared.roster()
        let key = try EpochKey(test.secret("key"), context: roster.epochs[1].context, keyID: GrantVectors.keyID(test.bytes("key"), roster.epochs[1].context))
        let previous = try key.openPrevious(test.bytes("sealed"), epoch: roster.epochs[0])
        var random = ReplayedRandom(try test.bytes("random"))
        try test.expect("sealed", .hex(key.seal(previous: previous, random: &random)))
        var source = ReplayedRandom(try test.bytes("previous"))
        guard EpochKey(random: &source, context: roster.epochs[0].context).keyID == previous.keyID else { throw VectorError.differs("previous") }
    }
}

enum GrantVectors: Construction {
    static let name = "grants"
    static let algorithm = "HPKE (X-Wing, HKDF-SHA256, ChaCha20-Poly1305) grants"
    static let header = [
        "Sealing is randomised inside HPKE, so these are for opening. The epoch is number `epoch` of the roster that `scope` and `entries` give; `key` is what opens.",
        "MemberGrant: `seed` is the member's account seed. InvitationGrant: opened with the invitation's keys from `linkSecret`; with `seed` (a known invitee) the outer layer first.",
        "SealedAddress: the look-up address sealed to one reader.",
    ]

    static func keyID(_ key: [UInt8], _ context: EpochContext) -> Digest {
        var pae = PAE(.keyID, pieces: EpochContext.pieces + 1)
        context.add(to: &pae)
        pae.add(key)
        return Hash.digest(pae)
    }

    static func generate(into builder: inout VectorBuilder) throws {
        var zone = try VectorZone()
        try zone.append(by: zone.owner, [], epoch: zone.epoch())
        let alice = try VectorPerson(2)
        let bob = try VectorPerson(3)
        let shared: [String: JSON] = ["scope": .scope(zone.scope), "entries": .entries(zone.entries)]
        let key = JSON.hex([UInt8](repeating: 0x50, count: 32))
        func bytes(_ text: String) throws -> [UInt8] { try Base64URL.decode(text) }
        func altered(_ bytes: [UInt8], _ index: Int) -> JSON {
            var bytes = bytes
            bytes[index] ^= 1
            return .hex(bytes)
        }
        try builder.group("MemberGrant", shared: shared) { group in
            let sealed = try bytes(RecordedGrants.member)
            group.valid("a member's grant", ["epoch": .int(0), "userRecordName": .string(alice.user.recordName), "seed": .hex(alice.seed.bytes), "sealed": .hex(sealed), "key": key])
            group.altered("another epoch", ["epoch": .int(1)])
            group.altered("another subject", ["userRecordName": .string(bob.user.recordName)])
            group.altered("another person's key", ["seed": .hex(bob.seed.bytes)])
            group.altered("the encapsulated key altered", ["sealed": altered(sealed, 5)])
            group.altered("the X25519 part altered", ["sealed": altered(sealed, 1110)])
            group.altered("the ciphertext altered", ["sealed": altered(sealed, 1125)])
            group.altered("the tag altered", ["sealed": altered(sealed, sealed.count - 1)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
            group.altered("an invitation's grant", ["sealed": .hex(try bytes(RecordedGrants.placeholder))])
        }
        try builder.group("InvitationGrant", shared: shared) { group in
            let id = JSON.hex([UInt8](repeating: 1, count: 16))
            let inner = try bytes(RecordedGrants.placeholder)
            let outer = try bytes(RecordedGrants.invitee)
            group.valid("a placeholder's grant", ["epoch": .int(0), "linkSecret": .hex(VectorZone.link), "invitationID": id, "sealed": .hex(inner), "key": key])
            group.altered("another epoch", ["epoch": .int(1)])
            group.altered("another invitation", ["invitationID": .hex(ID16.zero)])
            group.altered("another link secret", ["linkSecret": .hex(Digest.zero)])
            group.altered("as a known invitee's", ["seed": .hex(alice.seed.bytes)])
            group.altered("a known invitee's, with the URL alone", ["sealed": .hex(outer)])
            group.valid(
                "a known invitee's grant",
                ["epoch": .int(0), "linkSecret": .hex(VectorZone.link), "invitationID": id, "seed": .hex(alice.seed.bytes), "sealed": .hex(outer), "key": key])
            group.altered("another person with the URL", ["seed": .hex(bob.seed.bytes)])
            group.altered("the person without the URL", ["linkSecret": .hex(Digest.zero)])
            group.altered("another epoch", ["epoch": .int(1)])
            group.altered("the inner layer altered", ["sealed": altered(outer, 1200)])
        }
        try builder.group("SealedAddress", shared: shared) { group in
            let sealed = try bytes(RecordedGrants.address)
            group.valid(
                "an address",
                [
                    "invitationID": .hex([UInt8](repeating: 1, count: 16)), "scopeID": .hex(zone.scope.id), "userRecordName": .string(zone.owner.user.recordName),
                    "seed": .hex(zone.owner.seed.bytes), "sealed": .hex(sealed), "address": .string("alice@example.org"),
                ])
            group.altered("another invitation", ["invitationID": .hex(ID16.zero)])
            group.altered("another scope", ["scopeID": .hex(Digest.zero)])
            group.altered("another reader's key", ["seed": .hex(bob.seed.bytes)])
            group.altered("an altered byte", ["sealed": altered(sealed, 1130)])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let roster = try shared.roster()
        func keys() throws -> IdentityKeys {
            try AccountSeed(test.secret("seed")).identityKeys(container: roster.scope.container, using: XWingHPKE.self)
        }
        let sealed = try test.bytes("sealed")
        if type == "SealedAddress" {
            let user = try test.user("userRecordName")
            let invitation = Invitation(
                id: try test.id("invitationID"), permission: .readOnly, invitee: nil, signingKey: try keys().signingKey.verificationKey,
                grantKey: [], grantHash: .zero, sealedAddresses: [SealedAddress(reader: user, sealed: sealed)])
            let address = try SealedAddresses<XWingHPKE>.open(invitation, scopeID: test.digest("scopeID"), as: user, keys: keys())
            return try test.expect("address", .string(address))
        }
        let epoch = roster.epochs[try test.int("epoch")]
        let opened: EpochKey
        if type == "MemberGrant" {
            opened = try Grants<XWingHPKE>.open(sealed, epoch: epoch, as: test.user("userRecordName"), keys: keys())
        } else {
            let invitation = try LinkSecret(test.secret("linkSecret")).invitationKeys(scopeID: roster.scopeID, invitationID: test.id("invitationID"))
            opened = try Grants<XWingHPKE>.open(sealed, epoch: epoch, invitation: invitation, keys: test.has("seed") ? keys() : nil)
        }
        guard opened.keyID == keyID(try test.bytes("key"), epoch.context) else { throw VectorError.differs("key") }
    }
}

enum LinkVectors: Construction {
    static let name = "links"
    static let algorithm = "Link secrets, share URLs, previews"
    static let header = [
        "InvitationKeys: what `linkSecret` gives in `scopeID` for `invitationID`.",
        "URL: `url` has these parts and names `scopeID`.",
        "Preview: `sealed` opens to title, type and thumbnail; `random` gives the very bytes.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let zone = try VectorZone()
        try builder.group("InvitationKeys") { group in
            for number in [1, 2] as [UInt8] {
                let keys = try zone.invitationKeys(number)
                group.valid(
                    "invitation \(number)",
                    [
                        "linkSecret": .hex(VectorZone.link), "scopeID": .hex(zone.scope.id), "invitationID": .hex(keys.id),
                        "signingKey": .hex(keys.signingKey.verificationKey.bytes), "grantSeed": .hex(keys.grantSeed),
                        "grantKey": .hex(try XWingHPKE.publicKey(seed: keys.grantSeed)),
                    ])
            }
        }
        let link = try LinkSecret(SecretBytes(copying: VectorZone.link))
        let routing = try ID16([UInt8](repeating: 0x33, count: 16))
        let url = ShareURL(origin: "https://notes.example.org", routingID: routing, secret: link, scopeID: zone.scope.id).text()
        try builder.group("URL") { group in
            group.valid(
                "a share URL",
                [
                    "url": .string(url), "origin": .string("https://notes.example.org"), "routingID": .hex(routing),
                    "linkSecret": .hex(VectorZone.link), "scopeID": .hex(zone.scope.id),
                ])
            group.altered("another share behind it", ["scopeID": .hex(Digest.zero)])
            for (comment, text) in [
                ("cut short", String(url.dropLast())), ("cut at the secret part", String(url.prefix { $0 != "#" })), ("no secret part", String(url.prefix { $0 != "#" }) + "#"),
                ("a letter more", url + "A"), ("padding", url + "="), ("another version", url.replacing("#A", with: "#B")),
                ("unused bits set in the version's first letter", url.replacing("#A", with: "#C")), ("another path", url.replacing("/s/", with: "/t/")),
                ("another scheme", url.replacing("https:", with: "ftp:")), ("a shorter routing id", url.replacing("/s/M", with: "/s/")),
                ("the last letter altered", String(url.dropLast()) + (url.last == "A" ? "B" : "A")),
            ] { group.altered(comment, ["url": .string(text)]) }
        }
        try builder.group("Preview") { group in
            var random = RecordingRandom("preview")
            let preview = SharePreview(title: "Einkaufsliste", shareType: "list", thumbnail: [1, 2, 3])
            let sealed = try link.sealPreview(preview, scopeID: zone.scope.id, random: &random)
            group.valid(
                "a preview",
                [
                    "linkSecret": .hex(VectorZone.link), "scopeID": .hex(zone.scope.id), "title": .string(preview.title), "shareType": .string(preview.shareType),
                    "thumbnail": .hex(preview.thumbnail), "random": .hex(random.drawn), "sealed": .hex(sealed),
                ])
            group.altered("another scope", ["scopeID": .hex(Digest.zero)])
            group.altered("another link secret", ["linkSecret": .hex(Digest.zero)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let scopeID = try test.digest("scopeID")
        let link = try LinkSecret(test.secret("linkSecret"))
        switch type {
        case "InvitationKeys":
            let keys = try link.invitationKeys(scopeID: scopeID, invitationID: test.id("invitationID"))
            try test.expect("signingKey", .hex(keys.signingKey.verificationKey.bytes))
            try test.expect("grantSeed", .hex(keys.grantSeed))
            try test.expect("grantKey", .hex(try XWingHPKE.publicKey(seed: keys.grantSeed)))
        case "URL":
            let url = try ShareURL(test.string("url"))
            try url.check(scopeID: scopeID)
            try test.expect("origin", .string(url.origin))
            try test.expect("routingID", .hex(url.routingID))
            try test.expect("linkSecret", .hex(url.secret.bytes))
            try test.expect("url", .string(ShareURL(origin: url.origin, routingID: url.routingID, secret: link, scopeID: scopeID).text()))
        default:
            let preview = try link.openPreview(test.bytes("sealed"), scopeID: scopeID)
            try test.expect("title", .string(preview.title))
            try test.expect("shareType", .string(preview.shareType))
            try test.expect("thumbnail", .hex(preview.thumbnail))
            var random = ReplayedRandom(try test.bytes("random"))
            try test.expect("sealed", .hex(try link.sealPreview(preview, scopeID: scopeID, random: &random)))
        }
    }
}
