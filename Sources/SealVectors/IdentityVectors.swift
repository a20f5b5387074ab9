import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import SealVectorChecks

extension IdentityVectors: Construction {
    static let construction = VectorConstruction.identity
    static let algorithm = "Account seeds, identities, self-certifying names"
    static let header = [
        "Derivation: `seed` and `container` give every key, the user record name and, with `time`, the signed statement of generation 0.",
        "Chain: `chain` (generations from 0) verifies in `container` and names `userRecordName`.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let seed = [UInt8](repeating: 1, count: 32)
        try builder.group("Derivation") { group in
            for container in ["com.example.notes", "com.example.other"] {
                let person = try VectorPerson(1, container: container)
                group.valid(
                    container,
                    [
                        "seed": .hex(seed), "container": .string(container), "time": .number(VectorZone.time),
                        "signingKey": .hex(person.keys.signingKey.verificationKey.bytes),
                        "grantSeed": .hex(person.keys.grantSeed),
                        "grantKey": .hex(person.keys.grantKey), "userRecordName": .string(person.user.recordName),
                        "identity": .hex(person.identity.signed[0].bytes),
                        "signature": .hex(person.identity.signed[0].signature),
                        "loginKey": .hex(try person.seed.loginKey().verificationKey.bytes),
                        "storageKey": .hex(person.seed.storageKey()),
                    ])
            }
        }
        let first = try VectorPerson(1)
        let second = try VectorPerson(2)
        let identity = Identity(
            container: VectorZone.container, generation: 1, signingKey: second.keys.signingKey.verificationKey,
            grantKey: second.keys.grantKey, time: VectorZone.time,
            previous: Hash.digest(.identityHash, first.identity.signed[0].bytes))
        let bytes = identity.canonicalBytes()
        let message = Identity.signedBytes(bytes)
        let good = first.identity.signed[0]
        let next = SignedIdentity(
            bytes: bytes, signature: second.keys.signingKey.sign(message),
            previousSignature: first.keys.signingKey.sign(message))
        func chain(_ links: [SignedIdentity]) -> JSON { .chain(links) }
        try builder.group("Chain") { group in
            let fields: [String: JSON] = [
                "container": .string(VectorZone.container), "userRecordName": .string(first.user.recordName),
            ]
            group.valid("generation 0", fields.merging(["chain": chain([good])]) { $1 })
            group.valid("two generations", fields.merging(["chain": chain([good, next])]) { $1 })
            group.altered("nothing", ["chain": chain([])])
            group.altered("without generation 0", ["chain": chain([next])])
            group.altered("a generation twice", ["chain": chain([good, good])])
            group.altered("after another's generation 0", ["chain": chain([second.identity.signed[0], next])])
            group.altered("another container", ["container": .string("com.example.other")])
            group.altered(
                "not signed by the generation before",
                ["chain": chain([good, SignedIdentity(bytes: bytes, signature: next.signature)])])
            group.altered(
                "signed by another in place of the generation before",
                [
                    "chain": chain([
                        good,
                        SignedIdentity(bytes: bytes, signature: next.signature, previousSignature: next.signature),
                    ])
                ])
            group.altered(
                "not signed by itself",
                [
                    "chain": chain([
                        good,
                        SignedIdentity(
                            bytes: bytes, signature: next.previousSignature, previousSignature: next.previousSignature),
                    ])
                ])
            group.altered(
                "generation 0 with a signature of one before",
                [
                    "chain": chain([
                        SignedIdentity(bytes: good.bytes, signature: good.signature, previousSignature: good.signature)
                    ])
                ])
            func generation(_ comment: String, number: UInt32, previous: Digest) {
                let identity = Identity(
                    container: VectorZone.container, generation: number,
                    signingKey: second.keys.signingKey.verificationKey,
                    grantKey: second.keys.grantKey, time: VectorZone.time, previous: previous)
                let message = Identity.signedBytes(identity.canonicalBytes())
                let link = SignedIdentity(
                    bytes: identity.canonicalBytes(), signature: second.keys.signingKey.sign(message),
                    previousSignature: first.keys.signingKey.sign(message))
                group.altered(comment, ["chain": chain([good, link])])
            }
            generation("another number", number: 2, previous: Hash.digest(.identityHash, good.bytes))
            generation("another generation before", number: 1, previous: .zero)
            func resigned(_ comment: String, _ change: (inout [UInt8]) -> Void) {
                var bytes = good.bytes
                change(&bytes)
                let signature = first.keys.signingKey.sign(Identity.signedBytes(bytes))
                group.altered(comment, ["chain": chain([SignedIdentity(bytes: bytes, signature: signature)])])
            }
            let keyOffset = 4 + VectorZone.container.utf8.count + 4
            resigned("a signing key of small order") {
                $0.replaceSubrange(keyOffset..<keyOffset + 32, with: [1] + [UInt8](repeating: 0, count: 31))
            }
            resigned("a signing key that is not canonical") {
                $0.replaceSubrange(keyOffset..<keyOffset + 32, with: [UInt8](repeating: 0xFF, count: 32))
            }
            resigned("a grant key with a coefficient above the modulus") {
                $0[keyOffset + 32] = 0xFF
                $0[keyOffset + 33] |= 0x0F
            }
            resigned("a grant key with an X25519 point of small order") {
                $0.replaceSubrange(
                    keyOffset + 32 + 1184..<keyOffset + 32 + 1216, with: [UInt8](repeating: 0, count: 32))
            }
            var altered = good.bytes
            altered[altered.count - 40] ^= 1
            group.altered(
                "an altered byte", ["chain": chain([SignedIdentity(bytes: altered, signature: good.signature)])])
            group.altered(
                "a trailing byte",
                ["chain": chain([SignedIdentity(bytes: good.bytes + [0], signature: good.signature)])])
        }
    }
}

extension SafetyNumberVectors: Construction {
    static let construction = VectorConstruction.safetyNumber
    static let algorithm = "Safety numbers"
    static let header = [
        "SafetyNumber: the identity chains `one` and `other` in `container` give the 60 digits `digits`, whichever comes first."
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let (alice, bob) = (try VectorPerson(2), try VectorPerson(3))
        let later = try VectorPerson(5, after: bob)
        try builder.group("SafetyNumber") { group in
            for (comment, one, other) in [
                ("two people", alice, bob), ("the same, the other way round", bob, alice),
                ("after new keys of one", alice, later),
            ] {
                group.valid(
                    comment,
                    [
                        "container": .string(VectorZone.container), "one": .chain(one.identity.signed),
                        "other": .chain(other.identity.signed),
                        "digits": .string(SafetyNumber.of(one.identity, other.identity)),
                    ])
            }
        }
    }
}
