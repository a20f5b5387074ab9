import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import SealServer

/// A browser without script, which follows no redirect by itself.
struct ConsoleBrowser: Sendable {
    struct Answer: Sendable {
        let status: Int
        let headers: [String: String]
        let body: String
    }

    let origin: String
    var cookie = ""

    func send(
        _ method: String, _ path: String, _ fields: [(String, String)] = [], headers: [String: String] = [:]
    ) async throws -> Answer {
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        var request = HTTPClientRequest(url: origin + path)
        request.method = .init(rawValue: method)
        if !cookie.isEmpty { request.headers.add(name: "Cookie", value: "other=1; \(cookie)") }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if method == "POST" { request.body = .bytes(ByteBuffer(string: FormFields.query(fields))) }
        do {
            let response = try await client.execute(request, timeout: .seconds(60))
            let body = String(buffer: try await response.body.collect(upTo: 1 << 22))
            let answer = Answer(
                status: Int(response.status.code),
                headers: Dictionary(
                    response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 }), body: body
            )
            try await client.shutdown()
            return answer
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    func get(_ path: String) async throws -> Answer { try await send("GET", path) }

    /// As the page's own form does.
    func submit(_ page: String, to path: String, _ fields: [(String, String)] = []) async throws -> Answer {
        let html = try await get(page).body
        let token = try #require(Self.token(of: path, in: html))
        return try await send("POST", path, fields + [("token", token)], headers: ["Origin": origin])
    }

    /// Of development's schema, as its page says it to the forms there.
    func shownVersion(of page: String) async throws -> String {
        String(try #require(try await get(page).body.firstMatch(of: /name="shown" value="(-?[0-9]+)"/)).1)
    }

    /// - Parameter token: nil for the operator's.
    static func signedIn(_ server: RunningServer, with token: String? = nil) async throws -> ConsoleBrowser {
        var browser = ConsoleBrowser(origin: server.console)
        let token = try token ?? OperatorClient(server).token
        let answer = try await browser.send("POST", "/sign-in", [("operator-token", token)])
        #expect(answer.status == 303)
        let cookie = try #require(answer.headers["set-cookie"])
        for word in ["__Host-", "Path=/;", "Secure", "HttpOnly", "SameSite=Strict"] {
            #expect(cookie.contains(word), "\(cookie)")
        }
        browser.cookie = String(cookie.prefix { $0 != ";" })
        return browser
    }

    /// Of the form that goes to this path.
    static func token(of path: String, in html: String) -> String? {
        guard let form = html.range(of: "action=\"\(path)\""),
            let field = html.range(of: "name=\"token\" value=\"", range: form.upperBound..<html.endIndex)
        else { return nil }
        return String(html[field.upperBound...].prefix { $0 != "\"" })
    }
}
