import Foundation
import Hummingbird
import Testing

@testable import SealServer
@testable import SealWire

/// The table of endpoints itself, and that the server serves it.
@Suite(.timeLimit(.minutes(60))) struct EndpointTableTests {
    @Test func noRouteIsTwiceInTheTable() {
        let names = Endpoints.all.map(\.name)
        #expect(Set(names).count == names.count)
        let paths = Endpoints.all.map { "\($0.method.rawValue) \($0.template)" }
        #expect(Set(paths).count == paths.count)
    }

    /// Names are labels of metrics and ids of operations: nothing that would need an escape.
    @Test func namesAreShort() {
        for route in Endpoints.all {
            #expect(route.name.utf8.count <= 32, "\(route.name)")
            #expect(route.name.allSatisfy { $0.isASCII && ($0.isLowercase || "-/".contains($0)) }, "\(route.name)")
        }
    }

    @Test func everyRouteIsFoundAndCalledByItsName() {
        var table = RouteTable()
        for route in Endpoints.all {
            table.add(route.method.http, route.template, name: route.name) { _, _ in Response(status: .ok) }
        }
        for route in Endpoints.all {
            let match = table.find(route.template)
            #expect(match?.template == route.template)
            #expect(match?.methods[route.method.http]?.name == route.name)
        }
        #expect(table.find("/NotFound") == nil)
    }

    @Test func whatIsCountedWithTheRequestAlone() {
        let known: Set<String> = [
            "health", "limits", "token-keys", "webhook-keys", "share-page", "share-page/head", "web-file",
            "accounts/challenge", "accounts/create", "accounts/login", "accounts/rotate", "accounts/delete",
            "accounts/recover", "accounts/logout",
            "accounts/recovery/delete", "devices/revoke",
            "devices/enrol/open", "devices/enrol/state",
            "schema/export", "schema/import", "schema/deploy", "schema/reset", "schema/roles/assign",
            "schema/roles/revoke",
            "schema/roles/list", "management-tokens/create", "management-tokens/list", "management-tokens/revoke",
        ]
        #expect(Set(Endpoints.all.filter { $0.rate == .request }.map(\.name)) == known)
    }

    /// What takes more than the request though it needs no session: the transport page names each.
    @Test func whatIsOpenAndCountedBesideTheRequest() throws {
        let counted = Endpoints.all.filter { $0.callers.contains(.anyone) && $0.rate != .request }
        let words = [
            "share/newcomer": "`share/newcomer`", "records/lookup": "`records/lookup`",
            "records/query": "`records/query`", "assets/download": "an asset",
        ]
        #expect(Set(counted.map(\.name)) == Set(words.keys))
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Vectors/PROTOCOL-TRANSPORT.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(page.range(of: "\n## Rates\n")?.upperBound)
        let sentence = try #require(
            page[start...].firstRange(of: /What may be asked without a session and is in a row[^.]*\./))
        for (name, word) in words { #expect(page[sentence].contains(word), "\(name)") }
    }

    @Test func aPathIsFilledInWhole() {
        let place = [
            "container": "a.b", "environment": "production", "database": "private", "owner": "-", "zone": "n%2Fo",
            "id": "00",
        ]
        #expect(
            Endpoints.assets.finish.route.path(place) == "/database/1/a.b/production/private/assets/-/n%2Fo/00/finish")
        #expect(Endpoints.accounts.me.route.path([:]) == "/1/accounts/me")
    }

    @Test func theTransportPageHasTheTable() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Vectors/PROTOCOL-TRANSPORT.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        #expect(try TransportTables.replacing(in: page) == page, "run sealkit vectors routes")
        // The same page with a table that is gone, or there twice.
        let begin = TransportTables.begin("Zone routes")
        #expect(throws: TransportTables.Misplaced(title: "Zone routes")) {
            try TransportTables.replacing(in: page.replacing(begin, with: ""))
        }
        #expect(throws: TransportTables.Misplaced(title: "Zone routes")) {
            try TransportTables.replacing(in: page.replacing(begin, with: begin + "\n" + begin))
        }
    }

    @Test func theWebClientHasTheTable() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Web/client/routes.mjs")
        #expect(try String(contentsOf: file, encoding: .utf8) == ScriptRoutes.text, "run sealkit vectors routes")
        #expect(ScriptRoutes.text.contains("'share/place': { method: 'POST', path: '/1/share/place' },"))
        #expect(!ScriptRoutes.text.contains("management-tokens"))
    }

    @Test func aServerThatServesAnotherTableDoesNotStart() async throws {
        try await RunningServer.with { server in
            func misfits(_ add: (EndpointRouter) -> Void) -> UnservedEndpoints? {
                let router = EndpointRouter(server.services.door)
                add(router)
                do throws(UnservedEndpoints) {
                    try router.requireWhole([Endpoints.server.tokenKeys.route, Endpoints.server.webhookKeys.route])
                    return nil
                } catch { return error }
            }
            let keys = Sealkit_V1_TokenKeysResponse()
            let whole = misfits { router in
                router.on(Endpoints.server.tokenKeys) { _ in keys }
                router.on(Endpoints.server.webhookKeys) { _ in keys }
            }
            #expect(whole == nil)
            let one = misfits { $0.on(Endpoints.server.tokenKeys) { _ in keys } }
            #expect(one == UnservedEndpoints(missing: ["webhook-keys"], repeated: [], unknown: []))
            let twice = misfits { router in
                for _ in 0..<2 { router.on(Endpoints.server.tokenKeys) { _ in keys } }
                router.on(Endpoints.server.webhookKeys) { _ in keys }
            }
            #expect(twice == UnservedEndpoints(missing: [], repeated: ["token-keys"], unknown: []))
            let other = misfits { $0.on(Endpoints.server.limits) { _ in Sealkit_V1_LimitsResponse() } }
            #expect(
                other == UnservedEndpoints(missing: ["token-keys", "webhook-keys"], repeated: [], unknown: ["limits"]))
        }
    }
}
