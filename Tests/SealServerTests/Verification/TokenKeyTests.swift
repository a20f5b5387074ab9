import Foundation
import SealLab
import SealPrimitives
import SealStatements
import SealSystem
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The keys of verification tokens: rotated under a running server, and tokens checked by somebody else's library.
@Suite(.timeLimit(.minutes(60))) struct TokenKeyTests {
    private func published(_ server: RunningServer) async throws -> [Sealkit_V1_TokenKey] {
        try await TestClient(server).call("/.well-known/sealkit/token-keys", nil, as: Sealkit_V1_TokenKeysResponse.self)
            .keys
    }

    private func kid(_ token: String) throws -> String {
        try TokenFooter(decoding: PasetoPublic.unverifiedFooter(token)).kid
    }

    private func token(_ client: TestClient, _ server: RunningServer, _ address: String) async throws -> String {
        let count = server.mail.sent.count
        let begun = try await client.begin(address)
        return try await client.complete(begun.verificationID, server.mail.code(count + 1))
    }

    @Test func aRunningServerTakesTheNewKeyAndKeepsTheOldOne() async throws {
        try await RunningServer.with { server in
            let rotation = try TokenKeyRotation(secretsFolder: server.folder.file("data.secrets"))
            let alice = try await TestClient.ready(server)
            let first = try await token(alice, server, "a@example.org")
            let (made, removed) = try rotation.rotate()
            #expect(removed.isEmpty)
            #expect(made.isCurrent)
            let second = try await token(alice, server, "b@example.org")
            let (old, new) = (try kid(first), try kid(second))
            #expect(old != new)
            #expect(new == made.id)
            let keys = try await published(server)
            #expect(keys.map(\.keyID) == [old, new], "both are published")
            // Both verify.
            let (verifier, now, user) = (server.services.tokenVerifier, server.clock.now, alice.chain.userID)
            let key = try #require(server.services.tokenIssuer.keys.key(old))
            let claims = TokenClaims(
                iss: server.origin, aud: TestClient.container, sub: user.recordName, adr: Hex.encode([1]),
                shr: Base64URL.encode([UInt8](repeating: 5, count: 16)),
                par: try ID16([UInt8](repeating: 8, count: 16)).hex, issued: now,
                jti: "one")
            func signed(_ jti: String, by key: TokenKeys.Key) throws -> String {
                var claims = claims
                claims.jti = jti
                return PasetoPublic.sign(
                    try claims.encoded(), footer: try TokenFooter(kid: key.id).encoded(), key: key.signingKey)
            }
            @Sendable func spend(_ token: String) async throws {
                try await server.services.database.write(at: .everything) { connection in
                    try verifier.spend(
                        token, container: TestClient.container, user: user, routingID: [UInt8](repeating: 5, count: 16),
                        invitationID: ID16([UInt8](repeating: 8, count: 16)), addressHash: [1], now: now, in: connection
                    )
                }
            }
            let (one, two, three) = (
                try signed("1", by: key), try signed("2", by: server.services.tokenIssuer.keys.newest),
                try signed("3", by: key)
            )
            try await spend(one)
            try await spend(two)
            // A key that somebody else may have is gone at once, and its tokens with it.
            try rotation.remove(id: old)
            await #expect(throws: ServerError.self) { try await spend(three) }
            #expect(try await published(server).map(\.keyID) == [new])
        }
    }

    @Test func oldKeysGoAfterTheOverlap() throws {
        let folder = TemporaryFolder()
        _ = try TokenKeys(secretsFolder: folder.file("s"), randomBytes: systemRandomBytes)
        let rotation = try TokenKeyRotation(secretsFolder: folder.file("s"))
        let first = try #require(try rotation.keys().last)
        let second = try rotation.rotate().made
        #expect(try rotation.rotate(now: second.made + TokenKeyRotation.overlap - 60).removed.isEmpty)
        let (made, removed) = try rotation.rotate(now: second.made + TokenKeyRotation.overlap + 60)
        // The one before the newest verifies still, however old it is: it signed until now.
        #expect(removed.first == first.id)
        #expect(!removed.contains(made.id))
        let left = try rotation.keys()
        #expect(left.last == made)
        #expect(left.count + removed.count == 4)
        #expect(left.count >= 2)
        #expect(throws: RotationError.isCurrent) { try rotation.remove(id: made.id) }
        #expect(throws: RotationError.unknownKey) { try rotation.remove(id: first.id) }
        #expect(throws: RotationError.self) { try TokenKeyRotation(secretsFolder: folder.file("elsewhere")) }
        // Keys are their owner's alone, and none is ever replaced.
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.file("s/token-keys")) {
            #expect(FileStatus(path: folder.file("s/token-keys/" + name))?.mode == 0o600, "\(name)")
        }
        #expect(throws: FileError.self) {
            try SecretFile.create(at: folder.file("s/token-keys/000004.key"), randomBytes: systemRandomBytes)
        }
    }

    @Test func filesThatCannotBeUsedChangeNothing() async throws {
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger) { server in
            let alice = try await TestClient.ready(server)
            let before = try kid(try await token(alice, server, "a@example.org"))
            let folder = server.folder.file("data.secrets/token-keys/")
            try Data(count: 31).write(to: URL(fileURLWithPath: folder + "000002.key"))
            #expect(chmod(folder + "000002.key", 0o600) == 0)
            #expect(try kid(try await token(alice, server, "b@example.org")) == before)
            try Data(count: 32).write(to: URL(fileURLWithPath: folder + "000002.key"))
            #expect(chmod(folder + "000002.key", 0o644) == 0)
            #expect(try await published(server).map(\.keyID) == [before], "others can read it")
            for name in ["2.key", "000003.key.new", "00000a.key", "notes"] {
                try Data(count: 32).write(to: URL(fileURLWithPath: folder + name))
            }
            try FileManager.default.removeItem(atPath: folder + "000002.key")
            #expect(try kid(try await token(alice, server, "c@example.org")) == before)
        }
        let isSaid = log.lines.contains { $0.contains("signing keys could not be read") }
        #expect(isSaid)
    }

    /// Another key cannot be read: the one that was taken away signs and verifies no more all the same.
    @Test func aKeyThatWasTakenAwayIsGoneWhateverElseCannotBeRead() throws {
        let folder = TemporaryFolder()
        let keys = try TokenKeys(secretsFolder: folder.file("s"), randomBytes: systemRandomBytes)
        let first = keys.newest.id
        let rotation = try TokenKeyRotation(secretsFolder: folder.file("s"))
        let second = try rotation.rotate().made.id
        #expect(keys.all.map(\.id) == [first, second])
        let third = folder.file("s/token-keys/000003.key")
        try Data(count: 32).write(to: URL(fileURLWithPath: third))
        #expect(chmod(third, 0o644) == 0)
        #expect(unlink(folder.file("s/token-keys/000001.key")) == 0)
        #expect(keys.all.map(\.id) == [second])
        #expect(keys.newest.id == second)
        #expect(keys.key(first) == nil)
        #expect(unlink(folder.file("s/token-keys/000002.key")) == 0)
        #expect(keys.all.isEmpty)
        #expect(keys.key(second) == nil)
        #expect(chmod(third, 0o600) == 0)
        #expect(keys.all.count == 1)
        #expect(keys.newest.id != second)
    }

    /// Beside other servers a new key signs once it may have been copied to all of them; until then it verifies.
    @Test func aNewKeyHasTimeToBeCopied() throws {
        let folder = TemporaryFolder()
        let keys = try TokenKeys(secretsFolder: folder.file("s"), randomBytes: systemRandomBytes)
        let clock = SteppingClock()
        let peers = Peers(heardUntil: .max, clock: clock.read)
        peers.note([peers.own, 7], heardUntil: .max)
        let first = keys.newest.id
        let now = systemClock()
        // There is no other one.
        #expect(keys.signing(beside: peers, now: now).id == first)
        let later = now + 120_000_000
        let second = try TokenKeyRotation(secretsFolder: folder.file("s")).rotate().made.id
        let made = systemClock()
        #expect(utimensat(AT_FDCWD, folder.file("s/token-keys/000001.key"), Self.times(made - 90_000_000), 0) == 0)
        #expect(keys.all.map(\.id) == [first, second])
        #expect(keys.signing(beside: peers, now: made).id == first)
        #expect(keys.signing(beside: peers, now: later).id == second)
        #expect(keys.signing(beside: .none(), now: made).id == second)
    }

    private static func times(_ microseconds: Int64) -> [timespec] {
        let time = timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: 0)
        return [time, time]
    }

    /// `sudo sealkit admin token-keys rotate`, for a server that is not root.
    @Test(.enabled(if: geteuid() == 0)) func aKeyThatRootMakesIsTheServers() throws {
        let folder = TemporaryFolder()
        _ = try TokenKeys(secretsFolder: folder.file("s"), randomBytes: systemRandomBytes)
        #expect(chown(folder.file("s/token-keys"), 65_534, 65_533) == 0)
        _ = try TokenKeyRotation(secretsFolder: folder.file("s")).rotate()
        let owner = try #require(FileStatus(path: folder.file("s/token-keys/000002.key"))?.owner)
        #expect(owner.user == 65_534)
        #expect(owner.group == 65_533)
    }

    /// pyseto, which has no code of ours: see `Tests/Support/verifier`.
    private static let python = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/verifier/bin/python")

    @Test func anOutsideLibraryChecksTheTokens() async throws {
        try await RunningServer.with { server in
            let rotation = try TokenKeyRotation(secretsFolder: server.folder.file("data.secrets"))
            let alice = try await TestClient.ready(server)
            let first = try await token(alice, server, "a@example.org")
            _ = try rotation.rotate()
            let second = try await token(alice, server, "b@example.org")
            let parts = first.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            var message = try Base64URL.decode(parts[2])
            message[10] ^= 1
            let other = try PasetoPublic.unverifiedFooter(second)
            let tokens = [
                first, second,
                // Refused: another version or purpose, an altered claim, no footer, another key's name.
                "v3" + first.dropFirst(2), "v4.local." + parts[2] + "." + parts[3],
                ["v4", "public", Base64URL.encode(message), parts[3]].joined(separator: "."),
                parts.prefix(3).joined(separator: "."),
                ["v4", "public", parts[2], Base64URL.encode(other)].joined(separator: "."),
            ]
            let keys = Dictionary(
                uniqueKeysWithValues: try await published(server).map { ($0.keyID, Hex.encode([UInt8]($0.publicKey))) })
            let request = try JSONSerialization.data(withJSONObject: ["keys": keys, "tokens": tokens])
            let file = server.folder.file("tokens.json")
            try request.write(to: URL(fileURLWithPath: file))
            let script = Self.python.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Tests/Support/check-tokens.py")
            let run = try await Command.finished(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", "exec \"$0\" -B \"$1\" <\"$2\"", Self.python.path, script.path, file])
            #expect(run.status == 0, "\(run.errors)")
            let answers = try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [Any])
            let claims = answers.map { ($0 as? [String: String]) ?? [:] }
            #expect(claims.count == tokens.count)
            for (address, claims) in zip(["a@example.org", "b@example.org"], claims) {
                #expect(claims["iss"] == server.origin)
                #expect(claims["sub"] == alice.chain.userID.recordName)
                #expect(claims["adr"] == Hex.encode(try server.services.addresses.hash(address)))
            }
            #expect(claims[0]["jti"] != claims[1]["jti"])
            let othersSayNothing = claims.dropFirst(2).allSatisfy(\.isEmpty)
            #expect(othersSayNothing)
        }
    }
}
