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
    private func codes(_ server: RunningServer) throws -> RegistrationCodes {
        try RegistrationCodes(secretsFolder: server.folder.file("data.secrets"))
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
            let now = Date(timeIntervalSince1970: TimeInterval(server.clock.now) / 1_000_000)
            let made = try codes(server).make(lifetime: 86_400, now: now)
            let (anna, bert) = (try TestClient(server), try TestClient(server))
            try await expectRefusal(.permissionFailure) { try await anna.create() }
            for wrong in [
                "x", String(repeating: "0", count: made.code.count), made.code.uppercased() + "0",
                String(made.code.reversed()),
            ] {
                try await expectRefusal(.verificationFailed) { try await anna.create(registrationCode: wrong) }
            }
            // Every bit of it is covered.
            for index in [0, 15, 17, 25, 30, made.code.count - 1] {
                var digits = Array(made.code)
                digits[index] = digits[index] == "0" ? "1" : "0"
                let altered = String(digits)
                try await expectRefusal(.verificationFailed) { try await anna.create(registrationCode: altered) }
            }
            #expect(try await isEmpty(server))
            _ = try await anna.create(registrationCode: made.code)
            // An answer that was lost: the same key logs in, with the code or without.
            _ = try await anna.create(registrationCode: made.code)
            _ = try await anna.create()
            do {
                _ = try await bert.create(registrationCode: made.code)
                Issue.record("a code was good twice")
            } catch let refusal as Refusal {
                #expect(refusal.code == .verificationFailed)
                #expect(refusal.failure.reason.contains("used"))
            }
            // One that has ended, and one of another server.
            let short = try codes(server).make(lifetime: 60, now: now)
            server.clock.advance(seconds: 61)
            do {
                _ = try await bert.create(registrationCode: short.code)
                Issue.record("a code was good after its end")
            } catch let refusal as Refusal {
                #expect(refusal.code == .verificationFailed)
                #expect(refusal.failure.reason.contains("expired"))
            }
            // Once expired, a used one need not be remembered.
            server.clock.advance(seconds: 2 * 86_400)
            let later = Date(timeIntervalSince1970: TimeInterval(server.clock.now) / 1_000_000)
            _ = try await bert.create(registrationCode: try codes(server).make(lifetime: 60, now: later).code)
            let kept = try await server.services.database.read { connection in
                try connection.first("SELECT COUNT(*) AS count FROM registration_code") { try $0.int64("count") }
            }
            #expect(kept == 1)
            try await expectRefusal(.verificationFailed) {
                try await TestClient(server).create(registrationCode: made.code)
            }
            AttackOutcome.refused("verificationFailed")
            let stored = try server.storedBytes()
            #expect(!stored.isEmpty)
            #expect(String(decoding: stored, as: UTF8.self).contains(made.code) == false)
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
            let code = try codes(server).make(
                lifetime: 60, now: Date(timeIntervalSince1970: TimeInterval(server.clock.now) / 1_000_000))
            for text in ["", code.code] {
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

    @Test func codesComeFromTheServersFolderOnly() throws {
        let folder = TemporaryFolder()
        #expect(throws: RegistrationCodesError.noServer(path: folder.file("none/registration.key"))) {
            try RegistrationCodes(secretsFolder: folder.file("none"))
        }
        try FileManager.default.createDirectory(atPath: folder.file("s"), withIntermediateDirectories: true)
        try SecretFile.create(at: folder.file("s/registration.key"), randomBytes: randomBytes)
        let codes = try RegistrationCodes(secretsFolder: folder.file("s"))
        for lifetime in [0, -1, RegistrationCodes.longestLifetime + 1] {
            #expect(throws: RegistrationCodesError.invalidLifetime) { try codes.make(lifetime: lifetime) }
        }
        let some = try (0..<20).map { _ in try codes.make(lifetime: 60).code }
        #expect(Set(some).count == 20)
        #expect(some.allSatisfy { $0.utf8.count == 58 })
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
