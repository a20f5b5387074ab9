import Foundation
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What happened to accounts, schemas, tokens and keys, as the operator is told.
@Suite(.timeLimit(.minutes(60))) struct EventTests {
    private static let schema = "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE);"

    private static func kinds(_ answer: Sealkit_V1_ListEventsResponse) -> [String] { answer.events.map(\.kind) }

    /// Of a server whose clock is ahead, or of this one before its clock was set right.
    @Test func whatIsOfATimeToComeIsListed() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let boss = try OperatorClient(server)
            let later = server.clock.now + 3_600_000_000
            try await server.services.transactions.write(at: .everything) { connection in
                try ManagementEvents.note(
                    ManagementEvent(.schemaReset, container: "org.example"), now: later, in: connection)
            }
            #expect(try await boss.events().events.map(\.time) == [later])
        }
    }

    @Test func everythingThatIsManagedIsAnEvent() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let anna = try await Person.ready(server)
            let (boss, manager) = (try OperatorClient(server), try Management(server))
            let account = try await anna.client.me().account
            try await boss.setQuota(account, .bytes(12_345))
            try await boss.suspend(account, reason: "why <b>")
            try await boss.unsuspend(account)
            // Undone already: nothing has happened.
            try await boss.unsuspend(account)
            let back = try await Person.ready(server)
            try await manager.importing(Self.schema)
            // Nor by what changes nothing, or is only asked about.
            try await manager.importing(Self.schema)
            _ = try await manager.deploy(dryRun: true)
            try await manager.deploy()
            _ = try await manager.reset()
            let token = try await manager.client.call(
                "/1/management-tokens/create",
                Sealkit_V1_CreateManagementTokenRequest.with {
                    ($0.container, $0.name) = (TestClient.container, "CI <script>")
                }, as: Sealkit_V1_CreateManagementTokenResponse.self, token: manager.token)
            _ = try await manager.client.call(
                "/1/management-tokens/revoke",
                Sealkit_V1_RevokeManagementTokenRequest.with { $0.id = token.token.id },
                as: Sealkit_V1_RevokeManagementTokenResponse.self, token: manager.token)
            let key = try await ServerKeyClient.ready(by: back)
            _ = try await back.revokeServerKey(key.user)
            let answer = try await boss.events()
            #expect(
                Self.kinds(answer) == [
                    "server-key-revoked", "server-key-made", "token-revoked", "token-made", "schema-deployed",
                    "schema-imported", "account-made", "account-unsuspended", "account-suspended", "quota-set",
                    "account-made",
                ])
            #expect(answer.cursor.isEmpty)
            let byKind = Dictionary(answer.events.map { ($0.kind, $0) }, uniquingKeysWith: { _, last in last })
            #expect(byKind["quota-set"]?.detail == "12345 bytes")
            #expect(byKind["quota-set"]?.account == account)
            #expect(byKind["account-suspended"]?.detail == "why <b>")
            #expect(byKind["account-made"]?.account == account)
            #expect(byKind["token-made"]?.detail == "\(token.token.id) CI <script>")
            #expect(byKind["token-made"]?.container == TestClient.container)
            #expect(byKind["schema-deployed"]?.environment == "production")
            #expect(byKind["schema-deployed"]?.detail.contains("Note") == true)
            // Nothing of a token but its name and id.
            #expect(!(try answer.jsonString()).contains(token.secret))
            let times = Set(answer.events.map(\.time))
            #expect(times == [server.clock.now])
            // By kind, container, account and time.
            let made = try await boss.events { $0.kinds = ["token-made", "account-made"] }
            #expect(Self.kinds(made) == ["token-made", "account-made", "account-made"])
            let now = server.clock.now
            let choices: [((inout Sealkit_V1_ListEventsRequest) -> Void, Int)] = [
                ({ $0.container = TestClient.container }, 6), ({ $0.container = "none" }, 0),
                ({ $0.account = account }, 4), ({ $0.until = now }, 0), ({ $0.from = now }, 11),
            ]
            for (index, (choice, count)) in choices.enumerated() {
                let found = try await boss.events(choice).events.count
                #expect(found == count, "\(index)")
            }
            var (found, cursor) = ([Sealkit_V1_ManagementEvent](), Data())
            repeat {
                let page = try await boss.events { ($0.limit, $0.cursor) = (4, cursor) }
                found += page.events
                cursor = page.cursor
            } while !cursor.isEmpty
            #expect(found == answer.events)
        }
    }

    @Test func whatIsAskedForHasToBeThere() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let boss = try OperatorClient(server)
            let changes: [(inout Sealkit_V1_ListEventsRequest) -> Void] = [
                { $0.from = -1 }, { ($0.from, $0.until) = (2, 2) }, { $0.kinds = ["none"] }, { $0.kinds = ["' OR 1"] },
                { $0.cursor = Data([1]) }, { $0.cursor = Data(count: 8) }, { $0.account = "ab" },
            ]
            for (index, change) in changes.enumerated() {
                try await expectRefusal(.invalidArguments, "\(index)") { try await boss.events(change) }
            }
            try await expectRefusal(.unknownItem) { try await boss.events { $0.account = "abcdef" } }
        }
    }

    @Test func whatIsOldOrTooMuchGoesAndNobodyPushesTheOperatorsOut() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let now = server.clock.now
            let many = ManagementEvents.mostOfAnybody
            try await server.services.database.write(at: .everything) { connection in
                try ManagementEvents.note(.init(.tokenMade, container: "a"), now: now - 1, in: connection)
                try connection.execute(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
                    INSERT INTO management_event (time, kind, detail) SELECT $2, 'account-made', '' FROM n
                    """, [.integer(many + 150), .integer(now)])
            }
            try await server.services.jobs.run(.sweep)
            #expect(try await server.rows(in: ["management_event"])["management_event"] == many + 1)
            try await server.services.jobs.run(.sweep, now: now + ManagementEvents.keptFor)
            let left = try await OperatorClient(server).events { $0.limit = 1 }
            #expect(left.events.map(\.time) == [now])
            #expect(try await server.rows(in: ["management_event"])["management_event"] == many)
        }
    }

    @Test func longWordsAreCutBetweenLetters() {
        let text = String(repeating: "é🙂", count: 400)
        let event = ManagementEvent(.schemaImported, detail: text)
        #expect(event.detail.utf8.count <= 1_024)
        #expect(event.detail.utf8.count > 1_000)
        #expect(event.detail.hasSuffix("…"))
        #expect(text.hasPrefix(event.detail.dropLast()))
        #expect(ManagementEvent(.schemaImported, detail: "short").detail == "short")
    }
}
