import AsyncHTTPClient
public import Foundation
public import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import SealWire
import Synchronization

/// HTTP/1.1 or HTTP/2 to one server, by async-http-client.
public final class HTTPTransport: Transport {
    /// What goes beyond an address.
    public struct Configuration: Sendable {
        /// Longest time without progress, in seconds (CloudKit's `timeoutIntervalForRequest`).
        public var requestTimeout: Double
        /// A PEM file with the authority that signed the server's certificate, where the system does not know it. What
        /// the system knows is trusted as well.
        public var certificateAuthorityFile: String?
        /// The version of the wire format that this SDK speaks; a server that does not know it says
        /// `incompatibleVersion`.
        package var wireVersion = "1"

        /// - Parameters:
        ///   - requestTimeout: seconds without progress after which a request has failed.
        ///   - certificateAuthorityFile: a PEM file of authorities to trust; nil for the system's.
        public init(requestTimeout: Double = 60, certificateAuthorityFile: String? = nil) {
            self.requestTimeout = requestTimeout
            self.certificateAuthorityFile = certificateAuthorityFile
        }
    }

    public let origin: String
    private let settings: HTTPClient.Configuration
    /// Whether a file of authorities was given.
    let isAuthorityNamed: Bool
    /// async-http-client keeps the time without progress a client, so there is one for each that is used.
    private let clients: Mutex<[TimeAmount: HTTPClient]>
    private let timeout: TimeAmount
    private let wireVersion: String
    let eventClient: HTTPClient
    /// Signs every request, in place of a session.
    private let signer: RequestSigner?
    /// Something at the address has spoken HTTP: what breaks from then on is the network's fault, and not the
    /// address's.
    let hasAnswered = Atomic(false)

    package static let contentType = "application/x-protobuf"
    package static let userAgent = "sealkit/1"
    /// More than any answer that a server of ours gives.
    static let maximumResponseBytes = 64 << 20

    /// More different time-outs than any app has; further ones share a client with the nearest that is there.
    private static let mostClients = 16

    /// - Throws: `invalidArguments` for anything but an `http` or `https` origin, plain `http` only to this machine;
    ///   and for a file of authorities in which there is none.
    public convenience init(server: String, configuration: Configuration = Configuration()) throws(SealKitError) {
        try self.init(server: server, configuration: configuration, signer: nil)
    }

    init(server: String, configuration: Configuration, signer: RequestSigner?) throws(SealKitError) {
        origin = try HTTPTransport.origin(of: server)
        self.signer = signer
        try OperationConfiguration(timeoutIntervalForRequest: configuration.requestTimeout).check()
        timeout = .milliseconds(Int64(configuration.requestTimeout * 1000))
        wireVersion = configuration.wireVersion
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.decompression = .disabled
        // A refused connection is told at once; what may be repeated is repeated by `Client`, which knows.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.http2StreamChannelDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(StatusCheck(), position: .first)
            }
        }
        if let file = configuration.certificateAuthorityFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.certificates(try HTTPTransport.authorities(in: file))]
            settings.tlsConfiguration = tls
        }
        self.settings = settings
        isAuthorityNamed = configuration.certificateAuthorityFile != nil
        clients = Mutex([:])
        eventClient = HTTPTransport.eventClient(settings)
    }

    deinit {
        for client in clients.withLock({ Array($0.values) }) { client.shutdown { _ in } }
        eventClient.shutdown { _ in }
    }

    /// The client that gives up after the time without progress that the options ask for.
    private func client(_ options: TransportOptions) -> HTTPClient {
        let wanted = options.requestTimeout.map { TimeAmount($0) } ?? timeout
        return clients.withLock { clients in
            if let client = clients[wanted] { return client }
            if clients.count >= HTTPTransport.mostClients,
                let nearest = clients.min(by: {
                    abs(($0.key - wanted).nanoseconds) < abs(($1.key - wanted).nanoseconds)
                })
            {
                return nearest.value
            }
            var settings = settings
            settings.timeout = .init(connect: min(wanted, .seconds(10)), read: wanted, write: wanted)
            let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
            clients[wanted] = client
            return client
        }
    }

    private func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let options = TransportOptions.current
        let deadline = options.resourceTimeout.map { NIODeadline.now() + TimeAmount($0) } ?? .distantFuture
        let response = try await client(options).execute(request, deadline: deadline)
        hasAnswered.store(true, ordering: .relaxed)
        return response
    }

    /// The origin as it is signed at login: lower case, no path, no default port. A name beyond ASCII is its A-label
    /// (`xn--…`), as every resolver and certificate has it; an escape in the host would be a second spelling of a name.
    static func origin(of server: String) throws(SealKitError) -> String {
        guard let url = URLComponents(string: server), let scheme = url.scheme?.lowercased(),
            let host = url.encodedHost?.lowercased(), !host.isEmpty, !host.contains("%"),
            scheme == "http" || scheme == "https", url.path.isEmpty || url.path == "/", url.query == nil,
            url.user == nil
        else {
            throw SealKitError(
                .invalidArguments, "not a server address: it has to be https://host[:port]",
                remedy: "give scheme, host and, if need be, port, and nothing else")
        }
        let port = url.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        let isLocal = ["localhost", "::1", "[::1]"].contains(host) || isLoopback(host)
        guard scheme == "https" || isLocal else {
            throw SealKitError(
                .invalidArguments, "plain http is for servers on this machine only",
                remedy: "use https://\(host)\(port)")
        }
        return "\(scheme)://\(host)\(port)"
    }

    /// `127.x.y.z` in numbers: a name that begins like it is somebody's domain.
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// - Parameter token: nil or empty for none.
    private func request(_ method: HTTPMethod, _ path: String, token: String?, body: Data = Data()) -> HTTPClientRequest
    {
        var request = HTTPClientRequest(url: origin + path)
        request.method = method
        request.headers.add(name: "accept", value: HTTPTransport.contentType)
        request.headers.add(name: "user-agent", value: HTTPTransport.userAgent)
        request.headers.add(name: ClientDescription.headerName, value: ClientDescription.value)
        request.headers.add(name: "sealkit-wire-version", value: wireVersion)
        for (name, value) in TransportOptions.current.headers { request.headers.add(name: name, value: value) }
        if let token, !token.isEmpty { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        if let signer {
            for (name, value) in signer.headers(
                origin: origin, method: method.rawValue, path: path, body: [UInt8](body))
            {
                request.headers.add(name: name, value: value)
            }
        }
        return request
    }

    public func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        var request = request(.POST, path, token: token, body: body)
        request.headers.add(name: "content-type", value: HTTPTransport.contentType)
        request.body = .bytes(ByteBuffer(data: body))
        return try await collect(request)
    }

    /// Asks without a body and returns status and body.
    public func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try await collect(request(.GET, path, token: token))
    }

    public func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        var request = request(.PUT, path, token: token)
        request.headers.add(name: "content-type", value: "application/octet-stream")
        request.body = .stream(parts, length: .known(length))
        return try await collect(request)
    }

    public func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        var request = request(.GET, path, token: token)
        request.headers.add(name: "range", value: "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
        do {
            let response = try await execute(request)
            try await require(.bytes, of: response)
            for try await part in response.body { try await consume(part) }
        } catch {
            throw await failure(error)
        }
    }

    private func collect(_ request: HTTPClientRequest) async throws(SealKitError) -> TransportResponse {
        do {
            return try await collect(try await execute(request))
        } catch {
            throw await failure(error)
        }
    }

    private func collect(_ response: HTTPClientResponse) async throws -> TransportResponse {
        let body = try await response.body.collect(upTo: HTTPTransport.maximumResponseBytes)
        return TransportResponse(response, body: Data(buffer: body))
    }

    /// Looks at an answer whose body is still to come.
    /// - Throws: what it says where it is none of these.
    func require(_ success: Success, of response: HTTPClientResponse) async throws {
        let head = TransportResponse(response, body: Data())
        guard head.status < 400 else { throw try await collect(response).failure }
        try head.require(success)
    }
}

extension TransportResponse {
    fileprivate init(_ response: HTTPClientResponse, body: Data) {
        self.init(
            status: Int(response.status.code), body: body, contentType: response.headers.first(name: "content-type"),
            retryAfter: response.headers.first(name: "retry-after").flatMap(Double.init),
            deviceRevision: response.headers.first(name: "sealkit-devices").flatMap { UInt64($0) })
    }
}
