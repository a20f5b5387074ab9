import HTTPTypes
import Hummingbird
import NIOCore
import SealPrimitives
import SealService
import SealWire

/// `GET /w/{bundle}/{file}`: the files of the web client, under the hash that names them, so that what a browser has
/// once it has for good.
struct WebFilesController: Sendable {
    /// Nil where the program was built without it.
    let bundle: WebBundle?

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.server.webFile, raw: { try file($0) })
    }

    private func file(_ call: OpenCall) throws(ServerError) -> Response {
        let parameters = call.context.pathParameters
        guard let bundle, parameters["bundle"] == bundle.hash.hex,
            let file = parameters["file"].flatMap({ bundle.files[$0] })
        else {
            throw ServerError(
                .unknownItem, "This server has no such file of the web client.",
                remedy: "Load the page again: the server may have another version of it by now.", status: .notFound)
        }
        return file.response(WebEncoding(acceptedBy: call.request))
    }
}

extension WebBundle.File {
    /// Under a name that is of these bytes alone.
    static let caching = "public, max-age=31536000, immutable"

    func response(_ encoding: WebEncoding?) -> Response {
        let body = body(encoding)
        var headers = WebHeaders.all
        headers[.contentType] = type
        headers[.contentLength] = String(body.readableBytes)
        headers[.cacheControl] = Self.caching
        headers[.vary] = "accept-encoding"
        if let encoding { headers[.contentEncoding] = encoding.rawValue }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
