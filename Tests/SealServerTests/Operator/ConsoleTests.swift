import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealLab
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The console: who gets in, what others have a browser send, and that words of others show as such.
@Suite(.timeLimit(.minutes(60))) struct ConsoleTests {
    private static let pages = ConsolePage.places.map(\.path)
    private static let files = ["/logs.csv", "/logs.json", "/events.csv"]

    @Test func onlyWhoHasTheTokenGetsIn() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let stranger = ConsoleBrowser(origin: server.console)
            for page in Self.pages + Self.files {
                let answer = try await stranger.get(page)
                #expect(answer.status == 303, "\(page)")
                #expect(answer.headers["location"] == "/sign-in", "\(page)")
                #expect(answer.body.isEmpty, "\(page)")
            }
            #expect(try await stranger.get("/sign-in").status == 200)
            for token in ["", "x", "sealkit-operator-" + String(repeating: "A", count: 43)] {
                let answer = try await stranger.send("POST", "/sign-in", [("operator-token", token)])
                #expect(answer.status == 401)
                #expect(answer.headers["set-cookie"] == nil)
            }
            var forged = stranger
            for cookie in ["", "x", String(repeating: "A", count: 43)] {
                forged.cookie = "\(ConsoleSessions.cookie)=\(cookie)"
                #expect(try await forged.get("/").status == 303)
            }
            let browser = try await ConsoleBrowser.signedIn(server)
            for page in Self.pages + Self.files + ["/schema?container=org.example.notes", "/none"] {
                let answer = try await browser.get(page)
                #expect(answer.status == (page == "/none" ? 404 : 200), "\(page): \(answer.body)")
                // Nothing but what is served here runs, loads, frames or is kept.
                let policy = answer.headers["content-security-policy"] ?? ""
                for rule in [
                    "default-src 'none'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'",
                    "base-uri 'none'",
                ] { #expect(policy.contains(rule), "\(page)") }
                #expect(!policy.contains("unsafe") && !policy.contains("script"), "\(page)")
                #expect(answer.headers["x-content-type-options"] == "nosniff", "\(page)")
                #expect(answer.headers["x-frame-options"] == "DENY", "\(page)")
                #expect(answer.headers["cache-control"] == "no-store", "\(page)")
                #expect(!answer.body.contains("<script"), "\(page)")
                #expect(!answer.body.contains("style=\""), "\(page)")
            }
            // The listeners of clients and of commands have none of it, and this one nothing of theirs.
            for origin in [server.origin, server.operatorListener] {
                let browser = ConsoleBrowser(origin: origin)
                #expect(try await browser.get("/sign-in").status == 404)
            }
            let routes = Endpoints.operatorFamily.routes.map(\.template) + ["/health"]
            for path in routes { #expect(try await browser.get(path).status == 404, "\(path)") }
            // Twelve hours, or until it is ended.
            server.clock.advance(seconds: 12 * 3_600 + 1)
            #expect(try await browser.get("/").status == 303)
            let again = try await ConsoleBrowser.signedIn(server)
            #expect(try await again.submit("/", to: "/sign-out").status == 303)
            #expect(try await again.get("/").status == 303)
        }
    }

    @Test("A page of somebody else has an operator's browser send the console's forms: refused, and nothing is done.")
    func attack101_formsOfOthers() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let anna = try await Person.ready(server)
            let account = try await anna.client.me().account
            let browser = try await ConsoleBrowser.signedIn(server)
            let other = try await ConsoleBrowser.signedIn(server)
            let path = "/accounts/suspend"
            let fields = [("account", account)]
            let own = try #require(ConsoleBrowser.token(of: path, in: try await browser.get("/accounts").body))
            let foreign = try #require(ConsoleBrowser.token(of: path, in: try await other.get("/accounts").body))
            let page = try await browser.get("/accounts").body
            let elsewhere = try #require(ConsoleBrowser.token(of: "/accounts/quota", in: page))
            #expect(Set([own, foreign, elsewhere]).count == 3)
            for token in ["", "x", foreign, elsewhere, own.uppercased()] {
                #expect(try await browser.send("POST", path, fields + [("token", token)]).status == 403)
            }
            for origin in ["https://evil.example", "null", server.origin, server.console + ".evil.example"] {
                let answer = try await browser.send(
                    "POST", path, fields + [("token", own)], headers: ["Origin": origin])
                #expect(answer.status == 403, "\(origin)")
            }
            // A name that is made to lead to this machine.
            for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example"] {
                for page in ["/", "/sign-in"] {
                    #expect(
                        try await browser.send("GET", page, headers: ["Host": host]).status == 403, "\(host)\(page)")
                }
            }
            #expect(try await browser.send("GET", path, fields).status == 404)
            var signedOut = browser
            signedOut.cookie = ""
            #expect(try await signedOut.send("POST", path, fields + [("token", own)]).status == 401)
            let large = fields + [("token", own), ("reason", String(repeating: "x", count: 20_000))]
            #expect(try await browser.send("POST", path, large).status == 413)
            let boss = try OperatorClient(server)
            #expect(try await boss.accounts(suspendedOnly: true).accounts.isEmpty)
            #expect(try await browser.submit("/accounts", to: path, fields).status == 303)
            #expect(try await boss.accounts(suspendedOnly: true).accounts.count == 1)
            AttackOutcome.held("a token for each form and session, and the origin")
        }
    }

    @Test("Somebody names zones, keys, groups or reasons with markup, for the operator's browser: it shows as text.")
    func attack102_markupInNames() async throws {
        let hostile = "</td><script>alert(1)</script><img src=x onerror='a'>\"'&"
        try await RunningServer.with(hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone("<script>zone\"'&")
            _ = try await anna.save([Write("a")], in: zone)
            var request = HTTPClientRequest(url: server.origin + "/1/accounts/usage")
            request.headers.add(name: "Authorization", value: "Bearer \(anna.client.token)")
            request.headers.add(
                name: "sealkit-operation-group-name",
                value: "<script>group</script>".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
            _ = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status
            let manager = try Management(server)
            try await manager.importing("DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE);")
            let boss = try OperatorClient(server)
            let account = try await anna.client.me().account
            try await boss.suspend(account, reason: hostile)
            _ = try await boss.call(
                Endpoints.monitoring.addAlert,
                .with {
                    $0.rule = .with { rule in
                        (rule.name, rule.measure, rule.value, rule.minutes) = ("<b>\"'&", "failures", 1, 1)
                        rule.mail = ["canary@example.org"]
                        rule.filters = [.with { ($0.dimension, $0.word) = ("group", "<i>") }]
                    }
                })
            _ = try await boss.call(
                Endpoints.monitoring.saveLogQuery, .with { ($0.query.name, $0.query.query.text) = ("<u>\"", hostile) })
            let browser = try await ConsoleBrowser.signedIn(server)
            let query = FormFields.query([("text", hostile), ("group", hostile), ("container", hostile)])
            var seen = ""
            for page in Self.pages + [
                "/logs?\(query)", "/telemetry?\(query)", "/telemetry?by=group",
                "/events?account=\(account)&container=%3Cb%3E",
                "/accounts?find=%22%3E%3Cb%3E", "/schema?container=\(TestClient.container)", "/logs?outcome=%3Cb%3E",
                "/schema?container=%3Cb%3E", "/logs?after=%3Cb%3E",
            ] {
                let html = try await browser.get(page).body
                seen += html
                for markup in ["<script", "<img", "<b>", "<i>", "<u>", "onerror='", "\"><"] where markup != "\"><" {
                    #expect(!html.contains(markup), "\(page): \(markup)")
                }
            }
            for text in [
                "&lt;script&gt;zone&quot;&#39;&amp;", "&lt;script&gt;group&lt;/script&gt;", "&lt;b&gt;&quot;&#39;&amp;",
                "&lt;/td&gt;&lt;script&gt;alert(1)", "&lt;u&gt;&quot;",
            ] { #expect(seen.contains(text), "\(text)") }
            AttackOutcome.held("whatever is put into a page is escaped")
        }
    }

    @Test func formsDoWhatTheCommandsDo() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let anna = try await Person.ready(server)
            _ = try await anna.makeZone("notes")
            let account = try await anna.client.me().account
            let (boss, manager) = (try OperatorClient(server), try Management(server))
            let browser = try await ConsoleBrowser.signedIn(server)
            func submit(_ page: String, _ path: String, _ fields: [(String, String)], status: Int = 303) async throws {
                let answer = try await browser.submit(page, to: path, fields)
                #expect(answer.status == status, "\(path): \(answer.body)")
            }
            try await submit("/accounts", "/accounts/quota", [("account", account), ("quota", "123456")])
            #expect(try await boss.accounts().accounts.first?.bytesLimit == 123_456)
            try await submit("/accounts", "/accounts/quota", [("account", account), ("quota", "ten")], status: 400)
            try await submit("/accounts", "/accounts/quota", [("account", account), ("quota", "default")])
            #expect(try await boss.accounts().accounts.first?.hasOwnLimit_p == false)
            try await submit("/accounts", "/accounts/suspend", [("account", account), ("reason", "why")])
            try await submit("/accounts", "/accounts/unsuspend", [("account", account)])
            #expect(try await boss.accounts(suspendedOnly: true).accounts.isEmpty)

            let rule = [
                ("name", "errors"), ("measure", "failures"), ("side", "above-average"), ("threshold", "2.5"),
                ("minutes", "3"), ("least", ""), ("mail", "a@example.org"), ("webhook", ""), ("code", "zoneNotFound"),
            ]
            // A preview tells nobody, and keeps nothing but what was typed.
            let seen = try await browser.submit("/alerts", to: "/alerts/add", rule + [("do", "preview")])
            #expect(seen.status == 200 && seen.body.contains("errors is not watched yet."), "\(seen.body)")
            #expect(seen.body.contains("<figcaption>failures, a minute, by hours</figcaption>"))
            #expect(seen.body.contains("name=\"threshold\" type=\"text\" value=\"2.5\""))
            #expect(server.mail.sent.isEmpty)
            #expect(try await boss.call(Endpoints.monitoring.alerts, .init()).alerts.isEmpty)
            try await submit("/alerts", "/alerts/add", rule)
            try await submit("/alerts", "/alerts/add", rule.map { $0.0 == "threshold" ? ($0.0, "x") : $0 }, status: 400)
            let added = try await boss.call(Endpoints.monitoring.alerts, .init()).alerts
            #expect(added.map(\.rule.name) == ["errors"])
            #expect(added.first?.rule.threshold == .factor(2.5))
            #expect(added.first?.rule.filters.map(\.word) == ["zoneNotFound"])
            try await submit("/alerts", "/alerts/test", [("name", "errors")], status: 200)
            #expect(server.mail.sent.map(\.recipient) == ["a@example.org"])
            try await submit("/alerts", "/alerts/remove", [("name", "errors")])
            #expect(try await boss.call(Endpoints.monitoring.alerts, .init()).alerts.isEmpty)

            try await submit(
                "/logs", "/logs/save", [("name", "mine"), ("outcome", "failed"), ("slower", "20"), ("hours", "1")])
            let kept = try await boss.call(Endpoints.monitoring.logQueries, .init()).queries
            #expect(kept.map(\.name) == ["mine"])
            #expect(kept.first?.query.microseconds == 20_000 && kept.first?.query.last == 3_600)
            let page = try await browser.get("/logs").body
            #expect(page.contains("/logs?hours=1&amp;outcome=failed&amp;slower=20"))
            try await submit("/logs", "/logs/forget", [("name", "mine")])
            // A time that is none of the form's is kept as it was.
            for (name, time, link) in [
                (
                    "days",
                    {
                        $0.from = 1_000_000; $0.until = 2_000_000
                    }, "/logs?from=1000000&amp;until=2000000\""
                ),
                ("minutes", { $0.last = 5_400 }, "/logs?last=5400\""),
                // More hours than the form takes, and a part of a millisecond.
                ("years", { $0.last = 86_400_000 }, "/logs?last=86400000\""),
                (
                    "quick",
                    {
                        $0.last = 5_400; $0.microseconds = 500
                    }, "/logs?last=5400&amp;slower=0.5\""
                ),
            ] as [(String, (inout Sealkit_V1_LogRequest) -> Void, String)] {
                _ = try await boss.call(
                    Endpoints.monitoring.saveLogQuery,
                    .with {
                        $0.query.name = name
                        time(&$0.query.query)
                    })
                #expect(try await browser.get("/logs").body.contains(link))
                let path = link.replacing("&amp;", with: "&").dropLast()
                #expect(try await browser.get(String(path)).body.contains("as kept"))
                let again = String(path.dropFirst("/logs?".count)).split(separator: "&").map { field in
                    let parts = field.split(separator: "=").map(String.init)
                    return (parts[0], parts[1])
                }
                let former = try await boss.call(Endpoints.monitoring.logQueries, .init()).queries
                try await submit("/logs", "/logs/save", again + [("name", name)])
                #expect(try await boss.call(Endpoints.monitoring.logQueries, .init()).queries == former)
            }
            // With an end alone it is of the day before that, as at the command line.
            try await submit("/logs", "/logs/save", [("name", "end"), ("until", "2000000")])
            let ending = try await boss.call(Endpoints.monitoring.logQueries, .init()).queries
                .first { $0.name == "end" }
            #expect(ending?.query.until == 2_000_000 && ending?.query.last == 86_400)
            for path in ["/logs?hours=x", "/logs?last=x", "/telemetry?hours=0", "/telemetry?by=x"] {
                #expect(try await browser.get(path).status == 400, "\(path)")
            }
            let table = try await browser.get("/logs.csv?hours=1&operation=accounts%2Fcreate")
            #expect(table.headers["content-disposition"] == "attachment; filename=\"sealkit-logs.csv\"")
            #expect(table.body.hasPrefix("time,operation,container"))
            #expect(table.body.split(separator: "\r\n").count == 2)

            try await manager.importing("DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE);")
            let schema = "/schema?container=\(TestClient.container)"
            #expect(try await browser.get(schema).body.contains("Deploy to production"))
            try await submit(
                schema, "/schema/deploy", [("container", TestClient.container), ("confirmation", "no")], status: 400)
            #expect(!(try await manager.export(.production)).contains("Note"))
            try await submit(
                schema, "/schema/deploy",
                [
                    ("container", TestClient.container), ("confirmation", TestClient.container),
                    ("shown", try await browser.shownVersion(of: schema)),
                ])
            #expect(try await manager.export(.production).contains("Note"))
            #expect(try await browser.get(schema).body.contains("schema-deployed"))
            #expect(try await browser.get("/zones").body.contains("<th scope=\"row\">notes</th>"))
            #expect(try await browser.get("/").body.contains("<svg"))
        }
    }

    @Test(
        "A stranger announces a body of more bytes than there are, and an operator looks at the console: sums stay right."
    )
    func attack108_bytesThatAreOnlyAnnounced() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let port = try #require(URL(string: server.origin)?.port)
            for _ in 0..<2 {
                let connection = try HTTPConnection(port: port)
                try connection.send(
                    Data("POST /nowhere HTTP/1.1\r\nhost: server\r\ncontent-length: \(Int64.max)\r\n\r\nhalf".utf8))
                connection.endSending()
                _ = try? connection.receiveSome()
            }
            let boss = try OperatorClient(server)
            try await waitUntil("both are counted") { try await boss.telemetry().all.total.count == 2 }
            #expect(try await boss.telemetry().all.total.bytesIn <= 8)
            let browser = try await ConsoleBrowser.signedIn(server)
            for page in ["/", "/telemetry"] { #expect(try await browser.get(page).status == 200) }
        }
        #expect(Console.bytes(Double(UInt64.max)) == "16384.0 PiB")
        #expect(Console.whole(Double(UInt64.max)) == "18446744073709551616")
        AttackOutcome.held("what came is counted, not what was announced")
    }

    @Test func filesHaveWhatPagesHave() async throws {
        try await RunningServer.with(hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let anna = try await Person.ready(server)
            let group = String(repeating: "0f", count: 16)
            var request = HTTPClientRequest(url: server.origin + anna.path("records/lookup"))
            request.method = .POST
            request.headers.add(name: "Authorization", value: "Bearer \(anna.client.token)")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "sealkit-operation-group", value: "\(group) 0 0 0")
            request.body = .bytes(ByteBuffer(string: "{\"zone\":{\"zoneName\":\"nowhere\"},\"recordNames\":[\"a\"]}"))
            #expect(try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status == .notFound)
            let browser = try await ConsoleBrowser.signedIn(server)
            let query = "?hours=1&code=zoneNotFound"
            let json = try await browser.get("/logs.json" + query)
            #expect(json.headers["content-disposition"] == "attachment; filename=\"sealkit-logs.json\"")
            let entries = try Sealkit_V1_LogResponse(jsonString: json.body).entries
            #expect(entries.map(\.groupID) == [group])
            let id = try #require(entries.first?.request)
            #expect(!id.isEmpty)
            for path in ["/logs", "/logs.csv"] {
                let body = try await browser.get(path + query).body
                #expect(body.contains(id) && body.contains(group), "\(path): \(body)")
            }
            #expect(try await browser.get("/logs?request=\(id)").body.contains("<code>\(id)</code>"))

            let account = try await anna.client.me().account
            for path in ["/events?", "/events?hours=1&", "/events.csv?hours=1&"] {
                #expect(try await browser.get(path + "kind=account-made").body.contains(account), "\(path)")
            }
            server.clock.advance(seconds: 7_200)
            for (hours, isThere) in [("", true), ("1", false), ("3", true)] {
                for path in ["/events", "/events.csv"] {
                    let body = try await browser.get("\(path)?kind=account-made&hours=\(hours)").body
                    #expect(body.contains(account) == isThere, "\(path), \(hours)")
                }
            }
            let table = try await browser.get("/events.csv")
            #expect(table.body.hasPrefix("time,event,container,environment,account,detail\r\n"))
            #expect(try await browser.get("/events?hours=x").status == 400)

            let page = try await browser.get("/server").body
            for keys in [server.services.tokenIssuer.keys, server.services.webhookKeys] {
                #expect(page.contains("<code>\(keys.newest.id)</code>"))
            }
            #expect(page.contains("<td>signs</td>"))
        }
    }

    @Test func fieldsAreReadAsBrowsersWriteThem() throws {
        let fields = try FormFields("a=1+2&b=%C3%A9%26&a=3&c&mail=x%40y%0D%0Az%40y")
        #expect(fields["a"] == "1 2")
        #expect(fields["b"] == "é&")
        #expect(fields["c"] == "" && fields["none"] == "")
        #expect(fields.all("mail") == ["x@y", "z@y"])
        #expect(FormFields.query([("a b", "é&"), ("empty", "")]) == "a%20b=%C3%A9%26")
        for text in ["a=%", "a=%4", "a=%zz", "%ff=1"] {
            #expect(throws: ServerError.self) { try FormFields(text[...]) }
        }
    }
}
