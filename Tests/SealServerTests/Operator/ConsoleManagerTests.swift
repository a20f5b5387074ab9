import Foundation
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The console for whoever manages one container, and the forms that change a schema.
@Suite(.timeLimit(.minutes(60))) struct ConsoleManagerTests {
    private static let other = "org.example.other"

    /// - Parameter lifetime: in seconds; 0 for as long as it is not revoked.
    private static func made(
        _ server: RunningServer, container: String = TestClient.container, lifetime: UInt64 = 0
    ) async throws -> Sealkit_V1_CreateManagementTokenResponse {
        let services = server.services
        let tokens = ContainerTokens(
            transactions: services.transactions, clock: services.clock, randomBytes: services.randomBytes)
        return try await tokens.create(
            .with { ($0.container, $0.name, $0.lifetime) = (container, "desk", lifetime) })
    }

    private static func importing(_ text: String, to container: String, _ manager: Management) async throws {
        _ = try await manager.call(
            "import", .development, Sealkit_V1_ImportSchemaRequest.with { $0.schema = text },
            as: Sealkit_V1_ChangeSchemaResponse.self, container: container)
    }

    @Test(
        "Whoever has a container's management token looks at others, or does what is the operator's, by the console: refused."
    )
    func attack109_otherContainers() async throws {
        try await RunningServer.with(
            fallbackURLs: [Self.other: "https://canary.example.org"], hasOperator: true, hasTelemetry: true,
            hasConsole: true
        ) { server in
            let anna = try await Person.ready(server)
            _ = try await anna.makeZone()
            _ = try await ServerKeyClient.ready(by: anna)
            let account = try await anna.client.me().account
            try await Self.importing("DEFINE SCHEMA RECORD TYPE Canary ();", to: Self.other, try Management(server))
            try await Self.importing(
                "DEFINE SCHEMA RECORD TYPE Own ();", to: TestClient.container, try Management(server))
            let recorder = try #require(server.services.telemetry.recorder)
            recorder.note(
                .event(.sharing, "canary", in: TelemetryPlace(container: Self.other, environment: "production")),
                count: 1)
            let operators = try await ConsoleBrowser.signedIn(server)
            let token = try await Self.made(server)
            let browser = try await ConsoleBrowser.signedIn(server, with: token.secret)

            // What is the operator's, and what is another container's.
            let all =
                ConsolePage.places.map(\.path) + [
                    "/logs.csv", "/logs.json", "/events.csv", "/schema.ckdb", "/data.csv?type=Note",
                    "/data/record?name=a",
                ]
            for page in all {
                let path = String(page.prefix { $0 != "?" })
                let isManaged = ConsolePage.managed.contains(path)
                let own = try await browser.get(page)
                let allowed = path.hasPrefix("/data") ? [200, 404] : [200]
                #expect(isManaged ? allowed.contains(own.status) : own.status == 403, "\(page): \(own.status)")
                for word in ["canary", "Canary", Self.other] { #expect(!own.body.contains(word), "\(page): \(word)") }
                if isManaged { #expect(!own.body.contains(account), "\(page)") }
                let mark = page.contains("?") ? "&" : "?"
                for query in ["container=\(Self.other)", "container=\(TestClient.container)&container=\(Self.other)"] {
                    let answer = try await browser.get(page + mark + query)
                    #expect(answer.status == 403, "\(page)\(mark)\(query)")
                    #expect(!answer.body.contains("Canary"), "\(page)")
                }
            }
            for path in ["/alerts", "/accounts", "/server"] { #expect(all.contains(path), "\(path)") }
            for query in ["/data?key=desk", "/events?account=\(account)"] {
                #expect(try await browser.get(query).status == 403, "\(query)")
            }
            // Forms: those of the operator's pages, another container's, and none of this session's.
            let menu = try await browser.get("/").body
            for page in ["/alerts", "/accounts", "/server"] { #expect(!menu.contains("href=\"\(page)\""), "\(page)") }
            let foreign = try #require(
                ConsoleBrowser.token(of: "/accounts/suspend", in: try await operators.get("/accounts").body))
            for path in ["/accounts/suspend", "/access/tokens/revoke", "/access/keys/revoke", "/server/rotate"] {
                for formToken in ["", foreign] {
                    let answer = try await browser.send(
                        "POST", path, [("account", account), ("id", token.token.id), ("token", formToken)])
                    #expect(answer.status == 403, "\(path)")
                }
            }
            let boss = try OperatorClient(server)
            #expect(try await boss.accounts(suspendedOnly: true).accounts.isEmpty)
            for path in ["/schema/deploy", "/schema/reset", "/schema/import", "/schema/edit"] {
                let answer = try await browser.submit(
                    "/schema", to: path,
                    [
                        ("container", Self.other), ("confirmation", Self.other), ("schema", "DEFINE SCHEMA"),
                        ("what", "role"), ("role", "Mine"), ("shown", "0"),
                    ])
                #expect(answer.status == 403, "\(path): \(answer.body)")
            }
            let schemas = server.services.schemas
            let kept = try await server.services.database.read {
                try schemas.schema(Self.other, .development, in: $0).schema
            }
            #expect(kept.types["Canary"] != nil && kept.roles.isEmpty)
            // Neither of the operator's tokens of management, nor what is none, signs in.
            for wrong in [
                try Management(server).token, ManagementTokens.prefix + String(repeating: "A", count: 43),
                ManagementTokens.prefix,
            ] {
                let answer = try await ConsoleBrowser(origin: server.console).send(
                    "POST", "/sign-in", [("operator-token", wrong)])
                #expect([401, 403].contains(answer.status) && answer.headers["set-cookie"] == nil)
            }
            AttackOutcome.refused("permissionFailure")
        }
    }

    /// Whoever manages two containers, or two who compare theirs, learn of nobody that they are in both.
    @Test func nobodyIsFoundAgainInAnotherContainersLog() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let recorder = try #require(server.services.telemetry.recorder)
            var users: [Set<String>] = []
            for container in [TestClient.container, Self.other] {
                let key = TelemetryCountingTests.key(container: container)
                for _ in 0..<2 { recorder.note(TelemetryCountingTests.request(key, account: 7)) }
                server.clock.advance(seconds: 1)
                let token = try await Self.made(server, container: container)
                let browser = try await ConsoleBrowser.signedIn(server, with: token.secret)
                let log = try await browser.get("/logs.json").body
                users.append(Set(log.matches(of: #/"user":\s*"([0-9a-f]{8})"/#).map { String($0.1) }))
            }
            // One account has one there.
            #expect(users.map(\.count) == [1, 1])
            #expect(users[0].isDisjoint(with: users[1]))
        }
    }

    @Test func aSessionEndsWithItsToken() async throws {
        try await RunningServer.with(hasOperator: true, hasConsole: true) { server in
            let (short, long) = (try await Self.made(server, lifetime: 600), try await Self.made(server))
            let first = try await ConsoleBrowser.signedIn(server, with: short.secret)
            let second = try await ConsoleBrowser.signedIn(server, with: long.secret)
            let form = try #require(ConsoleBrowser.token(of: "/schema/edit", in: try await first.get("/schema").body))
            #expect(try await first.get("/schema").status == 200)
            server.clock.advance(seconds: 601)
            for page in ["/", "/schema", "/accounts"] {
                let answer = try await first.get(page)
                #expect(answer.status == 303 && answer.headers["location"] == "/sign-in", "\(page)")
            }
            let late = [("what", "role"), ("role", "Late"), ("shown", "0"), ("token", form)]
            #expect(try await first.send("POST", "/schema/edit", late).status == 401)
            #expect(try await server.schema().schema.roles.isEmpty)
            #expect(try await second.get("/schema").status == 200)
            let operators = try await ConsoleBrowser.signedIn(server)
            #expect(
                try await operators.submit("/access", to: "/access/tokens/revoke", [("id", long.token.id)]).status
                    == 303)
            #expect(try await second.get("/schema").status == 303)
            let again = try await ConsoleBrowser(origin: server.console).send(
                "POST", "/sign-in", [("operator-token", long.secret)])
            #expect(again.status == 401)
        }
    }

    /// No longer than twelve hours, also where it was begun while the clock was ahead.
    @Test func aSessionEndsWhenTheClockGoesBack() throws {
        let clock = TestClock()
        let sessions = ConsoleSessions(
            randomBytes: { count in (0..<count).map { _ in UInt8.random(in: 0...255) } }, clock: { clock.now })
        let (first, second) = (sessions.begin(), sessions.begin())
        clock.advance(seconds: -30)
        #expect(sessions.find(first) != nil)
        clock.advance(seconds: -3_600)
        #expect(sessions.find(first) == nil)
        clock.advance(seconds: 3_630)
        #expect(sessions.find(first) == nil && sessions.find(second) != nil)
    }

    @Test func formsChangeDevelopmentByTheRulesOfAnImport() async throws {
        try await RunningServer.with(hasOperator: true, hasConsole: true) { server in
            let manager = try Management(server)
            let browser = try await ConsoleBrowser.signedIn(server, with: try await Self.made(server).secret)
            let page = "/schema"
            func shown() async throws -> String { try await browser.shownVersion(of: page) }
            func edit(_ fields: [(String, String)], status: Int = 303) async throws {
                let answer = try await browser.submit(
                    page, to: "/schema/edit", fields + [("shown", try await shown())])
                #expect(answer.status == status, "\(fields): \(answer.body)")
            }
            let title = [("what", "field"), ("type", "Note"), ("field", "title"), ("kind", "STRING")]
            try await edit(title + [("queryable", "yes"), ("searchable", "yes")])
            try await edit(
                [
                    ("what", "field"), ("type", "Note"), ("field", "secret"), ("kind", "LIST<BYTES>"),
                    ("encrypted", "yes"),
                ])
            try await edit([("what", "role"), ("role", "Editor")])
            var schema = try await server.schema().schema
            #expect(
                schema.types["Note"]?.fields["title"] == .init(ValueType(.string), indexes: [.queryable, .searchable]))
            #expect(schema.types["Note"]?.fields["secret"] == .init(ValueType(.data, isList: true), isEncrypted: true))
            #expect(schema.roles == ["Editor"])
            // What the language or the rules refuse.
            let refused: [[(String, String)]] = [
                [("what", "field"), ("type", "No te"), ("field", "a"), ("kind", "STRING")],
                [("what", "field"), ("type", ""), ("field", ""), ("kind", "STRING")],
                [("what", "field"), ("type", "Note"), ("field", "a"), ("kind", "STRONG")],
                [("what", "field"), ("type", "Note"), ("field", "b"), ("kind", "ASSET"), ("sortable", "yes")],
                [
                    ("what", "field"), ("type", "Note"), ("field", "c"), ("kind", "STRING"), ("encrypted", "yes"),
                    ("queryable", "yes"),
                ],
                [("what", "role"), ("role", "x\" GRANT")], [("what", "remove"), ("part", "cloudkit.share")],
                [("what", "remove"), ("part", "Users")], [("what", "remove"), ("part", "role Nobody")], [("what", "x")],
            ]
            for fields in refused { try await edit(fields, status: 400) }
            // A field that is there keeps its kind; what it is searched by changes.
            for other in [
                [("kind", "INT64")], [("kind", "LIST<STRING>")], [("kind", "STRING"), ("encrypted", "yes")],
            ] {
                try await edit([("what", "field"), ("type", "Note"), ("field", "title")] + other, status: 400)
            }
            #expect(try await server.schema().schema == schema)

            // What was deployed stays.
            try await manager.deploy()
            try await edit([("what", "remove"), ("part", "Note.title")], status: 400)
            try await edit([("what", "field"), ("type", "Note"), ("field", "extra"), ("kind", "DATE")], status: 400)
            try await edit([("what", "field"), ("type", "Note"), ("field", "extra"), ("kind", "TIMESTAMP")])
            try await edit([("what", "field"), ("type", "Draft"), ("field", "a"), ("kind", "INT64")])
            try await edit([("what", "remove"), ("part", "Note.extra")])
            try await edit([("what", "remove"), ("part", "Draft")])
            #expect(try await server.schema().schema == schema)

            // As a file, and back; looked at first.
            let file = try await browser.get("/schema.ckdb?environment=production")
            #expect(
                file.headers["content-disposition"]
                    == "attachment; filename=\"\(TestClient.container)-production.ckdb\"")
            #expect(try await file.body == manager.export(.production))
            let larger = file.body + "\n    RECORD TYPE Place (\n        name STRING QUERYABLE\n    );\n"
            let version = try await shown()
            let fields = [("schema", larger.replacing("\n", with: "\r\n")), ("shown", version)]
            let seen = try await browser.submit(page, to: "/schema/import", fields + [("do", "preview")])
            #expect(seen.status == 200 && seen.body.contains("Nothing was changed yet."), "\(seen.body)")
            #expect(seen.body.contains("role=\"status\"") && seen.body.contains("RECORD TYPE Place ("))
            #expect(try await server.schema().schema == schema)
            #expect(try await browser.submit(page, to: "/schema/import", fields + [("do", "import")]).status == 303)
            #expect(try await server.schema().schema.types["Place"]?.fields["name"]?.indexes == .queryable)
            // A page that was loaded before shows what is not there any more.
            #expect(try await browser.submit(page, to: "/schema/import", fields + [("do", "import")]).status == 409)
            for stale in [version, "", "x", "-1"] {
                let answer = try await browser.submit(
                    page, to: "/schema/edit", [("what", "role"), ("role", "Late"), ("shown", stale)])
                #expect(answer.status == 409, "\(stale)")
            }
            let wrong = [("schema", "DEFINE NOTHING"), ("shown", try await shown()), ("do", "import")]
            let answer = try await browser.submit(page, to: "/schema/import", wrong)
            #expect(answer.status == 400 && answer.body.contains("The schema is wrong at line 1"), "\(answer.body)")

            // Back to production's, by the container's name.
            let name = TestClient.container
            func confirm(_ path: String, _ word: String, shown: String? = nil) async throws -> Int {
                let version = if let shown { shown } else { try await browser.shownVersion(of: page) }
                return try await browser.submit(page, to: path, [("confirmation", word), ("shown", version)]).status
            }
            #expect(try await confirm("/schema/reset", "no") == 400)
            // What a colleague has imported since the page was loaded nobody has seen.
            #expect(try await confirm("/schema/reset", name, shown: version) == 409)
            #expect(try await server.schema().schema.types["Place"] != nil)
            #expect(try await confirm("/schema/reset", name) == 303)
            schema = try await server.schema(.production).schema
            #expect(try await server.schema().schema == schema)
            let history = try await browser.get(page).body
            for word in ["schema-imported", "schema-deployed", "schema-reset"] {
                #expect(history.contains(word), "\(word)")
            }
            try await edit([("what", "role"), ("role", "Later")])
            #expect(try await confirm("/schema/deploy", "no") == 400)
            // Nor does anything go to production that the page did not show.
            let seenVersion = try await shown()
            try await edit([("what", "role"), ("role", "Latest")])
            for stale in [seenVersion, ""] {
                #expect(try await confirm("/schema/deploy", name, shown: stale) == 409, "\(stale)")
            }
            #expect(try await server.schema(.production).schema.roles == ["Editor"])
            #expect(try await confirm("/schema/deploy", name) == 303)
            #expect(try await server.schema(.production).schema.roles == ["Editor", "Later", "Latest"])
        }
    }

    @Test func anotherKeyOfTokensIsMade() async throws {
        try await RunningServer.with(hasOperator: true, hasConsole: true) { server in
            let browser = try await ConsoleBrowser.signedIn(server)
            let rotation = try TokenKeyRotation(secretsFolder: server.folder.file("data.secrets"))
            let before = try rotation.keys().map(\.id)
            #expect(try await browser.submit("/server", to: "/server/rotate").status == 303)
            let after = try rotation.keys()
            #expect(after.count == before.count + 1 && after.last?.isCurrent == true)
            #expect(after.dropLast().map(\.id) == before)
            let newest = try #require(after.last).id
            try await waitUntil("the server has found it") { try await browser.get("/server").body.contains(newest) }
        }
    }
}
