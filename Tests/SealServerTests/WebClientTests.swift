import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import SealPrimitives
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// What a browser gets: the page, the files of the web client, and what goes with them.
@Suite(.timeLimit(.minutes(60))) struct WebClientTests {
    private static let hash = Hash.digest(.scope, [1])

    /// As `Web/build` writes one.
    private static func archive(
        pageName: String = "share.html", times: Int = 1, page: String = page, script: String = "script"
    ) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.string("sealkit web bundle 1")
        writer.digest(hash)
        writer.number(UInt32(1 + times))
        for (name, type, plain) in [(pageName, "text/html; charset=utf-8", page)]
            + Array(repeating: ("share.mjs", "text/javascript; charset=utf-8", script), count: times)
        {
            writer.string(name)
            writer.string(type)
            writer.digest(Hash.digest(.scope, [2]))
            for form in ["", "gzip of ", "br of "] { writer.blob([UInt8]((form + plain).utf8)) }
        }
        return writer.bytes
    }

    private static let page = #"<script src="/w/{bundle}/share.mjs"></script><main><!-- apps --></main>"#

    /// What travels is what is looked at: the shared client would open what is compressed.
    private static let client = HTTPClient(configuration: HTTPClient.Configuration(decompression: .disabled))

    private func get(
        _ path: String, from server: RunningServer, accepting: String? = nil
    ) async throws -> (status: HTTPResponseStatus, headers: HTTPHeaders, body: String) {
        var request = HTTPClientRequest(url: server.origin + path)
        if let accepting { request.headers.add(name: "accept-encoding", value: accepting) }
        let response = try await Self.client.execute(request, timeout: .seconds(5))
        return (response.status, response.headers, String(buffer: try await response.body.collect(upTo: 1 << 20)))
    }

    private static let guarding = [
        "content-security-policy":
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' blob:; media-src blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types sealkit",
        "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer", "x-content-type-options": "nosniff",
    ]

    @Test func thePageIsTheSameForAllAndNamesItsFilesByTheirHash() async throws {
        let bundle = try WebBundle(archive: Self.archive())
        let fallback = ["org.example.notes": "https://notes.example.org/get?a=1&b=2"]
        try await RunningServer.with(fallbackURLs: fallback, webBundle: bundle) { server in
            let (first, second) = (try await get("/s/AAAA", from: server), try await get("/s/BBBB", from: server))
            #expect(first.body == second.body)
            #expect(first.body.hasPrefix("<script src=\"/w/\(Self.hash.hex)/share.mjs\"></script><main><p>"))
            #expect(first.body.contains("<a rel=\"noreferrer\" href=\"https://notes.example.org/get?a=1&amp;b=2\">"))
            #expect(first.headers.first(name: "cache-control") == "no-store")
            for (name, value) in Self.guarding { #expect(first.headers[name] == [value]) }
            let permissions = first.headers.first(name: "permissions-policy") ?? ""
            #expect(permissions.contains("camera=(), ") && permissions.contains("publickey-credentials-get=(self)"))
        }
    }

    @Test func aFileIsTheBestOfItsForms() async throws {
        let bundle = try WebBundle(archive: Self.archive())
        try await RunningServer.with(webBundle: bundle) { server in
            let path = "/w/\(Self.hash.hex)/share.mjs"
            for (accepted, encoding, body) in [
                ("gzip, deflate, br", "br", "br of script"), ("gzip;q=0.5, br;q=0", "gzip", "gzip of script"),
                ("*", "br", "br of script"), ("identity", nil, "script"), ("br;q=0, *;q=0", nil, "script"),
            ] {
                let answer = try await get(path, from: server, accepting: accepted)
                #expect(answer.status == .ok)
                #expect(answer.headers.first(name: "content-encoding") == encoding, "\(accepted)")
                #expect(answer.body == body, "\(accepted)")
                #expect(answer.headers[canonicalForm: "vary"] == ["accept-encoding"])
                #expect(answer.headers.first(name: "content-type") == "text/javascript; charset=utf-8")
                #expect(answer.headers.first(name: "cache-control") == "public, max-age=31536000, immutable")
                for (name, value) in Self.guarding { #expect(answer.headers[name] == [value]) }
            }
            #expect(try await get(path, from: server).body == "script")
        }
    }

    @Test func nothingElseIsThere() async throws {
        let bundle = try WebBundle(archive: Self.archive())
        try await RunningServer.with(webBundle: bundle) { server in
            let other = Hash.digest(.scope, [3]).hex
            // The page is shown at shares' URLs alone, where its marks are filled in.
            for path in ["\(other)/share.mjs", "\(Self.hash.hex)/share.html", "\(Self.hash.hex)/..%2Fshare.mjs"] {
                let answer = try await get("/w/" + path, from: server)
                #expect(answer.status == .notFound, "\(path)")
                #expect(answer.headers.first(name: "cache-control") == "no-store")
            }
        }
        try await RunningServer.with { server in
            let answer = try await get("/w/\(Self.hash.hex)/share.mjs", from: server)
            #expect(answer.status == .notFound)
        }
    }

    @Test func theServerSaysWhichOneItHas() async throws {
        let bundle = try WebBundle(archive: Self.archive())
        for (bundle, expected) in [(bundle, Data(Self.hash.bytes)), (nil, Data())] as [(WebBundle?, Data)] {
            try await RunningServer.with(webBundle: bundle) { server in
                let answer = try await TestClient(server).call("/1/limits", nil, as: Sealkit_V1_LimitsResponse.self)
                #expect(answer.webBundle == expected)
            }
        }
        #expect(WebBundle.description(of: bundle.hash) == "web client \(Self.hash.hex)")
        #expect(try WebBundle.builtHash() == WebBundle.built()?.hash)
        #expect(WebBundle.description(of: nil) == "built without the web client")
    }

    @Test func aServerIsHeldAgainstABundleByteByByte() async throws {
        let fallback = ["org.example.notes": "https://notes.example.org/get?a=1&b=2"]
        let requests = try WebClientRequests(authorities: nil)
        for fallbackURLs in [[:], fallback] {
            try await RunningServer.with(
                fallbackURLs: fallbackURLs, webBundle: try WebBundle(archive: Self.archive())
            ) { server in
                let same = try WebBundle(archive: Self.archive())
                #expect(try await WebVerification(of: server.origin, against: same, by: requests).run() == 2)
                for (archive, path) in [
                    (Self.archive(page: Self.page + " "), "/s/"), (Self.archive(page: "<p>" + Self.page), "/s/"),
                    (Self.archive(script: "another"), "/w/"),
                ] {
                    let other = WebVerification(
                        of: server.origin, against: try WebBundle(archive: archive), by: requests)
                    let difference = await #expect(throws: WebVerification.Difference.self) { try await other.run() }
                    #expect(difference?.path.hasPrefix(path) == true)
                }
            }
        }
        try await RunningServer.with { server in
            let bundle = try WebBundle(archive: Self.archive())
            await #expect(throws: WebVerification.Difference.self) {
                try await WebVerification(of: server.origin, against: bundle, by: requests).run()
            }
        }
        try await requests.close()
    }

    @Test(arguments: [
        "<p>No app opened it? These apps keep their records here:</p>\n<ul>\n<li><script src=\"/w/x\"></script></li>\n</ul>\n",
        "<script src=\"/w/x\"></script>", "<ul>\n</ul>\n",
        "<p>No app opened it? These apps keep their records here:</p>\n<ul>\n<li><a rel=\"noreferrer\" href=\"javascript:x\">x</a></li>\n</ul>\n",
        "<p>No app opened it? These apps keep their records here:</p>\n<ul>\n<li><a rel=\"noreferrer\" href=\"https://x\"><b>x</b></a></li>\n</ul>\n",
        "<p>No app opened it? These apps keep their records here:</p>\n<ul>\n<li><a rel=\"noreferrer\" href=\"https://x\"\u{200D}/onclick=alert(1)//\">x</a></li>\n</ul>\n",
    ])
    func whatStandsWhereAppsAreListedIsAListOfLinks(_ html: String) {
        #expect(!SharePageController.isAppList(html))
    }

    @Test func thePageNamesTheServerWhoseSharesItShows() throws {
        let page = "<meta content=\"{server}\" data-calls=\"{calls}\"><!-- apps -->"
        let bundle = try WebBundle(archive: Self.archive(page: page))
        #expect(bundle.page(of: .here, apps: "") == "<meta content=\"\" data-calls=\"\">")
        let origin = "https://a.example"
        #expect(bundle.page(of: .behind(origin), apps: "x") == "<meta content=\"\(origin)\" data-calls=\"\">x")
        #expect(bundle.page(of: .at(origin), apps: "") == "<meta content=\"\(origin)\" data-calls=\"\(origin)\">")
        #expect(!bundle.page(of: .at("https://\"><script>"), apps: "").contains("<script>"))
    }

    @Test func thePageMayCallItsServerAndNobodyElse() throws {
        for (server, calls) in [
            (WebServer.here, "'self'"), (.behind("https://a.example"), "'self'"),
            (.at("https://a.example"), "'self' https://a.example"),
        ] {
            let policy = try #require(WebHeaders.all(server)[.contentSecurityPolicy])
            #expect(policy.contains("; connect-src \(calls); "), "\(server)")
        }
    }

    @Test func anArchiveIsReadWholeOrNotAtAll() throws {
        let whole = Self.archive()
        for wrong in [
            [UInt8](whole.dropLast()), whole + [0], [UInt8](whole.dropFirst()), Self.archive(pageName: "other.html"),
            Self.archive(times: 2), [],
        ] {
            #expect(throws: WebBundle.Malformed.self) { try WebBundle(archive: wrong) }
        }
        // What this program has, if `make web` has run.
        #expect(throws: Never.self) { try WebBundle.built() }
    }
}
