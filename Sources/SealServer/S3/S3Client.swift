import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import SealStorage
import Synchronization

/// One request to an S3 store.
struct S3Request: Sendable {
    var method: HTTPMethod
    /// Below the place's prefix; nil for the bucket itself.
    var key: String?
    var query: [(name: String, value: String)] = []
    /// All of them are signed.
    var headers: [(name: String, value: String)] = []
    let body: ByteBuffer
    /// Of the body, in hexadecimal: the store holds what comes against it.
    let sum: String

    init(_ method: HTTPMethod, _ key: String?, query: [(String, String)] = [], body: ByteBuffer = ByteBuffer()) {
        (self.method, self.key, self.query, self.body) = (method, key, query.map { ($0.0, $0.1) }, body)
        var hash = SHA256()
        body.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        sum = S3Signature.hex(hash.finalize())
    }
}

extension S3Request {
    /// The bytes of a blob.
    /// - Parameter range: not empty; nil for all of them.
    static func bytes(of id: BlobID, _ range: Range<Int64>?) -> S3Request {
        var request = S3Request(.GET, S3BlobStore.key(id))
        if let range { request.headers = [("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")] }
        return request
    }
}

extension HTTPHeaders {
    /// Of the body that comes with them, or would; nil where that is not said, or cannot be.
    var contentLength: Int64? { first(name: "content-length").flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 } }
}

/// An answer that was read to its end.
struct S3Answer: Sendable {
    let headers: HTTPHeaders
    let body: ByteBuffer
    /// Whether an earlier try may have been done too: its answer was lost.
    let follows: Bool

    /// - Throws: `S3Failure`, for anything but such a document: an error with the status of a success, or a page of
    ///   some proxy's.
    func document(_ name: String) throws(S3Failure) -> S3Document.Element {
        guard let document = try? S3Document(body.readableBytesView) else {
            throw .untrue("something else than XML, where \(name) was to come")
        }
        if document.root.name == "Error" { throw S3Failure(status: 500, code: document.root["Code"] ?? "") }
        guard document.root.name == name else {
            throw .untrue("something else than \(name)")
        }
        return document.root
    }
}

/// Sends signed requests to one place, again where that may help.
///
/// It follows no redirect. No URL, error or log has anything of the credentials: what goes over the wire is a
/// signature.
final class S3Client: Sendable {
    let place: S3Place
    private let client: HTTPClient
    private let load: @Sendable () throws -> S3Credentials
    private let known: Mutex<S3Credentials>
    let settings: Settings

    struct Settings: Sendable {
        /// How long it waits for a connection.
        var connect: Duration = .seconds(10)
        /// Without a byte in either direction.
        var idle: Duration = .seconds(30)
        /// Until an answer begins.
        var answer: Duration = .seconds(300)
        /// Before each further try.
        var pauses: [Duration] = [.milliseconds(100), .milliseconds(400), .seconds(1), .seconds(3)]
        /// How many objects a page of a list has at most; S3 gives no more than a thousand.
        var page = 1_000
    }

    private static let mostAnswerBytes = 8 << 20
    private static let mostConnections = 256

    /// - Parameter credentials: asked at first, and again when the store lets them in no more.
    init(
        _ place: S3Place, settings: Settings, credentials: @escaping @Sendable () throws -> S3Credentials
    ) throws {
        (self.place, self.settings, load) = (place, settings, credentials)
        known = Mutex(try credentials())
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // Whoever answers over HTTP/2 could end this process by a status that is none.
        configuration.httpVersion = .http1Only
        configuration.decompression = .disabled
        configuration.timeout = .init(
            connect: TimeAmount(settings.connect), read: TimeAmount(settings.idle), write: TimeAmount(settings.idle))
        // It tries again by itself, and tells then.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.mostConnections
        if let file = place.authorityFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.file(file)]
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    func close() async { try? await client.shutdown() }

    /// The whole answer, of a success.
    /// - Throws: `S3Failure`, `CancellationError`.
    func send(_ request: S3Request) async throws -> S3Answer {
        try await trying { credentials, follows in
            let response = try await self.begin(request, credentials)
            return S3Answer(
                headers: response.headers, body: try await self.collect(response), follows: follows)
        }
    }

    /// The answer's beginning, of a success: its body is read as it is asked for.
    /// - Throws: `S3Failure`, `CancellationError`.
    func open(_ request: S3Request) async throws -> HTTPClientResponse {
        try await trying { credentials, _ in try await self.begin(request, credentials) }
    }

    /// Waits a little before each further try, so that many do not come at once.
    func pause(_ number: Int) async throws {
        let pause = settings.pauses[min(number, settings.pauses.count - 1)]
        try await Task.sleep(for: pause * Double.random(in: 0.5...1.5))
    }

    /// How often something is tried again.
    var repetitions: Int { settings.pauses.count }

    // MARK: One try

    private func trying<T: Sendable>(
        _ body: @Sendable (_ credentials: S3Credentials, _ follows: Bool) async throws -> T
    ) async throws -> T {
        var (tries, follows, hasReloaded) = (0, false, false)
        while true {
            let used = known.withLock { $0 }
            do { return try await body(used, follows) } catch var failure as S3Failure {
                failure.follows = follows
                if failure.isOfCredentials, !hasReloaded, reloaded(insteadOf: used) {
                    hasReloaded = true
                    continue
                }
                guard failure.mayPass, tries < repetitions else { throw failure }
                try await pause(tries)
                (tries, follows) = (tries + 1, true)
            }
        }
    }

    /// Whether there are others than those that were refused: another request may have found them before.
    private func reloaded(insteadOf used: S3Credentials) -> Bool {
        if known.withLock({ $0 != used }) { return true }
        guard let new = try? load(), new != used else { return false }
        known.withLock { $0 = new }
        return true
    }

    private func begin(_ request: S3Request, _ credentials: S3Credentials) async throws -> HTTPClientResponse {
        let response: HTTPClientResponse
        let (signed, timeout) = (signed(request, credentials), TimeAmount(settings.answer))
        do { response = try await client.execute(signed, timeout: timeout) } catch {
            throw try Self.failure(error)
        }
        let status = Int(response.status.code)
        guard !(200..<300).contains(status) else { return response }
        // An error's body says more, where it is one.
        let body = try await collect(response)
        let document = try? S3Document(body.readableBytesView)
        let code = document?.root.name == "Error" ? document?.root["Code"] : nil
        // No body comes with what HEAD does not find. Of anything else a 404 without a code is some proxy's.
        let isMissing = request.method == .HEAD && status == 404
        throw S3Failure(status: status, code: code ?? (isMissing ? "NoSuchKey" : ""))
    }

    private func collect(_ response: HTTPClientResponse) async throws -> ByteBuffer {
        do { return try await response.body.collect(upTo: Self.mostAnswerBytes) } catch is NIOTooManyBytesError {
            throw S3Failure.untrue("more than \(Self.mostAnswerBytes) bytes")
        } catch {
            throw try Self.failure(error)
        }
    }

    /// What became of the connection; a task that is cancelled is another matter.
    static func failure(_ error: any Error) throws -> S3Failure {
        if let failure = error as? S3Failure { return failure }
        if Task.isCancelled || error is CancellationError { throw CancellationError() }
        return S3Failure(.unreachable("\(error)"))
    }

    private func signed(_ request: S3Request, _ credentials: S3Credentials) -> HTTPClientRequest {
        let signature = S3Signature(credentials, region: place.region, time: Date())
        let path = request.key.map { place.root + place.prefix + $0 } ?? place.root
        var headers = request.headers
        headers += [("host", place.host), ("x-amz-content-sha256", request.sum), ("x-amz-date", signature.time)]
        if let token = credentials.sessionToken { headers.append(("x-amz-security-token", token)) }
        let authorization = signature.authorization(
            method: request.method.rawValue, path: path, query: request.query, headers: headers, payload: request.sum)
        let query = request.query.isEmpty ? "" : "?" + S3Signature.query(request.query)
        var result = HTTPClientRequest(url: "\(place.scheme)://\(place.host)\(path)\(query)")
        result.method = request.method
        for header in headers { result.headers.add(name: header.name, value: header.value) }
        result.headers.add(name: "authorization", value: authorization)
        result.headers.add(name: "user-agent", value: "sealkit/1")
        if request.body.readableBytes > 0 || [.PUT, .POST].contains(request.method) {
            result.body = .bytes(request.body)
        }
        return result
    }
}
