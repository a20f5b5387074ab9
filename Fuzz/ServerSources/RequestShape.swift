import HTTPTypes
import Hummingbird
import NIOCore
import SealStatements
public import SealWire

@testable import SealServer
@testable import SealService

extension Route: CustomStringConvertible {
    public var description: String { "\(method.rawValue) \(template)" }
}

/// How a route is asked, from the bits of one byte; 0 is the plain way.
struct RequestShape {
    let bits: UInt8

    init(_ bits: UInt8) { self.bits = bits }

    var isJSON: Bool { bits & 1 != 0 }
    private var wantsJSON: Bool { bits & 2 != 0 }
    private var hasNoSession: Bool { bits & 4 != 0 }
    private var isShared: Bool { bits & 8 != 0 }
    /// The body begins with the path's parameters, each up to a line's end.
    private var hasParameters: Bool { bits & 16 != 0 }
    private var announcesTooMuch: Bool { bits & 32 != 0 }

    func request(to route: Route, _ rest: [UInt8], token: String) -> Request {
        var body = rest
        let path = route.template.split(separator: "/", omittingEmptySubsequences: false).map { part -> String in
            guard part.hasPrefix("{") else { return String(part) }
            guard hasParameters else { return plain(part.dropFirst().dropLast()) }
            let line = body.prefix { $0 != 0x0A }
            body.removeFirst(min(body.count, line.count + 1))
            // Between slashes, as a client could send it.
            return String(decoding: line.filter { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }, as: UTF8.self)
        }.joined(separator: "/")
        var headers: HTTPFields = [
            .contentType: isJSON ? "application/json" : "application/x-protobuf",
            .contentLength: String(announcesTooMuch ? body.count &* 1_000 : body.count),
            .accept: wantsJSON ? "application/json" : "application/x-protobuf",
        ]
        if !hasNoSession { headers[.authorization] = "Bearer \(token)" }
        return Request(
            head: HTTPRequest(
                method: route.method.http, scheme: "http", authority: "localhost", path: path, headerFields: headers),
            body: RequestBody(buffer: ByteBuffer(bytes: body)))
    }

    private func plain(_ parameter: Substring) -> String {
        switch parameter {
        case "container": World.container
        case "environment": "development"
        case "database": isShared ? "shared" : "private"
        case "owner": "-"
        case "zone": World.scope.zoneName
        case "id": String(repeating: "0", count: 32)
        default: "x"
        }
    }
}
