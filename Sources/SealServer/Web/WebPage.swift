import HTTPTypes
import Hummingbird
import NIOCore

/// A page at shares' URLs, the same for every one: nobody keeps it.
struct WebPage: Sendable {
    static let type = "text/html; charset=utf-8"
    static let caching = "no-store"

    private let body: ByteBuffer
    private let headers: HTTPFields

    /// - Parameter headers: what goes with it beside its type and length.
    init(_ html: String, _ headers: HTTPFields) {
        body = ByteBuffer(string: html)
        var headers = headers
        headers[.contentType] = Self.type
        headers[.cacheControl] = Self.caching
        headers[.contentLength] = String(body.readableBytes)
        self.headers = headers
    }

    func response(withBody: Bool) -> Response {
        Response(status: .ok, headers: headers, body: withBody ? ResponseBody(byteBuffer: body) : ResponseBody())
    }
}
