import AsyncHTTPClient
import Foundation
public import NIOCore
import NIOHTTP1
import Synchronization

extension HTTPTransport {
    /// Longer than a server of ours is silent on an open stream, in seconds: after that the connection is dead.
    static let longestSilence: Int64 = 75

    /// Streams stay open: they have connections of their own, and take none from requests.
    static func eventClient(_ settings: HTTPClient.Configuration) -> HTTPClient {
        var settings = settings
        settings.timeout.read = .seconds(longestSilence)
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
    }

    public func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        var request = HTTPClientRequest(url: origin + path)
        request.headers.add(name: "accept", value: "text/event-stream, \(HTTPTransport.contentType)")
        request.headers.add(name: "user-agent", value: HTTPTransport.userAgent)
        request.headers.add(name: ClientDescription.headerName, value: ClientDescription.value)
        request.headers.add(name: "authorization", value: "Bearer \(token)")
        if let lastEventID { request.headers.add(name: "last-event-id", value: lastEventID) }
        do {
            let response = try await eventClient.execute(request, deadline: .distantFuture)
            hasAnswered.store(true, ordering: .relaxed)
            try await require(.events, of: response)
            for try await part in response.body { try await consume(part) }
        } catch {
            throw await failure(error)
        }
    }
}
