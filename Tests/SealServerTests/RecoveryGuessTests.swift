import Foundation
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// The routes by which somebody could find out whether a passphrase's bundle is there.
@Suite(.timeLimit(.minutes(60))) struct RecoveryGuessTests {
    private static func bundle(_ id: UInt8, _ kind: UInt32, _ sealed: String = "sealed") -> Sealkit_V1_RecoveryBundle {
        .with {
            $0.recoveryID = Data(repeating: id, count: 16)
            $0.sealed = Data(sealed.utf8)
            $0.kind = kind
        }
    }

    private static func recover(_ id: UInt8, by client: TestClient) async throws -> String {
        let request = Sealkit_V1_RecoverRequest.with { $0.recoveryID = Data(repeating: id, count: 16) }
        return String(
            decoding: try await client.call("/1/accounts/recover", request, as: Sealkit_V1_RecoverResponse.self).sealed,
            as: UTF8.self)
    }

    private static func save(_ bundle: Sealkit_V1_RecoveryBundle, by client: TestClient) async throws {
        _ = try await client.call("/1/accounts/recovery", bundle, as: Sealkit_V1_AccountResponse.self)
    }

    private static func rotate(_ client: TestClient, _ recovery: [Sealkit_V1_RecoveryBundle]) async throws {
        var new = try TestClient(client.server)
        new.forwardedFor = client.forwardedFor
        let signed = Challenges.loginRotation(origin: client.server.origin, newKey: new.loginKey.verificationKey)
        let login = try await new.loginRequest()
        let request = Sealkit_V1_RotateKeysRequest.with {
            $0.login = login
            $0.formerLoginKey = Data(client.loginKey.verificationKey.bytes)
            $0.formerSignature = Data(client.loginKey.sign(signed))
            $0.recovery = recovery
        }
        _ = try await new.call("/1/accounts/rotate", request, as: Sealkit_V1_SessionResponse.self, token: "")
    }

    private func withServer(_ body: @Sendable (RunningServer) async throws -> Void) async throws {
        var limits = AbuseLimits()
        limits.recovery = RateLimiter.Rule(count: 3, window: 60_000_000)
        try await RunningServer.with(limits: limits, behindProxy: true, body)
    }

    private func client(_ server: RunningServer, at address: String, hasAccount: Bool = true) async throws -> TestClient
    {
        var client = try TestClient(server)
        client.forwardedFor = address
        if hasAccount { client.token = try await client.create().token }
        return client
    }

    @Test func savingUnderAGuessedIdCountsAsAskingForIt() async throws {
        try await withServer { server in
            let victim = try await client(server, at: "198.51.100.1")
            try await Self.save(Self.bundle(1, 2), by: victim)
            // By address, whatever the account and the route.
            var ways: [(String, @Sendable (TestClient) async throws -> Void)] = [
                ("saving", { try await Self.save(Self.bundle(1, 2), by: $0) }),
                ("new keys", { try await Self.rotate($0, [Self.bundle(1, 2)]) }),
                ("asking", { _ = try await Self.recover(1, by: $0) }),
            ]
            ways.append(
                (
                    "a new account",
                    { person in
                        var new = try TestClient(person.server)
                        new.forwardedFor = person.forwardedFor
                        _ = try await new.create(recovery: Self.bundle(1, 2))
                    }
                ))
            for (index, (what, guess)) in ways.enumerated() {
                let address = "203.0.113.\(index)"
                for number in 0..<4 {
                    let thief = try await client(server, at: address)
                    let found = try await refusal { try await guess(thief) }
                    let told: ErrorCode? =
                        switch what {
                        case "asking": nil
                        case "new keys": .constraintViolation
                        default: .serverRejectedRequest
                        }
                    let expected = number == 3 ? .requestRateLimited : told
                    #expect(found == expected, "\(what), \(number)")
                }
                let next = try await client(server, at: address)
                try await expectRefusal(.requestRateLimited, "\(what): one bucket") {
                    try await Self.recover(1, by: next)
                }
            }
            #expect(try await Self.recover(1, by: victim) == "sealed")
        }
    }

    @Test func oneAccountGuessesNoMoreFromManyAddresses() async throws {
        try await withServer { server in
            var thief = try await client(server, at: "203.0.113.1")
            for number in 0..<4 {
                thief.forwardedFor = "203.0.113.\(number)"
                let sent = thief
                let found = try await refusal { try await Self.save(Self.bundle(UInt8(number), 2), by: sent) }
                #expect(found == (number == 3 ? .requestRateLimited : nil))
            }
            let sent = thief
            try await expectRefusal(.requestRateLimited) { try await Self.rotate(sent, [Self.bundle(9, 2)]) }
        }
    }

    @Test func bundlesOfPrintedKeysTellNothingOfPassphrases() async throws {
        try await withServer { server in
            let victim = try await client(server, at: "198.51.100.1")
            try await Self.save(Self.bundle(1, 2, "mine"), by: victim)
            for number in UInt8(0)..<5 {
                // As if nobody had the id, and not counted: many people make accounts behind one address.
                let thief = try await client(server, at: "203.0.113.1", hasAccount: false)
                _ = try await thief.create(recovery: Self.bundle(1 + number, 1, "planted"))
                try await Self.rotate(thief, [Self.bundle(100 + number, 1)])
            }
            let thief = try await client(server, at: "203.0.113.1")
            try await Self.save(Self.bundle(1, 1, "planted"), by: thief)
            #expect(try await Self.recover(1, by: victim) == "mine")
            // A passkey's bundle is no better than a printed key's.
            let planter = try await client(server, at: "203.0.113.3")
            try await Self.save(Self.bundle(1, 3, "planted"), by: planter)
            #expect(try await Self.recover(1, by: victim) == "mine")
            // Within its kind an id is one account's.
            let other = try await client(server, at: "203.0.113.2")
            try await expectRefusal(.serverRejectedRequest) { try await Self.save(Self.bundle(1, 1), by: other) }
        }
    }
}
