import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SealKit
import SealServer

/// Hands requests to a server of this process, as `HTTPTransport` sends them to one elsewhere.
final class LocalTransport: Transport {
    let origin: String
    private let server: @Sendable () throws(SealKitError) -> LocalServer
    /// Whom the server counts, as a proxy would note it.
    private let address: String

    /// - Parameter server: the one that answers now; one that has stopped takes no connections.
    init(
        origin: String, address: String, server: @escaping @Sendable () throws(SealKitError) -> LocalServer
    ) {
        (self.origin, self.address, self.server) = (origin, address, server)
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        var request = head(.post, path, token: token)
        request.headerFields[.contentType] = HTTPTransport.contentType
        request.headerFields[.contentLength] = "\(body.count)"
        return try await collect(Request(head: request, body: RequestBody(buffer: ByteBuffer(bytes: body))))
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try await collect(Request(head: head(.get, path, token: token), body: RequestBody(buffer: ByteBuffer())))
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        var request = head(.put, path, token: token)
        request.headerFields[.contentType] = "application/octet-stream"
        request.headerFields[.contentLength] = "\(length)"
        return try await collect(Request(head: request, body: RequestBody(asyncSequence: parts)))
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        var request = head(.get, path, token: token)
        request.headerFields[.range] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        try await stream(request, .bytes, consume)
    }

    func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        var request = head(.get, path, token: token)
        request.headerFields[.accept] = "text/event-stream, \(HTTPTransport.contentType)"
        if let lastEventID, let name = HTTPField.Name("last-event-id") { request.headerFields[name] = lastEventID }
        try await stream(request, .events, consume)
    }

    private func head(_ method: HTTPRequest.Method, _ path: String, token: String?) -> HTTPRequest {
        var fields = HTTPFields()
        fields[.accept] = HTTPTransport.contentType
        fields[.userAgent] = HTTPTransport.userAgent
        var named = TransportOptions.current.headers
        named["sealkit-wire-version"] = HTTPTransport.Configuration().wireVersion
        named["x-forwarded-for"] = address
        for (name, value) in named {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        if let token, !token.isEmpty { fields[.authorization] = "Bearer \(token)" }
        return HTTPRequest(
            method: method, scheme: "https", authority: String(origin.dropFirst("https://".count)), path: path,
            headerFields: fields)
    }

    /// Beside the caller, as in another process: who gives up takes nothing back of what the server does, and nothing
    /// of the SDK's task is the server's.
    private func collect(_ request: Request) async throws(SealKitError) -> TransportResponse {
        let server = try server()
        let answering = Task.detached {
            let response = try await server.answer(request)
            return try await Self.collect(response)
        }
        let outcome = await answering.result
        if Task.isCancelled { throw .cancelled }
        do { return try outcome.get() } catch { throw Self.broken(error) }
    }

    private static func collect(_ response: Response) async throws -> TransportResponse {
        let (parts, continuation) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        try await response.body.write(PartWriter(continuation: continuation))
        continuation.finish()
        var body = Data()
        for try await part in parts { body += Data(part.readableBytesView) }
        func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { response.headers[$0] } }
        return TransportResponse(
            status: Int(response.status.code), body: body, contentType: field("content-type"),
            retryAfter: field("retry-after").flatMap(Double.init),
            deviceRevision: field("sealkit-devices").flatMap { UInt64($0) })
    }

    private func stream(
        _ head: HTTPRequest, _ success: Success, _ consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        let server = try server()
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        let (parts, continuation) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        let answering = Task.detached {
            do {
                let response = try await server.answer(request)
                guard response.status.code < 400 else { throw try await Self.collect(response).failure }
                try TransportResponse(
                    status: Int(response.status.code), body: Data(), contentType: response.headers[.contentType]
                ).require(success)
                try await response.body.write(PartWriter(continuation: continuation))
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        // Whoever listens no more closes the connection.
        defer { answering.cancel() }
        do { for try await part in parts { try await consume(part) } } catch { throw Self.broken(error) }
        if Task.isCancelled { throw .cancelled }
    }

    private static func broken(_ error: any Error) -> SealKitError {
        if Task.isCancelled || error is CancellationError { return .cancelled }
        return error as? SealKitError
            ?? SealKitError(
                .serverResponseLost, "the connection to the server broke (\(type(of: error)))",
                remedy: "fetch to see whether it was done", retryAfter: 5)
    }
}

/// What a server writes, for whoever reads it beside.
private struct PartWriter: ResponseBodyWriter {
    let continuation: AsyncThrowingStream<ByteBuffer, any Error>.Continuation

    mutating func write(_ buffer: ByteBuffer) async throws {
        if case .terminated = continuation.yield(buffer) { throw CancellationError() }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { continuation.finish() }
}
