import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// What pages of other origins get of the server, and where the page of share URLs is when it is elsewhere.
@Suite(.timeLimit(.minutes(60))) struct WebOriginTests {
    private static let app = "https://app.example.org"
    private static let client = HTTPClient(
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

    private func ask(
        _ method: NIOHTTP1.HTTPMethod, _ path: String, of server: RunningServer, _ headers: [(String, String)] = []
    ) async throws -> (status: HTTPResponseStatus, headers: HTTPHeaders, body: String) {
        var request = HTTPClientRequest(url: server.origin + path)
        request.method = method
        request.headers = HTTPHeaders(headers)
        let response = try await Self.client.execute(request, timeout: .seconds(30))
        return (response.status, response.headers, String(buffer: try await response.body.collect(upTo: 1 << 20)))
    }

    private func preflight(
        _ path: String, from origin: String = app, of server: RunningServer
    ) async throws -> (status: HTTPResponseStatus, headers: HTTPHeaders, body: String) {
        try await ask(.OPTIONS, path, of: server, [("origin", origin), ("access-control-request-method", "POST")])
    }

    private static let common =
        "sealkit-client, sealkit-operation-group, sealkit-operation-group-name, sealkit-wire-version"
    private static let database = "/database/1/org.example.notes/production/shared"

    @Test(arguments: [
        ("/1/accounts/challenge", "POST", "content-type, \(common)"),
        ("/1/accounts/identity", "POST", "authorization, content-type, \(common)"),
        ("/1/accounts/me", "GET", "authorization, \(common)"),
        ("\(database)/records/query", "POST", "authorization, content-type, \(common)"),
        ("\(database)/assets/o/z/i", "GET, PUT", "authorization, content-type, range, \(common)"),
        ("/database/1/org.example.notes/production/notifications", "GET", "authorization, last-event-id, \(common)"),
        ("/1/limits", "GET", common),
    ])
    func aNamedOriginLearnsWhatAPathTakes(_ path: String, _ methods: String, _ headers: String) async throws {
        try await RunningServer.with(webOrigins: [Self.app, "http://localhost:9000"]) { server in
            for origin in [Self.app, "http://localhost:9000"] {
                let answer = try await preflight(path, from: origin, of: server)
                #expect(answer.status == .noContent)
                #expect(answer.headers["access-control-allow-origin"] == [origin])
                #expect(answer.headers["access-control-allow-methods"] == [methods])
                #expect(answer.headers["access-control-allow-headers"] == [headers])
                #expect(answer.headers["access-control-max-age"] == ["7200"])
                #expect(answer.headers["vary"] == ["origin"])
                #expect(answer.headers["access-control-allow-credentials"].isEmpty)
                #expect(answer.body.isEmpty)
            }
        }
    }

    @Test func everyCallOfTheRouteTableCanBeMadeByAPageAndNothingElse() throws {
        let origins = WebOrigins([Self.app])
        let own = ["health", "share-page", "share-page/head", "web-file"]
        for route in Endpoints.all {
            let path = origins.path(route.template)
            guard !route.isManaged, !own.contains(route.name) else {
                #expect(path == nil, "\(route.name)")
                continue
            }
            #expect(path?.methods.contains(route.method.rawValue) == true, "\(route.name)")
        }
        for route in Endpoints.operatorFamily.routes { #expect(origins.path(route.template) == nil, "\(route.name)") }
    }

    @Test func aPageReadsAnswersAndRefusals() async throws {
        try await RunningServer.with(webOrigins: [Self.app]) { server in
            for (method, path, status) in [
                (NIOHTTP1.HTTPMethod.GET, "/1/limits", 200), (.GET, "/1/accounts/me", 401), (.DELETE, "/1/limits", 405),
                (.POST, "/1/accounts/challenge", 400),
            ] {
                let answer = try await ask(method, path, of: server, [("origin", Self.app)])
                #expect(Int(answer.status.code) == status, "\(path)")
                #expect(answer.headers["access-control-allow-origin"] == [Self.app], "\(path)")
                #expect(answer.headers["vary"] == ["origin"], "\(path)")
                #expect(
                    answer.headers["access-control-expose-headers"] == [
                        "content-range, retry-after, sealkit-devices, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset"
                    ])
            }
        }
    }

    @Test(arguments: [
        "https://evil.example.org", "https://app.example.org.evil.example", "http://app.example.org",
        "https://app.example.org:8443", "https://APP.example.org", "null", "*", "", "https://app.example.org/",
    ])
    func anotherOriginGetsNothing(_ origin: String) async throws {
        try await RunningServer.with(webOrigins: [Self.app]) { server in
            let refused = try await preflight("/1/limits", from: origin, of: server)
            #expect(refused.status == .forbidden)
            #expect(refused.body.contains("--web-origin"))
            let answered = try await ask(.GET, "/1/limits", of: server, [("origin", origin)])
            #expect(answered.status == .ok)
            for answer in [refused, answered] {
                #expect(!answer.headers.contains { $0.name.lowercased().hasPrefix("access-control") })
                #expect(answer.headers["vary"] == ["origin"])
            }
        }
    }

    /// By address, as whatever else comes without a session; a page reads that it was too much.
    @Test func whatIsAskedBeforeACallIsCounted() async throws {
        var limits = AbuseLimits()
        limits.anonymousRequest = RateLimiter.Rule(count: 3, window: 3_000_000_000)
        try await RunningServer.with(limits: limits, webOrigins: [Self.app]) { server in
            var codes: [UInt] = []
            for _ in 0..<5 { codes.append(try await preflight("/1/limits", of: server).status.code) }
            #expect(codes == [204, 204, 204, 429, 429])
            let refused = try await preflight("/1/limits", of: server)
            #expect(refused.headers["access-control-allow-origin"] == [Self.app])
            #expect(refused.headers["vary"] == ["origin"])
            #expect(refused.headers["retry-after"].count == 1)
            #expect(refused.body.contains("requestRateLimited"))
            #expect(try await preflight("/1/limits", from: "https://evil.example.org", of: server).status.code == 429)
            #expect(try await ask(.GET, "/1/limits", of: server, [("origin", Self.app)]).status.code == 429)
        }
    }

    @Test func twoOriginsInARequestAreNone() async throws {
        try await RunningServer.with(webOrigins: [Self.app]) { server in
            let twice = [("origin", Self.app), ("origin", Self.app)]
            let answer = try await ask(.GET, "/1/limits", of: server, twice)
            #expect(answer.headers["access-control-allow-origin"].isEmpty)
        }
    }

    @Test(arguments: [
        "/health", "/s/AAAAAAAAAAAAAAAAAAAAAA", "/nothing", "/w/x/share.mjs",
        "/database/1/org.example.notes/production/schema/export",
    ])
    func whatIsNoPagesToCallIsAsWithoutAnyOrigin(_ path: String) async throws {
        for origins in [[], [Self.app]] {
            try await RunningServer.with(webOrigins: origins) { server in
                let refused = try await preflight(path, of: server)
                let answered = try await ask(.GET, path, of: server, [("origin", Self.app)])
                for answer in [refused, answered] {
                    #expect(!answer.headers.contains { $0.name.lowercased().hasPrefix("access-control") }, "\(path)")
                }
                #expect([.notFound, .methodNotAllowed].contains(refused.status))
            }
        }
    }

    @Test func withoutANamedOriginThereIsNone() async throws {
        try await RunningServer.with { server in
            let refused = try await preflight("/1/limits", of: server)
            #expect(refused.status == .methodNotAllowed)
            let answered = try await ask(.GET, "/1/limits", of: server, [("origin", Self.app)])
            for answer in [refused, answered] {
                #expect(answer.headers["vary"].isEmpty)
                #expect(!answer.headers.contains { $0.name.lowercased().hasPrefix("access-control") })
            }
        }
    }

    @Test func anOptionsRequestThatIsNoPreflightIsRefusedAsEver() async throws {
        try await RunningServer.with(webOrigins: [Self.app]) { server in
            for headers in [[], [("origin", Self.app)], [("access-control-request-method", "POST")]] {
                let answer = try await ask(.OPTIONS, "/1/limits", of: server, headers)
                #expect(answer.status == .methodNotAllowed)
            }
        }
    }

    // MARK: The page elsewhere

    @Test func browsersAreSentWhereThePageIs() async throws {
        let place = "https://share.example.org"
        try await RunningServer.with(webAt: place) { server in
            for method in [NIOHTTP1.HTTPMethod.GET, .HEAD] {
                let answer = try await ask(method, "/s/AAAAAAAAAAAAAAAAAAAAAA?x=1", of: server)
                #expect(answer.status == .temporaryRedirect)
                #expect(answer.headers["location"] == [place + "/s/AAAAAAAAAAAAAAAAAAAAAA"])
                #expect(answer.headers["cache-control"] == ["no-store"])
                #expect(answer.body.isEmpty)
            }
            // No path makes another place of it: what is no id of a share leads nowhere.
            for path in ["//s//evil.example", "/s/%2F%2Fevil.example", "/s/@evil.example"] {
                let answer = try await ask(.GET, path, of: server)
                #expect(answer.status == .notFound && answer.headers["location"].isEmpty, "\(path)")
            }
            let (own, other) = (
                try await preflight("/1/limits", from: place, of: server), try await preflight("/1/limits", of: server)
            )
            #expect(own.status == .noContent)
            #expect(other.status == .forbidden)
        }
    }

    @Test(.enabled("built without the web client", { try WebBundle.built() != nil }))
    func aVerificationSaysWhereThePageIs() async throws {
        let requests = try WebClientRequests(authorities: nil)
        try await RunningServer.with(webAt: "https://share.example.org") { server in
            let bundle = try #require(try WebBundle.built())
            let difference = await #expect(throws: WebVerification.Difference.self) {
                try await WebVerification(of: server.origin, against: bundle, by: requests).run()
            }
            #expect(difference?.what.contains("https://share.example.org/s/") == true)
        }
        try await requests.close()
    }

    // MARK: Settings

    @Test func originsAreReadFromFlagsEnvironmentAndFile() async throws {
        let two = "https://a.example, http://127.0.0.1:9000"
        let expected = ["https://a.example", "http://127.0.0.1:9000"]
        let flags = ["data": "/data", "web-origin": two, "web-at": "https://b.example:8443"]
        let configuration = try await ServerConfiguration.load(flags: flags, environment: [:])
        #expect(configuration.webOrigins == expected)
        #expect(configuration.webAt == "https://b.example:8443")
        let variable = try await ServerConfiguration.load(
            flags: ["data": "/data"], environment: ["SEALKIT_WEB_ORIGIN": two])
        #expect(variable.webOrigins == expected)
        #expect(variable.webAt == nil)
        let folder = TemporaryFolder()
        let file = folder.file("settings.yaml")
        try Data("data: /data\nweb: {origin: [\"https://a.example\", \"http://127.0.0.1:9000\"]}\n".utf8)
            .write(to: URL(fileURLWithPath: file))
        let written = try await ServerConfiguration.load(flags: [:], environment: [:], file: file)
        #expect(written.webOrigins == expected)
    }

    @Test(arguments: [
        "*", "null", "https://*.example.org", "https://a.example/", "https://a.example/x", "https://A.example",
        "HTTPS://a.example", "https://a.example:443", "http://a.example", "https://u@a.example", "a.example",
        "https://a.example?x", "https://a.example#x", "https://", "https://a.example https://b.example",
        "https://müller.example", "file:///x",
    ])
    func whatIsNoOriginAsBrowsersWriteItIsRefused(_ text: String) async throws {
        for setting in ["web-origin", "web-at"] {
            let error = await #expect(throws: ConfigurationError.self) {
                try await ServerConfiguration.load(flags: ["data": "/data", setting: text], environment: [:])
            }
            guard case .invalid(setting, _) = error else {
                Issue.record("\(setting) \(text): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func thePageElsewhereIsNotHere() throws {
        var configuration = ServerConfiguration(dataFolder: "/data", publicOrigin: "https://Notes.example.org:443")
        configuration.webAt = "https://notes.example.org"
        #expect(throws: ConfigurationError.invalid(setting: "web-at", expected: "another origin than the server's own"))
        { try configuration.validate() }
        configuration.webAt = "https://share.example.org"
        #expect(throws: Never.self) { try configuration.validate() }
    }
}
