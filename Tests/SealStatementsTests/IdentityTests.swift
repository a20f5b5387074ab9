import SealPrimitives
import Testing

@testable import SealStatements

@Suite(.timeLimit(.minutes(60))) struct IdentityTests {
    let alice: Person
    let second: Person

    init() throws {
        alice = try Person(2)
        second = try Person(alice, next: 22)
    }

    func chain(_ signed: [SignedIdentity], container: String = World.container) throws(SealError) -> IdentityChain {
        try IdentityChain(verifying: signed, container: container)
    }

    @Test func `A name commits to container and first key`() throws {
        #expect(
            alice.userID
                == Identity.userID(container: World.container, firstSigningKey: alice.signingKey.verificationKey))
        #expect(try Person(2, container: "com.example.other").userID != alice.userID)
        #expect(try Person(3).userID != alice.userID)
        #expect(alice.userID.recordName.count == 33)
        #expect(try UserID(recordName: alice.userID.recordName) == alice.userID)
        for wrong in [
            "", "_", "a" + alice.userID.id.hex, "_" + alice.userID.id.hex.uppercased(), alice.userID.recordName + "0",
        ] {
            #expect(throws: SealError.invalidName) { try UserID(recordName: wrong) }
        }
    }

    @Test func `A later generation keeps the name and brings its own keys`() throws {
        #expect(second.userID == alice.userID)
        #expect(second.chain.current.signingKey == second.signingKey.verificationKey)
        #expect(second.chain.current.generation == 1)
    }

    @Test func `A chain that does not hold together is refused`() throws {
        let first = alice.chain.signed[0]
        let next = second.chain.signed[1]
        #expect(throws: SealError.invalidIdentity, "nothing") { try chain([]) }
        #expect(throws: SealError.invalidIdentity, "without generation 0") { try chain([next]) }
        #expect(throws: SealError.invalidIdentity, "a generation twice") { try chain([first, first]) }
        #expect(throws: SealError.invalidIdentity, "another container's") {
            try chain([first], container: "com.example.other")
        }
        #expect(throws: SealError.invalidIdentity, "after another first") {
            try chain([Person(3).chain.signed[0], next])
        }
        #expect(throws: SealError.invalidSignature, "unsigned by the one before") {
            try chain([first, SignedIdentity(bytes: next.bytes, signature: next.signature)])
        }
        #expect(throws: SealError.invalidSignature, "signed by the one before alone") {
            try chain([
                first,
                SignedIdentity(
                    bytes: next.bytes, signature: next.previousSignature, previousSignature: next.previousSignature),
            ])
        }
        #expect(throws: SealError.malformed, "a first that names one before") {
            try chain([
                SignedIdentity(bytes: first.bytes, signature: first.signature, previousSignature: first.signature)
            ])
        }
        #expect(throws: SealError.invalidLength) { try chain([SignedIdentity](repeating: first, count: 65)) }
        for index in stride(from: 0, to: first.bytes.count, by: 11) {
            var bytes = first.bytes
            bytes[index] ^= 1
            #expect(throws: SealError.self) { try chain([SignedIdentity(bytes: bytes, signature: first.signature)]) }
        }
    }
}

@Suite(.timeLimit(.minutes(60))) struct ScopeTests {
    @Test func `A scope's id binds each of its parts`() throws {
        let owner = try Person(1).userID
        let other = try Person(2).userID
        let scopes = [
            Scope(container: "a", environment: .production, owner: owner, zoneName: "z"),
            Scope(container: "b", environment: .production, owner: owner, zoneName: "z"),
            Scope(container: "a", environment: .development, owner: owner, zoneName: "z"),
            Scope(container: "a", environment: .production, owner: other, zoneName: "z"),
            Scope(container: "a", environment: .production, owner: owner, zoneName: "y"),
            Scope(container: "a", environment: .production, owner: owner, zoneName: "z", shareRecordName: "s"),
        ]
        #expect(Set(scopes.map(\.id)).count == scopes.count)
    }

    @Test func `Names are ASCII, and each kind has its letters`() {
        #expect(Names.isPlain("a b"))
        #expect(!Names.isPlain(""))
        #expect(!Names.isPlain("\t"))
        #expect(!Names.isPlain("é"))
        #expect(Names.isPlain(String(repeating: "a", count: 255)))
        #expect(!Names.isPlain(String(repeating: "a", count: 256)))
        #expect(Names.isIdentifier("a1_"))
        #expect(!Names.isIdentifier("1a"))
        #expect(!Names.isIdentifier("_a"))
        #expect(!Names.isIdentifier("a-b"))
        #expect(Names.isRecordType("cloudkit.share"))
        #expect(!Names.isRecordType("cloudkit.zone"))
        #expect(Names.isCustomZone("Notes"))
        #expect(!Names.isCustomZone("_defaultZone"))
        #expect(Names.isContainer("iCloud.com.example-1"))
        #expect(!Names.isContainer("a/b"))
    }

    @Test func `A login answers one server, one challenge, once`() throws {
        let key = try SigningKey(seed: secret(1))
        let signature = key.sign(Challenges.login(origin: "https://a", challenge: [1], time: 1))
        try key.verificationKey.verify(signature, over: Challenges.login(origin: "https://a", challenge: [1], time: 1))
        for other in [
            Challenges.login(origin: "https://b", challenge: [1], time: 1),
            Challenges.login(origin: "https://a", challenge: [2], time: 1),
            Challenges.login(origin: "https://a", challenge: [1], time: 2),
        ] {
            #expect(throws: SealError.invalidSignature) { try key.verificationKey.verify(signature, over: other) }
        }
    }
}
