import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import SealPrimitives
import Synchronization

/// An S3 store in memory, on loopback, that a test lets lie: it looks at no signature, and answers what the script says
/// in the place of what is so.
final class ScriptedStore: Sendable {
    struct Call: Sendable {
        let method: HTTPMethod
        /// Below the bucket; empty for itself.
        let key: String
        let query: [String: String]
        let headers: HTTPHeaders
        let body: [UInt8]

        /// `PUT`, `PUT part`, `POST uploads`, `POST upload`, `GET list`, …
        var name: String {
            let what = ["partNumber": "part", "uploads": "uploads", "uploadId": "upload", "list-type": "list"]
            let found = ["partNumber", "uploads", "uploadId", "list-type"].first { query[$0] != nil }
            return method.rawValue + (found.flatMap { what[$0] }.map { " " + $0 } ?? "")
        }
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body: [UInt8] = []
        /// After so many bytes of the body the connection ends.
        var cutAfter: Int?
        var delay: TimeAmount?

        init(_ status: Int = 200, _ headers: [String: String] = [:], _ body: [UInt8] = []) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }

        static func error(_ status: Int, _ code: String) -> Answer {
            Answer(status, [:], Array("<?xml version=\"1.0\"?><Error><Code>\(code)</Code></Error>".utf8))
        }

        func cut(after count: Int) -> Answer {
            var answer = self
            answer.cutAfter = count
            return answer
        }
    }

    /// Nil ends the connection without an answer. Calling the second argument does what was asked, and says what is so.
    typealias Script = @Sendable (_ call: Call, _ truly: () -> Answer) -> Answer?

    private struct Upload {
        let key: String
        var parts: [Int: [UInt8]] = [:]
    }

    private struct State {
        var objects: [String: [UInt8]] = [:]
        var uploads: [String: Upload] = [:]
        var calls: [Call] = []
        var keepsNames = true
        var script: Script = { $1() }
    }

    private let state = Mutex(State())
    private let isStopped = Atomic(false)
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup

    static let bucket = "scripted"

    init() async throws {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let made = Made()
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(made))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        made.store.withLock { $0 = self }
    }

    /// For handlers of connections, which there are once this is.
    private final class Made: Sendable { let store = Mutex<ScriptedStore?>(nil) }

    var url: String { "s3://\(Self.bucket)?endpoint=http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    /// Once: nobody answers for what has ended.
    func stop() async {
        guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        try? await channel.close()
        try? await group.shutdownGracefully()
    }

    /// Forgets what was called.
    func play(_ script: @escaping Script) {
        state.withLock {
            $0.script = script
            $0.calls = []
        }
    }

    /// Answers the calls of a name so, `times` times.
    func answer(_ name: String, _ times: Int = .max, doing: Bool = false, with answer: Answer?) {
        let left = Mutex(times)
        play { call, truly in
            guard call.name == name,
                left.withLock({ left in
                    defer { left = max(0, left - 1) }
                    return left > 0
                })
            else { return truly() }
            if doing { _ = truly() }
            return answer
        }
    }

    func forgetNames() { state.withLock { $0.keepsNames = false } }

    var calls: [Call] { state.withLock(\.calls) }
    func count(_ name: String) -> Int { calls.count { $0.name == name } }
    var keys: [String] { state.withLock { $0.objects.keys.filter { !$0.hasSuffix("sealkit") }.sorted() } }
    var uploadCount: Int { state.withLock(\.uploads.count) }
    func remove(_ key: String) { state.withLock { $0.objects[key] = nil } }
    func bytes(of key: String) -> [UInt8]? { state.withLock { $0.objects[key] } }
    func set(_ key: String, _ bytes: [UInt8]) { state.withLock { $0.objects[key] = bytes } }
    func losePart(_ number: Int) {
        state.withLock { state in for id in state.uploads.keys { state.uploads[id]?.parts[number] = nil } }
    }

    // MARK: What is so

    private func take(_ call: Call) -> Answer? {
        let script = state.withLock {
            $0.calls.append(call)
            return $0.script
        }
        return script(call) { state.withLock { Self.truth(of: call, in: &$0) } }
    }

    private static func xml(_ name: String, _ content: String) -> Answer {
        Answer(200, [:], Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<\(name)>\(content)</\(name)>".utf8))
    }

    private static let time = "<LastModified>\(Date().ISO8601Format())</LastModified>"

    /// Another one for other bytes: an upload is completed by those of the newest parts.
    private static func tag(_ number: Int, _ bytes: [UInt8]) -> String {
        "\"\(number)-\(bytes.hashValue)\""
    }

    private static func truth(of call: Call, in state: inout State) -> Answer {
        let (key, prefix) = (call.key, call.query["prefix"] ?? "")
        let upload = call.query["uploadId"] ?? ""
        switch call.name {
        case "GET list":
            let after = call.query["continuation-token"] ?? call.query["start-after"] ?? ""
            let found = state.objects.keys.filter { $0.hasPrefix(prefix) && $0 > after }.sorted()
            let page = found.prefix(call.query["max-keys"].flatMap { Int($0) } ?? 1_000)
            let rest = page.count < found.count ? page.last : nil
            return xml(
                "ListBucketResult",
                page.map { "<Contents><Key>\($0)</Key>\(time)</Contents>" }.joined()
                    + (rest.map {
                        "<IsTruncated>true</IsTruncated><NextContinuationToken>\($0)</NextContinuationToken>"
                    }
                        ?? ""))
        case "GET uploads":
            let found = state.uploads.filter { $0.value.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }
            return xml(
                "ListMultipartUploadsResult",
                found.map { id, upload in
                    "<Upload><Key>\(upload.key)</Key><UploadId>\(id)</UploadId>"
                        + "<Initiated>\(Date().ISO8601Format())</Initiated></Upload>"
                }.joined())
        case "POST uploads":
            let id = "upload-\(state.uploads.count)-\(UInt32.random(in: 0...UInt32.max))"
            state.uploads[id] = Upload(key: key)
            return xml("InitiateMultipartUploadResult", "<UploadId>\(id)</UploadId>")
        case "PUT part":
            guard state.uploads[upload]?.key == key, let number = call.query["partNumber"].flatMap({ Int($0) }) else {
                return .error(404, "NoSuchUpload")
            }
            state.uploads[upload]?.parts[number] = call.body
            return Answer(200, ["etag": tag(number, call.body)])
        case "GET upload":
            guard let parts = state.uploads[upload]?.parts else { return .error(404, "NoSuchUpload") }
            return xml(
                "ListPartsResult",
                parts.sorted { $0.key < $1.key }.map { number, bytes in
                    "<Part><PartNumber>\(number)</PartNumber>"
                        + "<ETag>\(tag(number, bytes).replacing("\"", with: "&quot;"))</ETag>"
                        + "<Size>\(bytes.count)</Size>\(time)</Part>"
                }.joined())
        case "POST upload":
            guard let found = state.uploads[upload], found.key == key else { return .error(404, "NoSuchUpload") }
            guard !state.keepsNames || call.headers["if-none-match"] != ["*"] || state.objects[key] == nil else {
                return .error(412, "PreconditionFailed")
            }
            let parts = String(decoding: call.body, as: UTF8.self).matches(
                of: /<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/
            ).map { (number: Int($0.1) ?? 0, tag: String($0.2)) }
            let named = parts.map(\.number)
            guard named == named.sorted(), Set(named).count == named.count, !named.isEmpty,
                parts.allSatisfy({ part in found.parts[part.number].map { tag(part.number, $0) } == part.tag }),
                named.dropLast().allSatisfy({ found.parts[$0, default: []].count >= 5 << 20 })
            else { return .error(400, "InvalidPart") }
            state.objects[key] = named.flatMap { found.parts[$0, default: []] }
            state.uploads[upload] = nil
            return xml("CompleteMultipartUploadResult", "<Key>\(key)</Key>")
        case "DELETE upload":
            return state.uploads.removeValue(forKey: upload) == nil ? .error(404, "NoSuchUpload") : Answer(204)
        case "PUT":
            guard !state.keepsNames || call.headers["if-none-match"] != ["*"] || state.objects[key] == nil else {
                return .error(412, "PreconditionFailed")
            }
            state.objects[key] = call.body
            return Answer(200, ["etag": "\"1\""])
        case "HEAD", "GET":
            guard let bytes = state.objects[key] else {
                return call.method == .HEAD ? Answer(404) : .error(404, "NoSuchKey")
            }
            guard let range = call.headers["range"].first?.wholeMatch(of: /bytes=(\d+)-(\d+)/), call.method == .GET,
                let first = Int(range.1), let last = Int(range.2)
            else { return Answer(200, ["content-length": "\(bytes.count)"], call.method == .HEAD ? [] : bytes) }
            guard first < bytes.count else { return .error(416, "InvalidRange") }
            let covered = first..<min(last + 1, bytes.count)
            return Answer(
                206, ["content-range": "bytes \(first)-\(covered.upperBound - 1)/\(bytes.count)"],
                Array(bytes[covered]))
        case "DELETE":
            state.objects[key] = nil
            return Answer(204)
        default: return .error(405, "MethodNotAllowed")
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let made: Made
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ made: Made) { self.made = made }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, [])
            case .body(let bytes): body += bytes.readableBytesView
            case .end:
                guard let head, let store = made.store.withLock({ $0 }) else { return context.close(promise: nil) }
                guard let answer = store.take(Self.call(head, body)) else { return context.close(promise: nil) }
                guard let delay = answer.delay else { return write(answer, to: head, context) }
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                context.eventLoop.scheduleTask(in: delay) {
                    let (handler, context) = bound.value
                    handler.write(answer, to: head, context)
                }
            }
        }

        private static func call(_ head: HTTPRequestHead, _ body: [UInt8]) -> Call {
            let parts = URLComponents(string: head.uri)
            let query = (parts?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
            let path = (parts?.path ?? "").dropFirst("/\(bucket)".count)
            return Call(
                method: head.method, key: String(path.drop { $0 == "/" }),
                query: Dictionary(query, uniquingKeysWith: { $1 }), headers: head.headers, body: body)
        }

        private func write(_ answer: Answer, to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
            var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status))
            for (name, value) in answer.headers { head.headers.add(name: name, value: value) }
            if !head.headers.contains(name: "content-length"), answer.status != 204 {
                head.headers.add(name: "content-length", value: "\(answer.body.count)")
            }
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            let bytes = request.method == .HEAD ? [] : answer.body.prefix(answer.cutAfter ?? answer.body.count)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
            if answer.cutAfter != nil {
                let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
                context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))).whenComplete { _ in
                    bound.value.close(promise: nil)
                }
            } else {
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
