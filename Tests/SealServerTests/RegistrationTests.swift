import Foundation
import SealPrimitives
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Who may make an account.
@Suite(.timeLimit(.minutes(60))) struct RegistrationTests {
    private func code(_ server: RunningServer, lifetime: UInt64) throws -> String {
        let made = try server.services.registrationCodes.make(.with { ($0.count, $0.lifetime) = (1, lifetime) })
        return try #require(made.first).code
    }

    /// Nothing was made.
    private func isEmpty(_ server: RunningServer) async throws -> Bool {
        try await server.services.database.read { connection in
            try !connection.exists("SELECT 1 FROM account") && !connection.exists("SELECT 1 FROM registration_code")
        }
    }

    @Test("Somebody makes accounts where only who was invited may: a code is good once, on its server, until it ends.")
    func attack89_accountsOfTheUninvited() async throws {
        try await RunningServer.with(registration: .invite) { server in
            let made = try code(server, lifetime: 86_400)
            let (anna, bert) = (try TestClient(server), try TestClient(server))
            try await expectRefusal(.permissionFailure) { try await anna.create() }
            for wrong in [
                "x", String(repeating: "0", count: made.count), made.uppercased() + "0",
                String(made.reversed()),
            ] {
                try await expectRefusal(.verificationFailed) { try await anna.create(registrationCode: wrong) }
            }
            // Every bit of it is covered.
            for index in [0, 15, 17, 25, 30, made.count - 1] {
                var digits = Array(made)
                digits[index] = digits[index] == "0" ? "1" : "0"
                let altered = String(digits)
                try await expectRefusal(.verificationFailed) { try await anna.create(registrationCode: altered) }
            }
            #expect(try await isEmpty(server))
            _ = try await anna.create(registrationCode: made)
            // An answer that was lost: the same key logs in, with the code or without.
            _ = try await anna.create(registrationCode: made)
            _ = try await anna.create()
            do {
                _ = try await bert.create(registrationCode: made)
                Issue.record("a code was good twice")
            } catch let refusal as Refusal {
                #expect(refusal.code == .verificationFailed)
                #expect(refusal.failure.reason.contains("used"))
            }
            // One that has ended, and one of another server.
            let short = try code(server, lifetime: 60)
            server.clock.advance(seconds: 61)
            do {
                _ = try await bert.create(registrationCode: short)
                Issue.record("a code was good after its end")
            } catch let refusal as Refusal {
                #expect(refusal.code == .verificationFailed)
                #expect(refusal.failure.reason.contains("expired"))
            }
            // Once expired, a used one need not be remembered for longer than a clock may be wrong.
            server.clock.advance(seconds: 9 * 86_400)
            _ = try await bert.create(registrationCode: try code(server, lifetime: 60))
            let kept = try await server.services.database.read { connection in
                try connection.first("SELECT COUNT(*) AS count FROM registration_code") { try $0.int64("count") }
            }
            #expect(kept == 1)
            try await expectRefusal(.verificationFailed) {
                try await TestClient(server).create(registrationCode: made)
            }
            AttackOutcome.refused("verificationFailed")
            let stored = try server.storedBytes()
            #expect(!stored.isEmpty)
            #expect(String(decoding: stored, as: UTF8.self).contains(made) == false)
        }
    }

    /// Whoever has made an account by a code, and never heard so, comes with the same way back and a new key.
    @Test func aWayBackThatIsThereIsToldBeforeAUsedCode() async throws {
        try await RunningServer.with(registration: .invite) { server in
            let made = try code(server, lifetime: 86_400)
            let bundle = Sealkit_V1_RecoveryBundle.with {
                $0.recoveryID = Data(repeating: 7, count: 16)
                $0.sealed = Data("sealed".utf8)
                $0.kind = 2
            }
            _ = try await TestClient(server).create(recovery: bundle, registrationCode: made)
            try await expectRefusal(.serverRejectedRequest) {
                try await TestClient(server).create(recovery: bundle, registrationCode: made)
            }
            // And uses no other code up.
            let other = try code(server, lifetime: 86_400)
            try await expectRefusal(.serverRejectedRequest) {
                try await TestClient(server).create(recovery: bundle, registrationCode: other)
            }
            _ = try await TestClient(server).create(registrationCode: other)
        }
    }

    @Test func aClockThatWasAheadGivesNoCodeASecondLife() async throws {
        try await RunningServer.with(registration: .invite) { server in
            let (week, month) = (try code(server, lifetime: 7 * 86_400), try code(server, lifetime: 30 * 86_400))
            _ = try await TestClient(server).create(registrationCode: week)
            server.clock.advance(seconds: 8 * 86_400)
            _ = try await TestClient(server).create(registrationCode: month)
            server.clock.advance(seconds: -8 * 86_400)
            try await expectRefusal(.verificationFailed) {
                try await TestClient(server).create(registrationCode: week)
            }
        }
    }

    @Test func aClosedServerMakesNone() async throws {
        let folder = TemporaryFolder()
        let anna = Mutex<TestClient?>(nil)
        try await RunningServer.with(folder: folder) { server in
            let client = try TestClient(server)
            _ = try await client.create()
            anna.withLock { $0 = client }
            let answer = try await client.call("/1/limits", nil, as: Sealkit_V1_LimitsResponse.self)
            #expect(answer.registration == "open")
        }
        try await RunningServer.with(folder: folder, registration: .closed) { server in
            for text in ["", try code(server, lifetime: 60)] {
                try await expectRefusal(.permissionFailure) {
                    try await TestClient(server).create(registrationCode: text)
                }
            }
            let answer = try await TestClient(server).call("/1/limits", nil, as: Sealkit_V1_LimitsResponse.self)
            #expect(answer.registration == "closed")
            let accounts = try await server.services.database.read { connection in
                try connection.first("SELECT COUNT(*) AS count FROM account") { try $0.int64("count") }
            }
            #expect(accounts == 1)
        }
    }

    @Test func codesAreMadeInBounds() async throws {
        try await RunningServer.with { server in
            let codes = server.services.registrationCodes
            for (count, lifetime) in [
                (0, 60), (UInt32(RegistrationCodes.mostAtOnce + 1), 60), (1, 0),
                (1, RegistrationCodes.longestLifetime + 1), (1, UInt64.max),
            ] {
                try await expectRefusalOfServer(.invalidArguments) {
                    try codes.make(.with { ($0.count, $0.lifetime) = (count, lifetime) })
                }
            }
            let some = try codes.make(.with { ($0.count, $0.lifetime) = (20, 60) })
            #expect(Set(some.map(\.code)).count == 20)
            #expect(Set(some.map(\.code.utf8.count)) == [58])
            let end: Int64 = (server.clock.now / 1_000_000 + 60) * 1_000_000
            #expect(Set(some.map(\.expires)) == [end])
        }
    }

    /// What the server's own code throws, without a request.
    private func expectRefusalOfServer(_ code: ErrorCode, _ body: () async throws -> some Any) async throws {
        do {
            _ = try await body()
            Issue.record("it was not refused")
        } catch let error as ServerError { #expect(error.code == code) }
    }

    @Test func theStartSaysWhoMayMakeAnAccountAndHowMuchEachStores() async throws {
        let log = LogCapture()
        var limits = ServerLimits()
        limits.storageQuota = 12_345_678
        try await RunningServer.with(logger: log.logger, serverLimits: limits, registration: .invite) { _ in }
        let line = log.lines.first { $0.contains("SealKit starts") }
        #expect(line?.contains("invite") == true)
        #expect(line?.contains("12345678") == true)
    }
}
