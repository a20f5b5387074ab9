import SealEnvelope
import SealPrimitives

@testable import SealStatements

/// Identities: one valid encoding.
enum IdentityTarget: FuzzTarget {
    static let name = "identity"
    static let seeds = [
        Seed.hex("identity", "identity"), .hex("safety-number", "identity"), .made(Person(1).chain.signed[0].bytes),
    ]

    static func run(_ input: [UInt8]) {
        guard let identity = try? Identity(canonicalBytes: input) else { return }
        require(identity.canonicalBytes() == input, "an identity with another encoding")
        require(Names.isPlain(identity.container), "a container out of bounds")
        require(HybridKeyCheck.isValid(identity.grantKey), "a grant key that cannot be sealed to")
    }
}

/// Chains of generations: bytes as they come, and made ones with the fuzzer choosing the faults.
enum IdentityChainTarget: FuzzTarget {
    static let name = "identity-chain"
    static let maximumLength = 8_192
    /// Chains of some sixty generations.
    static let allowance = 262_144
    static let seeds =
        [0, 6].map { Seed.made(encoded(World.people[$0].chain)) } + [
            .made([]), .made([3]), .made([2, 0, 0, 0, 0xFF, 1]), .made([0xFF, 0]), .made([0xFF, 1]),
        ]

    static func run(_ input: [UInt8]) {
        var reader = CanonicalReader(input)
        if let chain = try? IdentityChain(reading: &reader, container: World.container) {
            require(
                encoded(chain) == [UInt8](input.prefix(input.count - reader.remaining)), "a chain with another encoding"
            )
        }
        make(Choices(input))
    }

    private static func encoded(_ chain: IdentityChain) -> [UInt8] {
        var writer = CanonicalWriter()
        chain.write(to: &writer)
        return writer.bytes
    }

    private static func make(_ choices: Choices) {
        var choices = choices
        // The limit is met by few inputs: long chains cost a signature check a generation.
        let count = choices.byte() == 0xFF ? 64 + choices.number(below: 8) : choices.number(below: 4)
        var signed: [SignedIdentity] = []
        var last: (identity: Identity, key: SigningKey)?
        var isWhole = 1...64 ~= count
        for generation in 0..<count {
            let key = World.people[choices.number(below: 6)].signingKey
            var identity = Identity(
                container: World.container, generation: UInt32(generation), signingKey: key.verificationKey,
                grantKey: World.people[0].keys.grantKey, time: choices.number(),
                previous: last.map { Hash.digest(.identityHash, $0.identity.canonicalBytes()) } ?? .zero)
            let honest = identity
            var (signer, before) = (key, last?.key)
            var fault: UInt8 = 0
            if choices.rarely() {
                fault = choices.byte() % 8
                switch fault {
                case 1: identity.container = choices.name()
                case 2: identity.generation = choices.number()
                case 3: identity.previous = choices.digest()
                case 4: identity.grantKey[choices.number(below: 1_216)] = choices.byte()
                case 5: signer = choices.oneOf(World.people).signingKey
                case 6: before = choices.oneOf(World.people).signingKey
                default: break
                }
            }
            let bytes = identity.canonicalBytes()
            let message = Identity.signedBytes(bytes)
            signed.append(
                SignedIdentity(
                    bytes: bytes, signature: signer.sign(message), previousSignature: before?.sign(message) ?? []))
            // Another grant key is no fault where one can be sealed to it.
            if fault != 4, identity != honest { isWhole = false }
            if !HybridKeyCheck.isValid(identity.grantKey) || signer.verificationKey != key.verificationKey {
                isWhole = false
            }
            if before?.verificationKey != last?.key.verificationKey { isWhole = false }
            last = (identity, key)
        }
        let chain = try? IdentityChain(verifying: signed, container: World.container)
        require((chain != nil) == isWhole, "a chain taken or refused wrongly")
        guard let chain, let last else { return }
        require(chain.current == last.identity, "another newest generation")
        var reader = CanonicalReader(encoded(chain))
        let again = certain("a chain that was written is read") {
            try IdentityChain(reading: &reader, container: World.container)
        }
        require(again == chain && reader.remaining == 0, "a chain that was written is read otherwise")
        refuses("a chain of another container", with: .invalidIdentity) {
            try IdentityChain(verifying: signed, container: "com.example.other")
        }
    }
}
