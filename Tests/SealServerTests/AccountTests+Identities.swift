import Foundation
import NIOCore
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

extension AccountTests {
    @Test func identities() async throws {
        try await RunningServer.with { server in
            let client = try await TestClient.ready(server)
            #expect(try await client.register() == client.chain.userID.recordName)
            #expect(try await client.me().identities == ["org.example.notes/" + client.chain.userID.recordName])

            let other = try TestClient(server)
            #expect(
                try await refusal { try await client.register(chain: other.chain.wire, signer: other.signingKey) }
                    == .serverRejectedRequest)
            let thief = try await TestClient.ready(server)
            #expect(
                try await refusal { try await thief.register(chain: client.chain.wire, signer: thief.signingKey) }
                    == .integrityFailure)
            #expect(
                try await refusal { try await thief.register(chain: client.chain.wire, signer: client.signingKey) }
                    == .serverRejectedRequest)
            #expect(try await refusal { try await client.register(boundKey: other.loginKey) } == .integrityFailure)
            #expect(
                try await refusal { try await client.register(container: "org.example.other") } == .integrityFailure)
            #expect(try await refusal { try await client.register(container: "a b") } == .badContainer)
            #expect(
                try await refusal { try await client.register(chain: Sealkit_V1_IdentityChain()) } == .integrityFailure)
            var altered = client.chain.wire
            altered.identities[0].signature[3] ^= 1
            #expect(try await refusal { try await client.register(chain: altered) } == .integrityFailure)
            altered.identities[0].statement = Data([1])
            #expect(try await refusal { try await client.register(chain: altered) } == .invalidArguments)
            var loggedOut = client
            loggedOut.token = ""
            #expect(try await refusal { try await loggedOut.register() } == .notAuthenticated)
        }
    }

    @Test func aNextGenerationTakesTheOldOnesPlace() async throws {
        try await RunningServer.with { server in
            let client = try await TestClient.ready(server)
            func next() throws -> (SigningKey, IdentityChain) {
                let key = try TestClient.newKey()
                let previous = Hash.digest(.identityHash, client.chain.signed[0].bytes)
                let bytes = Identity(
                    container: TestClient.container, generation: 1, signingKey: key.verificationKey,
                    grantKey: client.chain.current.grantKey, time: 2, previous: previous
                ).canonicalBytes()
                let message = Identity.signedBytes(bytes)
                let link = SignedIdentity(
                    bytes: bytes, signature: key.sign(message), previousSignature: client.signingKey.sign(message))
                return (
                    key, try IdentityChain(verifying: client.chain.signed + [link], container: TestClient.container)
                )
            }
            let (key, chain) = try next()
            try await expectRefusal(.integrityFailure, "bound by the old key") {
                try await client.register(chain: chain.wire)
            }
            #expect(try await client.register(chain: chain.wire, signer: key) == client.chain.userID.recordName)
            let stored = try await server.services.database.read {
                try Identities.find(user: client.chain.userID, container: TestClient.container, in: $0)?.chain
            }
            #expect(stored == chain)
            try await expectRefusal(.serverRejectedRequest, "shorter") { try await client.register() }
            let (forkKey, fork) = try next()
            try await expectRefusal(.serverRejectedRequest) {
                try await client.register(chain: fork.wire, signer: forkKey)
            }
        }
    }
}
