import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import SealVectorChecks

extension EpochVectors: Construction {
    static let construction = VectorConstruction.epochs
    static let algorithm = "Key ids and previous keys"
    static let header = [
        "KeyID: `key` in `context` has `keyID`.",
        "PreviousKey: the key of epoch `previousEpoch` under that of epoch `epoch`, both of the roster that `scope` and `entries` give, in its present life. `sealed` opens with `key`, the epoch's; of a valid test, `previous`, the key inside, and `random` give the very bytes.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        var zone = try VectorZone()
        try zone.append(by: zone.owner, [], rotating: true)
        try zone.append(by: zone.owner, [], rotating: true)
        let keyBytes = [UInt8](repeating: 0x50, count: 32)
        try builder.group("KeyID") { group in
            let context = zone.keys[0].context
            group.valid(
                "epoch 0", ["context": .context(context), "key": .hex(keyBytes), "keyID": .hex(zone.keys[0].keyID)])
            for (comment, other, key) in [
                (
                    "another epoch",
                    EpochContext(scopeID: context.scopeID, incarnations: context.incarnations, epoch: 1), keyBytes
                ),
                (
                    "another life of the scope",
                    EpochContext(scopeID: context.scopeID, incarnations: Incarnations(zone: 1, scope: 2), epoch: 0),
                    keyBytes
                ),
                (
                    "another life of the zone",
                    EpochContext(scopeID: context.scopeID, incarnations: Incarnations(zone: 2, scope: 1), epoch: 0),
                    keyBytes
                ),
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
                    "epoch": .int(1), "previousEpoch": .int(0), "key": .hex([UInt8](repeating: 0x51, count: 32)),
                    "previous": .hex(keyBytes), "random": .hex(random.drawn), "sealed": .hex(sealed),
                ])
            var altered = sealed
            altered[40] ^= 1
            group.altered("an altered byte", ["sealed": .hex(altered)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
            group.altered("another key", ["key": .hex([UInt8](repeating: 1, count: 32))])
            var again = RecordingRandom("another previous key")
            group.altered(
                "not the key that the roster names",
                ["sealed": .hex(zone.keys[1].seal(previous: zone.keys[1], random: &again))])
            group.altered("as the epoch after", ["epoch": .int(2)])
            var skipping = RecordingRandom("a key further back")
            let skipped = zone.keys[2].seal(previous: zone.keys[0], random: &skipping)
            group.valid(
                "the key of an epoch further back, where nobody could open the one between",
                [
                    "epoch": .int(2), "previousEpoch": .int(0), "key": .hex([UInt8](repeating: 0x52, count: 32)),
                    "previous": .hex(keyBytes), "random": .hex(skipping.drawn), "sealed": .hex(skipped),
                ])
            group.altered("taken for that of the epoch between", ["previousEpoch": .int(1)])
        }
    }
}

extension GrantVectors: Construction {
    static let construction = VectorConstruction.grants
    static let algorithm = "HPKE (X-Wing, HKDF-SHA256, ChaCha20-Poly1305) grants"
    static let header = [
        "Sealing is randomised inside HPKE, so these are for opening. The epoch is number `epoch` of the roster that `scope` and `entries` give; `key` is what opens.",
        "MemberGrant: `seed` is the member's account seed. InvitationGrant: opened with the invitation's keys from `linkSecret`; with `seed` (a known invitee) the outer layer first.",
        "PublicGrant: the grant of the public seat `invitationID`, opened with the keys that `linkSecret` gives for it.",
        "GrantHash: `sealed` has `hash`, which rosters commit to.",
        "SealedAddress: the look-up address sealed to one reader.",
        "SealedContact: what somebody who asks for access by `requestID` says of itself, sealed to the owner.",
        "SealedLink: the share-wide link secret sealed to the administrator of `userRecordName` and `seed` opens to `linkSecret`, which `linkID` names in `scopeID`.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        var zone = try VectorZone()
        try zone.append(by: zone.owner, [], rotating: true)
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
            group.valid(
                "a member's grant",
                [
                    "epoch": .int(0), "userRecordName": .string(alice.user.recordName), "seed": .hex(alice.seed.bytes),
                    "sealed": .hex(sealed), "key": key,
                ])
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
            group.valid(
                "a placeholder's grant",
                [
                    "epoch": .int(0), "linkSecret": .hex(VectorZone.linkBytes), "invitationID": id,
                    "sealed": .hex(inner), "key": key,
                ])
            group.altered("another epoch", ["epoch": .int(1)])
            group.altered("another invitation", ["invitationID": .hex(ID16.zero)])
            group.altered("another link secret", ["linkSecret": .hex(Digest.zero)])
            group.altered("as a known invitee's", ["seed": .hex(alice.seed.bytes)])
            group.altered("a known invitee's, with the URL alone", ["sealed": .hex(outer)])
            group.valid(
                "a known invitee's grant",
                [
                    "epoch": .int(0), "linkSecret": .hex(VectorZone.linkBytes), "invitationID": id,
                    "seed": .hex(alice.seed.bytes), "sealed": .hex(outer), "key": key,
                ])
            group.altered("another person with the URL", ["seed": .hex(bob.seed.bytes)])
            group.altered("the person without the URL", ["linkSecret": .hex(Digest.zero)])
            group.altered("another epoch", ["epoch": .int(1)])
            group.altered("the inner layer altered", ["sealed": altered(outer, 1200)])
        }
        try builder.group("PublicGrant", shared: shared) { group in
            group.valid(
                "the public seat's grant",
                [
                    "epoch": .int(0), "linkSecret": .hex(VectorZone.linkBytes),
                    "invitationID": .hex([UInt8](repeating: 0xA0, count: 16)),
                    "sealed": .hex(try bytes(RecordedGrants.publicSeat)), "key": key,
                ])
            group.altered("a renewed link secret", ["linkSecret": .hex(try VectorZone.link(1).bytes)])
        }
        try builder.group("GrantHash") { group in
            let sealed = try bytes(RecordedGrants.member)
            group.valid("a grant", ["sealed": .hex(sealed), "hash": .hex(GrantHash.of(sealed))])
        }
        try builder.group("SealedLink", shared: shared) { group in
            let sealed = try bytes(RecordedGrants.link)
            group.valid(
                "the share-wide link secret",
                [
                    "scopeID": .hex(zone.scope.id), "linkID": .hex(try VectorZone.link().id(in: zone.scope.id)),
                    "userRecordName": .string(alice.user.recordName), "seed": .hex(alice.seed.bytes),
                    "sealed": .hex(sealed),
                    "linkSecret": .hex(VectorZone.linkBytes),
                ])
            group.altered("another scope", ["scopeID": .hex(Digest.zero)])
            group.altered("another link", ["linkID": .hex(try VectorZone.link(1).id(in: zone.scope.id))])
            group.altered("another reader", ["userRecordName": .string(bob.user.recordName)])
            group.altered("another reader's key", ["seed": .hex(bob.seed.bytes)])
            group.altered("an altered byte", ["sealed": altered(sealed, 1130)])
            group.altered(
                "a secret that is not the one it is named for", ["sealed": .hex(try bytes(RecordedGrants.otherLink))])
        }
        try builder.group("SealedAddress", shared: shared) { group in
            let sealed = try bytes(RecordedGrants.address)
            group.valid(
                "an address",
                [
                    "invitationID": .hex([UInt8](repeating: 1, count: 16)), "scopeID": .hex(zone.scope.id),
                    "userRecordName": .string(zone.owner.user.recordName),
                    "seed": .hex(zone.owner.seed.bytes), "sealed": .hex(sealed),
                    "address": .string("alice@example.org"),
                ])
            group.altered("another invitation", ["invitationID": .hex(ID16.zero)])
            group.altered("another scope", ["scopeID": .hex(Digest.zero)])
            group.altered("another reader's key", ["seed": .hex(bob.seed.bytes)])
            group.altered("an altered byte", ["sealed": altered(sealed, 1130)])
            group.altered("a contact", ["sealed": .hex(try bytes(RecordedGrants.contact))])
        }
        try builder.group("SealedContact", shared: shared) { group in
            let sealed = try bytes(RecordedGrants.contact)
            group.valid(
                "a contact",
                [
                    "requestID": .hex([UInt8](repeating: 1, count: 16)), "scopeID": .hex(zone.scope.id),
                    "userRecordName": .string(zone.owner.user.recordName),
                    "seed": .hex(zone.owner.seed.bytes), "sealed": .hex(sealed),
                    "contact": .string("Alice, from the garden"),
                ])
            group.altered("another request", ["requestID": .hex(ID16.zero)])
            group.altered("another scope", ["scopeID": .hex(Digest.zero)])
            group.altered("another reader", ["userRecordName": .string(bob.user.recordName)])
            group.altered("another reader's key", ["seed": .hex(bob.seed.bytes)])
            group.altered("an altered byte", ["sealed": altered(sealed, 1130)])
            group.altered("an invitation's address", ["sealed": .hex(try bytes(RecordedGrants.address))])
        }
    }
}
