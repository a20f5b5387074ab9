import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// Asks a server for what browsers ask for, and passes on what a page asks for.
package final class WebClientRequests: Sendable {
    private let client: HTTPClient

    /// More than any file of a bundle, and than any answer that a page takes whole.
    private static let mostBytes = 64 << 20
    private static let timeout = TimeAmount.seconds(60)
    private static let browser =
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"

    package struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: ByteBuffer
    }

    /// - Parameter authorities: a PEM file of those to trust beside the system's; nil for none.
    /// - Throws: `NIOSSLError` for a file in which there is none.
    package init(authorities: String?) throws {
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        // Whoever answers over HTTP/2 could end this process by a status that is none.
        settings.httpVersion = .http1Only
        settings.decompression = .disabled
        settings.timeout = .init(connect: .seconds(10), read: Self.timeout)
        if let authorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(authorities))]
            settings.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
    }

    /// As a browser asks for it.
    func get(_ url: String, accepting encoding: String) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        for (name, value) in [
            ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
            ("accept-encoding", encoding), ("accept-language", "en"), ("user-agent", Self.browser),
        ] {
            request.headers.add(name: name, value: value)
        }
        let response = try await client.execute(request, timeout: Self.timeout)
        return Answer(
            status: Int(response.status.code), headers: response.headers,
            body: try await response.body.collect(upTo: Self.mostBytes))
    }

    func pass(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        try await client.execute(request, deadline: .now() + .hours(1))
    }

    package func close() async throws { try await client.shutdown() }
}
