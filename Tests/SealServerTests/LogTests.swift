import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import SealEnvelope
import SealKit
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Keeps every log line, at the lowest level.
final class LogCapture: Sendable {
    private let kept = Mutex<[String]>([])
    var lines: [String] { kept.withLock { $0 } }
    var logger: Logger { Logger(label: "sealkit") { _ in Handler(capture: self) } }

    private struct Handler: LogHandler {
        let capture: LogCapture
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            capture.kept.withLock { $0.append("\(event.level) \(event.message) \(all)") }
        }
    }
}

/// Every kind of request, right and wrong ones, with known secrets in it; then all log lines are searched for them.
@Suite(.timeLimit(.minutes(60))) struct LogTests {
    @Test func `At the level of trace no log line has a secret of any request in it`() async throws {
        let log = LogCapture()
        let secrets = Mutex<[String]>([])
        try await RunningServer.with(logger: log.logger) { server in
            let found = try await Self.drive(server)
            secrets.withLock { $0 = found }
        }
        let all = log.lines.joined(separator: "\n")
        // The log is at work: a line a request, failed ones among them.
        for part in [
            "/1/accounts/create", "records/modify", "/1/verification/complete", "401", "404", "request failed",
        ] {
            #expect(all.contains(part), "the log lacks \(part)")
        }
        let searched = secrets.withLock { $0 }
        #expect(searched.count > 30)
        for secret in searched {
            #expect(secret.utf8.count >= 6, "a log line has \(secret)")
            #expect(!all.contains(secret), "a log line has \(secret)")
        }
    }

    /// Half a request, and the connection ends.
    @Test func aClientThatGoesAwayIsNoFailureOfTheServer() async throws {
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger) { server in
            let port = try #require(URL(string: server.origin)?.port)
            for ending in ["half", ""] {
                let connection = try HTTPConnection(port: port)
                try connection.send(
                    Data(
                        "POST /1/accounts/challenge HTTP/1.1\r\nhost: server\r\ncontent-length: 100\r\n\r\n\(ending)"
                            .utf8))
                connection.endSending()
                _ = try? connection.receiveSome()
            }
            try await waitUntil("both are in the log") {
                log.lines.filter { $0.contains("/1/accounts/challenge") }.count >= 2
            }
        }
        let failures = log.lines.filter { $0.contains("request failed") }
        #expect(failures.isEmpty, "\(failures)")
        #expect(log.lines.filter { $0.contains("/1/accounts/challenge") }.allSatisfy { $0.contains("400") })
    }

    /// Bytes in the spellings that a log could use.
    private static func spelled(_ bytes: some Sequence<UInt8>) -> [String] {
        let bytes = [UInt8](bytes)
        return [
            Hex.encode(bytes), Base64URL.encode(bytes), Data(bytes).base64EncodedString(),
            bytes.prefix(8).map(String.init).joined(separator: ", "),
        ]
    }

    private static func recover(_ id: [UInt8], _ client: TestClient) async throws -> Sealkit_V1_RecoverResponse {
        let request = Sealkit_V1_RecoverRequest.with { $0.recoveryID = Data(id) }
        return try await client.call("/1/accounts/recover", request, as: Sealkit_V1_RecoverResponse.self)
    }

    static func drive(_ server: RunningServer) async throws -> [String] {
        var random = SystemRandom()
        var secrets: [String] = []

        // Accounts, sessions, recovery.
        let anna = try await Person.ready(server)
        var ben = try TestClient(server)
        let recoveryID = randomBytes(16)
        let bundle = Sealkit_V1_RecoveryBundle.with {
            $0.recoveryID = Data(recoveryID)
            $0.sealed = Data("canary-recovery-bundle".utf8)
        }
        ben.token = try await ben.create(recovery: bundle).token
        let login = try await ben.loginRequest()
        let second = try await ben.login(login).token
        secrets += [anna.client.token, ben.token, second, "canary-recovery-bundle"]
        secrets += spelled(recoveryID) + spelled(login.challenge) + spelled(login.signature)
        _ = try await refusal { try await ben.login(login) }
        _ = try await refusal { try await ben.me(token: "canary-bearer-that-is-no-good-0123456789012") }
        _ = try await refusal {
            try await ben.call("/1/nothing?token=canary-query", nil, as: Sealkit_V1_AccountResponse.self)
        }
        _ = try await refusal { try await recover(randomBytes(16), ben) }
        _ = try await recover(recoveryID, ben)
        _ = try await ben.register()

        // Codes, right and wrong, and the tokens that they give.
        let begun = try await ben.begin("canary-address@example.org")
        let code = try await server.mail.code(1)
        _ = try await refusal { try await ben.complete(begun.verificationID, "00000000") }
        let token = try await ben.complete(begun.verificationID, code)
        secrets += [code, token, "canary-address"] + spelled(begun.verificationID)
        secrets += spelled(try server.services.addresses.hash("canary-address@example.org"))

        // Zones, rosters with links and addresses, shares.
        var zone = try await anna.makeSharedZone("canary-zone-name")
        var invitation = try anna.invitation(to: nil, in: zone)
        invitation.link.keptSecret = Data("canary-kept-secret".utf8)
        invitation.link.preview = Data("canary-preview".utf8)
        try await anna.append(
            try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link],
            addresses: [(invitation.keys.id, "canary-invitee@example.org")])
        _ = try await refusal { try await anna.metadata(invitation.routingID) }
        _ = try await refusal { try await anna.accept(invitation, in: &zone, token: "canary-verification-token") }
        _ = try await anna.fetchRoster(zone)
        secrets += [
            "canary-kept-secret", "canary-preview", "canary-invitee", "canary-verification-token", "canary-zone-name",
        ]
        secrets += spelled(invitation.routingID)

        // Records and assets; a body that is none; a path with an id in it.
        var write = Write("canary-record-name")
        write.fields = [("plain", .plain(.string("canary-plain-value")))]
        let saved = try await anna.save([write, Write("other")], in: zone)
        _ = try await anna.codes([write], in: zone)
        _ = try await anna.lookup(["canary-record-name"], in: zone)
        _ = try await anna.changes(in: zone)
        secrets += ["canary-record-name", "canary-plain-value"] + spelled(saved[0].hash.bytes)
        let blob = Hex.encode(random.bytes(16))
        let assets = AssetTests()
        _ = try await assets.upload(
            anna, [UInt8]("canary-asset-bytes".utf8) + [UInt8](repeating: 0, count: 40), in: zone, id: blob)
        _ = try await assets.send(anna, .GET, blob, in: zone)
        _ = try await assets.send(anna, .GET, Hex.encode(random.bytes(16)), in: zone)
        secrets += ["canary-asset-bytes", blob]
        var malformed = HTTPClientRequest(url: server.origin + "/1/accounts/login")
        malformed.method = .POST
        malformed.headers.add(name: "Content-Type", value: "application/json")
        malformed.headers.add(name: "Cookie", value: "canary-cookie")
        malformed.body = .bytes(ByteBuffer(string: "{\"canary-malformed-body\":"))
        _ = try await HTTPClient.shared.execute(malformed, timeout: .seconds(300)).body.collect(upTo: 1 << 16)

        // Management: schemas, right and wrong, and tokens.
        let boss = try Management(server)
        _ = try await boss.importing("DEFINE SCHEMA RECORD TYPE CanaryType (canaryField STRING);")
        _ = try await refusal { try await boss.importing("DEFINE SCHEMA RECORD TYPE CanaryType (canaryField CANARY);") }
        let made = try await boss.client.call(
            "/1/management-tokens/create",
            Sealkit_V1_CreateManagementTokenRequest.with {
                ($0.container, $0.name) = ("org.canary", "canary-token-name")
            },
            as: Sealkit_V1_CreateManagementTokenResponse.self, token: boss.token)
        secrets += [
            boss.token, made.secret, made.token.id, "canary-token-name", "CanaryType", "canaryField", "org.canary",
        ]

        // An error that nobody expected: the database is gone.
        try await server.services.database.write(at: .everything) { try $0.execute("DROP TABLE recovery_bundle") }
        _ = try? await recover(recoveryID, ben)
        _ = try await ben.call("/1/accounts/logout", Sealkit_V1_ChallengeRequest(), as: Sealkit_V1_AccountResponse.self)
        return secrets + ["canary-bearer", "canary-query", "canary-cookie", "canary-malformed-body", "canary"]
    }
}
