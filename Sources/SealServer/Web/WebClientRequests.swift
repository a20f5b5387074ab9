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
        // Nobody waits for a server that is not there.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.timeout = .init(connect: .seconds(10), read: Self.timeout)
        if let authorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(authorities))]
            settings.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
    }

    /// What a browser wants a file for: it says so.
    enum Destination {
        /// Somebody has followed a link to it.
        case document
        case script
        case style
        case image
        /// A worker's own script.
        case worker
        /// What a script fetches.
        case empty

        fileprivate var headers: [(name: String, value: String)] {
            switch self {
            case .document:
                [
                    ("upgrade-insecure-requests", "1"),
                    (
                        "accept",
                        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
                    ), ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-fetch-user", "?1"),
                    ("sec-fetch-dest", "document"),
                ]
            case .script: Self.ofPage("*/*", "cors", "script")
            case .style: Self.ofPage("text/css,*/*;q=0.1", "cors", "style")
            case .image:
                Self.ofPage("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", "no-cors", "image")
            case .worker: Self.ofPage("*/*", "same-origin", "worker")
            case .empty: Self.ofPage("*/*", "cors", "empty")
            }
        }

        private static func ofPage(
            _ accept: String, _ mode: String, _ destination: String
        ) -> [(name: String, value: String)] {
            [
                ("accept", accept), ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", mode),
                ("sec-fetch-dest", destination),
            ]
        }
    }

    /// What browsers take.
    static let allEncodings = "gzip, deflate, br, zstd"

    /// As a browser asks for it, header by header.
    func get(
        _ url: String, for destination: Destination, accepting encoding: String = allEncodings
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        let all =
            [
                ("sec-ch-ua", "\"Chromium\";v=\"156\", \"Not)A;Brand\";v=\"24\""), ("sec-ch-ua-mobile", "?0"),
                ("sec-ch-ua-platform", "\"Linux\""), ("user-agent", Self.browser),
            ] + destination.headers + [("accept-encoding", encoding), ("accept-language", "en-US,en;q=0.9")]
        for (name, value) in all { request.headers.add(name: name, value: value) }
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
