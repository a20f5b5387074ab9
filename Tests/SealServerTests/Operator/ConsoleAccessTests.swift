import Foundation
import HTTPTypes
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The console's pages of who may manage and write, and of who is told.
@Suite(.timeLimit(.minutes(60))) struct ConsoleAccessTests {
    @Test("Whoever has the operator's token alone makes themselves a token that manages a container: refused.")
    func attack107_managingByTheConsole() async throws {
        try await RunningServer.with(hasOperator: true, hasConsole: true) { server in
            let browser = try await ConsoleBrowser.signedIn(server)
            let manager = try Management(server)
            let path = "/access/tokens/create"
            func make(_ token: String, _ more: [(String, String)] = []) async throws -> ConsoleBrowser.Answer {
                try await browser.submit(
                    "/access", to: path,
                    more + [("container", TestClient.container), ("name", "<b>ci"), ("management-token", token)])
            }
            for wrong in [
                "", "x", try OperatorClient(server).token, ManagementTokens.prefix + String(repeating: "A", count: 43),
            ] {
                #expect(try await make(wrong).status == 401)
            }
            #expect(try await !browser.get("/access").body.contains("&lt;b&gt;ci"))
            let made = try await make(manager.token, [("days", "30")])
            #expect(made.status == 200, "\(made.body)")
            #expect(!made.body.contains("<b>"))
            let secret = try #require(
                made.body.firstMatch(of: /<pre tabindex="0">(sealkit-management-[A-Za-z0-9_-]{43})<\/pre>/))
            var other = manager
            other.token = String(secret.1)
            _ = try await other.export()
            // A container's token makes no others.
            #expect(try await make(other.token).status == 403)
            for days in ["0", "x", "99999999"] {
                #expect(try await make(manager.token, [("days", days)]).status == 400)
            }
            let page = try await browser.get("/access").body
            #expect(page.contains("&lt;b&gt;ci") && page.contains("token-made") && !page.contains(other.token))
            let id = try #require(page.firstMatch(of: /name="id" value="([0-9a-f]{16})"/))
            #expect(
                try await browser.submit("/access", to: "/access/tokens/revoke", [("id", String(id.1))]).status == 303)
            await #expect(throws: Refusal.self) { _ = try await other.export() }
            let after = try await browser.get("/access").body
            #expect(after.contains("token-revoked") && after.contains("There is none but the operator"))
            AttackOutcome.refused("notAuthenticated")
        }
    }

    @Test func keysAreListedAndRevoked() async throws {
        try await RunningServer.with(
            webhookOrigins: ["https://hooks.example.org"],
            fallbackURLs: [TestClient.container: "https://example.org/?a=1&b=2"],
            webOrigins: ["https://app.example.org"],
            hasOperator: true, hasConsole: true
        ) { server in
            let anna = try await Person.ready(server)
            let client = try await ServerKeyClient.ready(by: anna)
            let browser = try await ConsoleBrowser.signedIn(server)
            let page = try await browser.get("/access?container=\(TestClient.container)").body
            for text in [
                client.user.recordName, "importer", "https://hooks.example.org", "https://app.example.org",
                "https://example.org/?a=1&amp;b=2", "server-key-made",
            ] { #expect(page.contains(text), "\(text)") }
            #expect(try await !browser.get("/access?container=org.example.other").body.contains(client.user.recordName))
            _ = try await client.save([PublicWrite("a")])
            for (user, status) in [("x", 404), (anna.user.recordName, 404), (client.user.recordName, 303)] {
                let answer = try await browser.submit("/access", to: "/access/keys/revoke", [("user", user)])
                // Its form is there as long as there is a key.
                #expect(answer.status == status, "\(user)")
            }
            await #expect(throws: Refusal.self) { _ = try await client.save([PublicWrite("b")]) }
            #expect(try await anna.serverKeys().isEmpty)
            #expect(try await browser.get("/access").body.contains("server-key-revoked"))
        }
    }

    @Test func subscriptionsSayWhereTheirWebhooksStand() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin], hasOperator: true, hasConsole: true) {
                server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                var subscription = Sealkit_V1_Subscription.query("<i>hook")
                subscription.webhook = receiver.origin + "/notes?key=canary"
                try await anna.subscribe(subscription)
                try await anna.subscribe(.database("every-change"))
                let browser = try await ConsoleBrowser.signedIn(server)
                let page = try await browser.get("/subscriptions").body
                for text in ["&lt;i&gt;hook", ">every-change<", receiver.origin, anna.user.recordName, "query of Note"]
                {
                    #expect(page.contains(text), "\(text)")
                }
                // The rest of a webhook's URL is its receiver's secret.
                #expect(!page.contains("canary") && !page.contains("<i>"))
                let only = try await browser.get("/subscriptions?webhooks=only").body
                #expect(only.contains("&lt;i&gt;hook") && !only.contains(">every-change<"))
                #expect(try await !browser.get("/subscriptions?container=org.example.other").body.contains("i&gt;hook"))
                #expect(try await browser.get("/subscriptions?after=zz").status == 400)

                let handle = try #require(page.firstMatch(of: /name="subscription" value="([0-9a-f]+)"/))
                let fields = [("subscription", String(handle.1))]
                let tested = try await browser.submit("/subscriptions", to: "/subscriptions/test", fields)
                #expect(tested.status == 200 && tested.body.contains("200, and took it"), "\(tested.body)")
                let delivery = try await receiver.delivery(1)
                #expect(try delivery.message.notifications.isEmpty && delivery.signature != nil)
                receiver.answer([.internalServerError, .internalServerError])
                #expect(
                    try await browser.submit("/subscriptions", to: "/subscriptions/test", fields).body
                        .contains("it answered with status 500."))
                // What failed is due at once by a form, and not after its time.
                _ = try await anna.save([Write("a")], in: zone)
                _ = try await receiver.delivery(3)
                try await waitUntil("it has failed") {
                    try await browser.get("/subscriptions").body.contains("failed 1 times")
                }
                #expect(try await browser.submit("/subscriptions", to: "/subscriptions/hurry", fields).status == 303)
                #expect(try await receiver.delivery(4).message.notifications.map(\.recordName) == ["a"])
                try await waitUntil("it was taken") {
                    try await browser.get("/subscriptions").body.contains("took all there was")
                }
                for wrong in ["", "zz", "00", "312f312f312f78"] {
                    for path in ["/subscriptions/test", "/subscriptions/hurry"] {
                        let answer = try await browser.submit("/subscriptions", to: path, [("subscription", wrong)])
                        #expect(answer.status == (wrong == "312f312f312f78" ? 404 : 400), "\(path) \(wrong)")
                    }
                }
            }
        }
    }
}
