import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealLab
import SealSystem
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage
@testable import SealWire

/// Of no table: for what any message has in common.
private let echo = Endpoint<ByAnyone, Sealkit_V1_Failure, Sealkit_V1_Failure>(
    "echo", path: "echo/{id}", ByAnyone(), again: .read, work: .request, refusals: [], about: "")

@Suite(.timeLimit(.minutes(60))) struct ServerTests {
    let folder = TemporaryFolder()

    struct Unexpected: Error {}

    /// Starts a server with a few routes of its own, on a port that the system chooses.
    func withServer(
        maximumMessageSize: Int = 10_000, tls: ServerConfiguration.TLSFiles? = nil, logger: Logger? = nil,
        registry: MetricsRegistry? = nil,
        _ body: @Sendable (String) async throws -> Void
    ) async throws {
        let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
        let server = try await SealServer.Server(
            configuration: ServerConfiguration(
                dataFolder: folder.file("data"), listen: ListenAddress(host: "127.0.0.1", port: 0),
                publicOrigin: tls == nil ? nil : "https://notes.example.org", tls: tls,
                logLevel: ProcessInfo.processInfo.environment["SEALKIT_TEST_LOG"] == nil ? .critical : .debug,
                maximumMessageSize: maximumMessageSize),
            replacing: ServiceReplacements(logger: logger, metrics: registry),
            onRunning: { continuation.yield($0) }
        ) { routes, services in
            routes.add(.post, "/echo/{id}", name: "test") { request, context in
                try Response(try await request.message(of: echo, context, services.transactions), for: request)
            }
            routes.add(.get, "/fails", name: "test") { _, _ in throw Unexpected() }
            routes.add(.get, "/busy", name: "test") { _, _ in
                throw ServerError(.requestRateLimited, "Too many.", remedy: "Wait.", retryAfter: 1.2)
            }
            routes.add(.put, "/blob/{id}", name: "test") { request, context in
                guard let id = BlobID(context.pathParameters["id"] ?? "") else {
                    throw ServerError(.invalidArguments, "id")
                }
                let size = try await services.blobs.receive(
                    id, from: request.body, limit: services.configuration.maximumAssetSize)
                return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "\(size)")))
            }
            routes.add(.get, "/blob/{id}", name: "test") { _, context in
                guard let id = BlobID(context.pathParameters["id"] ?? "") else {
                    throw ServerError(.invalidArguments, "id")
                }
                let content = try await services.blobs.read(id, range: nil)
                return Response(
                    status: .ok,
                    body: ResponseBody(content, within: nil, services.transfers, on: context.channel))
            }
            routes.add(.get, "/breaks", name: "test") { _, context in
                // As a disk that loses what it had.
                let content = BlobContent(totalSize: 3 << 20, range: 0..<3 << 20) { offset, count in
                    guard offset == 0 else { throw Unexpected() }
                    return ByteBuffer(repeating: 0, count: count)
                }
                return Response(
                    status: .ok,
                    body: ResponseBody(content, within: nil, services.transfers, on: context.channel))
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            for await address in addresses {
                do {
                    try await body((tls == nil ? "http" : "https") + "://\(address)")
                } catch {
                    await server.shutDown()
                    throw error
                }
                break
            }
            await server.shutDown()
            try await group.waitForAll()
        }
        // Released: the folder can be used again.
        try DataFolderLock(folder: folder.file("data")).release()
    }

    struct Answer {
        let status: UInt
        let headers: [String: String]
        let body: Data
        func failure() throws -> Sealkit_V1_Failure {
            headers["content-type"] == "application/x-protobuf"
                ? try Sealkit_V1_Failure(serializedBytes: body) : try Sealkit_V1_Failure(jsonUTF8Bytes: body)
        }
    }

    func send(
        _ method: String, _ url: String, type: String? = nil, accept: String? = nil, body: HTTPClientRequest.Body? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .init(rawValue: method)
        if let type { request.headers.add(name: "Content-Type", value: type) }
        if let accept { request.headers.add(name: "Accept", value: accept) }
        request.body = body
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
        let data = Data(buffer: try await response.body.collect(upTo: 1 << 22))
        return Answer(
            status: response.status.code,
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }, body: data)
    }

    /// What `/health` reads itself is whole.
    @Test(.withDatabaseFile) func healthSaysThatTheDatabaseIsDamaged() async throws {
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder) { _ in }
        let path = folder.file("data/sealkit.sqlite")
        let database = try SQLiteFile(reading: path)
        let page = try database.read { connection in
            try connection.first("SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = 'record'") {
                try $0.int64("rootpage")
            }
        }
        database.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(try #require(page) - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        try await RunningServer.with(folder: folder) { server in
            await #expect(throws: StorageError.self) {
                try await server.services.database.read { connection in
                    try connection.rows("SELECT * FROM record") { try $0.text("name") }
                }
            }
            let health = try await send("GET", server.origin + "/health")
            #expect(health.status == 200)
            let parts = try JSONDecoder().decode([String: String].self, from: health.body)
            #expect(parts["status"] == "degraded" && parts["storage"] == "damaged")
        }
    }

    @Test func healthAndUnknownRoutes() async throws {
        try await withServer { origin in
            let health = try await send("GET", origin + "/health")
            #expect(health.status == 200)
            let parts = try JSONDecoder().decode([String: String].self, from: health.body)
            #expect(Set(parts.keys) == ["status", "version", "storage", "mail", "texts"])
            #expect(parts["status"] == "ok")
            #expect(parts["version"] == ServerVersion.current)
            #expect(parts["mail"] == "none")
            #expect(parts["texts"] == "none")
            // Of this machine's disk.
            #expect(parts["storage"].flatMap(FreeSpace.init(rawValue:)) != nil)

            let unknown = try await send("GET", origin + "/nothing?token=secret")
            #expect(unknown.status == 404)
            #expect(unknown.headers["content-type"] == "application/json")
            #expect(try unknown.failure().errorCode == .invalidArguments)
            let binary = try await send("GET", origin + "/nothing", accept: "application/x-protobuf")
            #expect(binary.headers["content-type"] == "application/x-protobuf")
            #expect(try binary.failure().errorCode == .invalidArguments)
            let method = try await send("DELETE", origin + "/echo/1")
            #expect(method.status == 405)
            #expect(try method.failure().remedy == "Use POST.")
        }
        #expect(FileStatus(path: folder.file("data"))?.mode == 0o700)
        #expect(FileStatus(path: folder.file("data.secrets"))?.mode == 0o700)
    }

    @Test func messagesInBothEncodings() async throws {
        try await withServer { origin in
            let message = Sealkit_V1_Failure(.zoneBusy, "ü", retryAfter: 2)
            let binary = try message.serializedBytes() as [UInt8]
            let json = Array(try message.jsonUTF8Bytes() as [UInt8])
            for (type, accept, bytes, answered) in [
                ("application/x-protobuf", nil, binary, "application/x-protobuf"),
                ("application/json; charset=utf-8", nil, json, "application/json"),
                ("application/json", "text/html, application/x-protobuf;q=0.5", json, "application/x-protobuf"),
            ] {
                let answer = try await send(
                    "POST", origin + "/echo/1", type: type, accept: accept, body: .bytes(ByteBuffer(bytes: bytes)))
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == answered)
                #expect(try answer.failure() == message)
            }
        }
    }

    @Test func whatCannotBeReadIsRefused() async throws {
        try await withServer { origin in
            let url = origin + "/echo/1"
            for type in [nil, "text/plain", "application/x-www-form-urlencoded"] {
                let answer = try await send("POST", url, type: type, body: .bytes(ByteBuffer(string: "{}")))
                #expect(answer.status == 400)
                #expect(try answer.failure().reason.contains(WireEncoding.acceptedTypes))
            }
            for (type, body) in [
                ("application/json", "{secret"), ("application/json", #"{"cod":"x"}"#),
                ("application/x-protobuf", "\u{ff}\u{ff}"),
            ] {
                let answer = try await send("POST", url, type: type, body: .bytes(ByteBuffer(string: body)))
                #expect(answer.status == 400)
                #expect(
                    try answer.failure().errorCode == .invalidArguments && !answer.failure().reason.contains("secret"))
            }
            let large = ByteBuffer(repeating: 0, count: 10_001)
            for body in [HTTPClientRequest.Body.bytes(large), .stream([large].asAsyncStream, length: .unknown)] {
                let answer = try await send("POST", url, type: "application/x-protobuf", body: body)
                #expect(answer.status == 413)
                #expect(try answer.failure().errorCode == .limitExceeded)
            }
        }
    }

    @Test func errorsTellWhatTheyMay() async throws {
        try await withServer { origin in
            let failed = try await send("GET", origin + "/fails")
            #expect(failed.status == 500)
            #expect(try failed.failure().errorCode == .internalError && !failed.failure().reason.contains("Unexpected"))
            let busy = try await send("GET", origin + "/busy")
            #expect(busy.status == 429)
            #expect(busy.headers["retry-after"] == "2")
            #expect(try busy.failure().retryAfter == 1.2)
            let missing = try await send("GET", origin + "/blob/abcdef0123456789")
            #expect(try missing.failure().errorCode == .assetNotAvailable)
        }
    }

    @Test func uploadsStream() async throws {
        try await withServer { origin in
            let url = origin + "/blob/abcdef0123456789"
            let content = ByteBuffer(bytes: (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let put = try await send("PUT", url, body: .bytes(content))
            #expect(String(decoding: put.body, as: UTF8.self) == "3000000")
            let got = try await send("GET", url)
            #expect(got.headers["content-length"] == "3000000")
            #expect(ByteBuffer(bytes: got.body) == content)
        }
    }

    /// Its client sees that it ends too early, and cannot know why: the log and the metrics have it.
    @Test func whatFailsOnItsWayOutIsLogged() async throws {
        let (log, registry) = (LogCapture(), MetricsRegistry())
        try await withServer(logger: log.logger, registry: registry) { origin in
            let response = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: origin + "/breaks"), timeout: .seconds(300))
            #expect(response.status == .ok)
            let body = try? await response.body.collect(upTo: 1 << 22)
            #expect(body == nil)
            try await waitUntil("it is logged") { log.lines.contains { $0.contains("request failed") } }
        }
        let failures = log.lines.filter { $0.contains("request failed") }
        let isWhole = failures.allSatisfy {
            $0.hasPrefix("error") && $0.contains("/breaks") && $0.contains("Unexpected")
        }
        #expect(failures.count == 1)
        #expect(isWhole, "\(failures)")
        #expect(PrometheusText.write(registry).contains(#"sealkit_failures_total{code="internalError"} 1"#))
    }

    /// Its own server could not open what root would make there.
    @Test(.enabled(if: geteuid() == 0)) func rootDoesNotServeAnotherUsersFolder() async throws {
        let path = folder.file("data")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(chown(path, 12_345, 23_456) == 0)
        await #expect(throws: ConfigurationError.dataOfAnotherUser(folder: path)) {
            try await SealServer.Server(
                configuration: ServerConfiguration(
                    dataFolder: path, listen: ListenAddress(host: "127.0.0.1", port: 0), logLevel: .critical))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
        #expect(!FileManager.default.fileExists(atPath: path + ".secrets"))
    }

    @Test func aSecondServerIsRefused() async throws {
        try await withServer { _ in
            await #expect(throws: DataFolderInUse.self) {
                try await SealServer.Server(configuration: ServerConfiguration(dataFolder: folder.file("data")))
            }
        }
    }

    func output(_ tool: String, _ arguments: [String]) async throws -> String {
        try await Command.finished(URL(fileURLWithPath: tool), arguments).output
    }

    private func makeCertificate(_ files: ServerConfiguration.TLSFiles) async throws {
        _ = try await output(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=127.0.0.1", "-addext",
                "subjectAltName=IP:127.0.0.1", "-out", files.certificate, "-keyout", files.key,
            ])
    }

    /// Neither one that has sent nothing, nor one in the middle of it: the server ends, and has let everything go.
    @Test func handshakesThatAreNotDoneDoNotHoldTheServer() async throws {
        let files = ServerConfiguration.TLSFiles(certificate: folder.file("c.pem"), key: folder.file("k.pem"))
        try await makeCertificate(files)
        let open = OpenConnections()
        try await withServer(tls: files) { origin in
            let port = try #require(URL(string: origin)?.port)
            for bytes in [[], [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00] as [UInt8]] {
                try open.begin(port, with: bytes)
            }
            // Those before it have been accepted.
            let health = try await output("/usr/bin/curl", ["-s", "--cacert", files.certificate, origin + "/health"])
            #expect(health.contains("ok"))
        }
        withExtendedLifetime(open) {}
    }

    /// Connections that nobody closes before the test's end.
    private final class OpenConnections: Sendable {
        private let kept = Mutex<[HTTPConnection]>([])

        func begin(_ port: Int, with bytes: [UInt8]) throws {
            try kept.withLock { kept in
                let connection = try HTTPConnection(port: port)
                try connection.send(bytes)
                kept.append(connection)
            }
        }
    }

    @Test func tlsBringsHTTP2() async throws {
        let files = ServerConfiguration.TLSFiles(certificate: folder.file("c.pem"), key: folder.file("k.pem"))
        await #expect(throws: ConfigurationError.missingFile(setting: "tls-certificate", path: files.certificate)) {
            try await SealServer.Server(
                configuration: ServerConfiguration(
                    dataFolder: folder.file("never"), publicOrigin: "https://notes.example.org", tls: files))
        }
        #expect(FileStatus(path: folder.file("never")) == nil)
        try await makeCertificate(files)
        try await withServer(tls: files) { origin in
            for version in ["2", "1.1"] {
                let answer = try await output(
                    "/usr/bin/curl",
                    [
                        "-s", "--http\(version)", "--cacert", files.certificate, "-w", " %{http_version}",
                        origin + "/health",
                    ])
                #expect(answer.hasPrefix(#"{"status":"ok","version":"\#(ServerVersion.current)","#))
                #expect(answer.hasSuffix(#""mail":"none","texts":"none"} \#(version)"#))
            }
            try Data(repeating: 3, count: 5_000_000).write(to: URL(fileURLWithPath: folder.file("big")))
            let put = try await output(
                "/usr/bin/curl",
                [
                    "-s", "--http2", "--cacert", files.certificate, "-T", folder.file("big"),
                    origin + "/blob/abcdef0123456789",
                ])
            #expect(put == "5000000")
        }
    }

    @Test func curlNeedNotWaitForContinue() async throws {
        try await withServer { origin in
            try Data(repeating: 3, count: 5_000_000).write(to: URL(fileURLWithPath: folder.file("big")))
            // `-D -` shows the interim answer as well, which comes before the body is read.
            let put = try await output(
                "/usr/bin/curl",
                [
                    "-s", "-D", "-", "-H", "Expect: 100-continue", "-T", folder.file("big"),
                    origin + "/blob/abcdef0123456789",
                ])
            #expect(put.hasPrefix("HTTP/1.1 100 Continue\r\n"))
            #expect(put.hasSuffix("5000000"))
        }
    }

    /// For measuring from outside: serves the test routes until interrupted.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["SEALKIT_SERVE"] != nil))
    func serve() async throws {
        try await withServer { origin in
            try origin.write(
                toFile: ProcessInfo.processInfo.environment["SEALKIT_SERVE"] ?? "", atomically: true, encoding: .utf8)
            try await Task.sleep(for: .seconds(40))
        }
    }
}

extension Array where Element: Sendable {
    var asAsyncStream: AsyncStream<Element> {
        AsyncStream { continuation in
            for element in self { continuation.yield(element) }
            continuation.finish()
        }
    }
}
