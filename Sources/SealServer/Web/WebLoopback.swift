import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import SealPrimitives
import SealService

/// The web client of this program for a server's shares, on an address of this machine: page and files are its own, and
/// what the page asks of the server is passed on. So no script comes from the server.
package struct WebLoopback: Sendable {
    private let bundle: WebBundle
    private let origin: String
    private let client: WebClientRequests
    private let page: WebPage

    /// - Parameter origin: of the server, as it is signed at a login.
    package init(_ bundle: WebBundle, for origin: String, by client: WebClientRequests) {
        (self.bundle, self.origin, self.client) = (bundle, origin, client)
        page = WebPage(bundle.page(of: .behind(origin), apps: ""), WebHeaders.all)
    }

    /// Serves until the task is cancelled.
    /// - Parameters:
    ///   - address: of this machine alone.
    ///   - onRunning: called once with the actual address.
    package func serve(
        at address: ListenAddress, onRunning: @escaping @Sendable (ListenAddress) async -> Void
    ) async throws {
        let application = Application(
            responder: WebLoopbackResponder(loopback: self),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { channel in
                await onRunning(
                    ListenAddress(host: address.host, port: channel.localAddress?.port ?? address.port))
            },
            logger: Logger(label: "sealkit.web") { _ in SwiftLogNoOpLogHandler() })
        try await application.runService(gracefulShutdownSignals: [])
    }

    /// What a page of somebody else may lead here by a name of its own is answered nothing.
    private func isOwn(_ request: Request) -> Bool {
        guard let authority = request.head.authority else { return false }
        let name = ListenAddress(authority)?.host ?? authority
        guard Loopback.contains(name) || Loopback.contains(urlHost: name) else { return false }
        guard let from = request.headers[.origin] else { return true }
        return from == "http://\(authority)"
    }

    fileprivate func respond(to request: Request) async throws -> Response {
        guard isOwn(request) else { return Response(status: .misdirectedRequest) }
        let parts = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        switch (request.method, parts.first, parts.count) {
        case (.get, "s", 2), (.head, "s", 2): return page.response(withBody: request.method == .get)
        case (.get, "w", 3):
            guard parts[2] == bundle.hash.hex, let file = bundle.files[String(parts[3])] else { break }
            return file.response(WebEncoding(acceptedBy: request))
        case (_, "1", _), (_, "database", _): return try await pass(request)
        default: break
        }
        return Response(status: .notFound)
    }

    /// Of what the page says this goes along, and nothing that only a browser adds.
    private static let passed: [HTTPField.Name] = [.accept, .contentType, .authorization, .range]
    private static let wire = ["sealkit-wire-version", "sealkit-client", "last-event-id"].compactMap {
        HTTPField.Name($0)
    }
    private static let mostBytes = 64 << 20

    private func pass(_ request: Request) async throws -> Response {
        // Of what was asked for path and query alone: the rest of an absolute form would be another host's.
        let query = request.uri.query.map { "?" + $0 } ?? ""
        var passed = HTTPClientRequest(url: origin + request.uri.path + query)
        passed.method = NIOHTTP1.HTTPMethod(rawValue: request.method.rawValue)
        for name in Self.passed + Self.wire {
            if let value = request.headers[name] { passed.headers.add(name: name.rawName, value: value) }
        }
        let body = try await request.body.collect(upTo: Self.mostBytes)
        if body.readableBytes > 0 || request.method != .get { passed.body = .bytes(body) }
        let answer: HTTPClientResponse
        do { answer = try await client.pass(passed) } catch is CancellationError { throw CancellationError() } catch {
            // As if there were no way to it, which is so.
            return Response(status: .badGateway)
        }
        guard (200...599).contains(answer.status.code) else { return Response(status: .badGateway) }
        // A browser that is led to one as if it were a page of this origin finds nothing there that it would run.
        var headers: HTTPFields = [
            .xContentTypeOptions: "nosniff", .cacheControl: WebPage.caching,
            .contentSecurityPolicy: WebHeaders.ofAnswers,
        ]
        for name in [HTTPField.Name.contentType, .contentLength, .contentRange] {
            if let value = answer.headers.first(name: name.rawName) { headers[name] = value }
        }
        return Response(
            status: HTTPResponse.Status(code: Int(answer.status.code)), headers: headers,
            body: ResponseBody(asyncSequence: answer.body))
    }
}

private struct WebLoopbackResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let loopback: WebLoopback

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        try await loopback.respond(to: request)
    }
}
