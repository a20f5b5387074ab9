import Foundation
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct VerificationTokenTests {
    static let routingID = [UInt8](repeating: 5, count: 16)

    @Test func keyIDsArePaserk() throws {
        // Computed with Python's hashlib: blake2b(b"k4.pid.k4.public." + base64url(key), digest_size=33).
        let key = try SigningKey(seed: SecretBytes(copying: [UInt8](repeating: 0, count: 32))).verificationKey
        #expect(KeyIdentifier.paserk(of: key) == "k4.pid.-lbghnXGkVc5a-41wFrJQPU6n6G4knLYRJNeltH1VaK-")
    }

    @Test func aTokenOpensOneSeatOnce() async throws {
        let folder = TemporaryFolder()
        try PrivateFiles.createFolder(at: folder.file("data.secrets"))
        let hash = try ServerSecrets(folder: folder.file("data.secrets")).addresses.hash("a@example.org")
        let seat = try ID16([UInt8](repeating: 8, count: 16))
        let seats = StubSeats(seats: [Self.routingID: (hash, seat)])
        try await RunningServer.with(seats: seats, folder: folder) { server in
            let alice = try await TestClient.ready(server)
            let other = try await TestClient.ready(server)
            @Sendable func token(_ address: String, routingID: [UInt8] = Self.routingID) async throws -> String {
                let count = server.mail.sent.count
                let begun = try await alice.begin(address, routingID: routingID)
                return try await alice.complete(begun.verificationID, server.mail.code(count + 1))
            }
            @Sendable func spend(
                _ token: String, container: String = TestClient.container, user: UserID? = nil,
                routingID: [UInt8] = Self.routingID, seat: ID16 = seat, hash: [UInt8] = hash
            ) async throws -> Bool {
                let (verifier, now, user) = (
                    server.services.tokenVerifier, server.clock.now, user ?? alice.chain.userID
                )
                do {
                    try await server.services.database.write(at: .everything) { connection in
                        try verifier.spend(
                            token, container: container, user: user, routingID: routingID, invitationID: seat,
                            addressHash: hash, now: now, in: connection)
                    }
                    return true
                } catch let error as ServerError where error.code == .verificationFailed {
                    return false
                }
            }
            let good = try await token("a@example.org")
            #expect(try await !spend(good, container: "org.example.other"))
            #expect(try await !spend(good, user: other.chain.userID))
            #expect(try await !spend(good, routingID: [UInt8](repeating: 6, count: 16)))
            #expect(try await !spend(good, seat: ID16([UInt8](repeating: 9, count: 16))))
            #expect(try await !spend(good, hash: [UInt8](repeating: 0, count: 32)))
            #expect(try await !spend(String(good.dropLast(3))))
            #expect(try await !spend(""))
            #expect(try await refusal { try await alice.me(token: good) } == .sessionExpired, "as a session")
            // A transaction that is taken back does not spend it.
            let (verifier, now, user) = (server.services.tokenVerifier, server.clock.now, alice.chain.userID)
            await #expect(throws: CancellationError.self) {
                try await server.services.database.write(at: .everything) { connection in
                    try verifier.spend(
                        good, container: TestClient.container, user: user, routingID: Self.routingID,
                        invitationID: seat,
                        addressHash: hash, now: now, in: connection)
                    throw CancellationError()
                }
            }
            #expect(try await spend(good))
            #expect(try await !spend(good), "the second time")

            // Signed by a key of somebody else's, under our key's name.
            let claims = TokenClaims(
                iss: server.origin, aud: TestClient.container, sub: alice.chain.userID.recordName,
                adr: Hex.encode(hash),
                shr: Base64URL.encode(Self.routingID), par: seat.hex, issued: now, jti: "x")
            let footer = try PasetoPublic.unverifiedFooter(good)
            #expect(try await !spend(PasetoPublic.sign(claims.encoded(), footer: footer, key: alice.signingKey)))
            let key = server.services.tokenIssuer.keys.newest.signingKey
            #expect(try await !spend(PasetoPublic.sign(claims.encoded(), footer: [], key: key)), "names no key")
            var foreign = claims
            foreign.iss = "https://elsewhere.example"
            #expect(try await !spend(PasetoPublic.sign(foreign.encoded(), footer: footer, key: key)))
            #expect(try await spend(PasetoPublic.sign(claims.encoded(), footer: footer, key: key)))

            // Invited elsewhere, or not at all: a token, but for no seat.
            for (address, routing) in [
                ("b@example.org", Self.routingID), ("a@example.org", []),
                ("a@example.org", [UInt8](repeating: 6, count: 16)),
            ] {
                #expect(try await !spend(token(address, routingID: routing)))
            }
            server.clock.advance(seconds: 900)
            let late = try await token("a@example.org")
            server.clock.advance(seconds: 900)
            #expect(try await !spend(late), "expired")
            // A clock that ran ahead and was set back gives none a second life.
            let ahead = try await token("a@example.org")
            #expect(try await spend(ahead))
            server.clock.advance(seconds: 901)
            #expect(try await spend(token("a@example.org")))
            server.clock.advance(seconds: -901)
            #expect(try await !spend(ahead))
        }
    }
}
