import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// What each route refuses, for all of them alike: wrong methods, no session, wrong types, damaged and oversized
/// bodies, and paths that lead nowhere. None of it reaches the database, makes the server fail, or shows in its log.
@Suite(.timeLimit(.minutes(60))) struct RefusalTableTests {
    func withServer(
        _ body: @escaping @Sendable (RefusalClient, RunningServer, StatementCounter) async throws -> Void
    ) async throws {
        let counter = StatementCounter()
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger, counter: counter) { server in
            let anna = try await Person.ready(server)
            _ = try await anna.makeZone()
            // From now on the session is remembered.
            _ = try await anna.client.me()
            let file = server.folder.file("data.secrets/" + ManagementTokens.fileName)
            let operatorToken = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").first
            let client = RefusalClient(
                origin: server.origin, token: anna.client.token, managementToken: String(operatorToken ?? ""))
            try await body(client, server, counter)
        }
        #expect(!log.lines.contains { $0.contains("canary") || $0.contains("request failed") })
    }

    /// Runs what may not reach the database.
    private func withoutStatements(
        _ counter: StatementCounter, _ what: String, _ body: () async throws -> Void
    ) async throws {
        let before = counter.count
        try await body()
        #expect(counter.count == before, "\(what) reached the database")
    }

    private var messages: [(route: RefusalRoute, sample: any Message)] {
        RefusalTable.routes.compactMap { route in route.sample.map { (route, $0) } }
    }

    @Test func everyRouteIsInTheTable() async throws {
        try await withServer { _, server, _ in
            let served = Set(server.routes.map { "\($0.method) \($0.path)" })
            let listed = RefusalTable.routes.map { "\($0.method) \($0.path)" }
            #expect(Set(listed).count == listed.count)
            #expect(served.subtracting(listed) == [], "add these to Endpoints")
            #expect(Set(listed).subtracting(served) == [], "these are gone")
            #expect(RefusalTable.misfits == [], "add samples of these to RefusalTable")
        }
    }

    @Test func otherMethods() async throws {
        try await withServer { client, server, counter in
            let taken = Dictionary(grouping: RefusalTable.routes, by: \.path).mapValues { Set($0.map(\.method)) }
            try await withoutStatements(counter, "a wrong method") {
                for (path, methods) in taken {
                    let filled = try #require(RefusalTable.routes.first { $0.path == path }).filled()
                    for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] where !methods.contains(method) {
                        let answer = try await client.send(method, filled)
                        RefusalClient.check(answer, 405, .invalidArguments, "\(method) \(path)")
                        for right in methods { #expect(answer.failure?.remedy.contains(right) == true) }
                    }
                }
                for path in [
                    "/", "/1", "/canary", "/database/1/a/development/private/records/canary", "/health/canary",
                ] {
                    RefusalClient.check(try await client.send("GET", path), 404, .invalidArguments, path)
                }
            }
        }
    }

    @Test func noSession() async throws {
        try await withServer { client, _, counter in
            for route in RefusalTable.routes {
                if case .open = route.access { continue }
                let isManaged = if case .management = route.access { true } else { false }
                var body: HTTPClientRequest.Body?
                if let sample = route.sample {
                    body = .bytes(ByteBuffer(bytes: try sample.serializedBytes() as [UInt8]))
                }
                if case .upload = route.content { body = .bytes(ByteBuffer(string: "canary")) }
                var stranger = client
                for (token, code) in [
                    ("", ErrorCode.notAuthenticated), ("canary", .sessionExpired),
                    (String(repeating: "c", count: 10_000), .sessionExpired),
                    ("é", .sessionExpired),
                ] {
                    stranger.token = token
                    // Whoever manages is told alike, whatever the token was.
                    let code = isManaged ? .notAuthenticated : code
                    try await withoutStatements(counter, route.path) {
                        let answer = try await stranger.send(
                            route.method, route.filled(), type: RefusalClient.protobuf, body)
                        RefusalClient.check(answer, 401, code, route.path)
                        #expect(answer.headers.first(name: "WWW-Authenticate") == "Bearer")
                    }
                }
            }
        }
    }

    @Test func otherContentTypes() async throws {
        try await withServer { client, _, counter in
            try await withoutStatements(counter, "a wrong content type") {
                for (route, sample) in messages {
                    let bytes = try sample.serializedBytes() as [UInt8]
                    for type in [nil, "", "text/plain", "application/x-protobuf2", "multipart/form-data", "canary"] {
                        let answer = try await client.permitted(route).send(
                            route.method, route.filled(), type: type, .bytes(ByteBuffer(bytes: bytes)))
                        RefusalClient.check(answer, 400, .invalidArguments, "\(type ?? "no type") at \(route.path)")
                    }
                }
            }
        }
    }

    @Test func damagedBodies() async throws {
        try await withServer { client, _, counter in
            let nested = String(repeating: #"{"zone":"#, count: 20_000)
            let arrays = String(repeating: "[", count: 100_000)
            try await withoutStatements(counter, "a damaged body") {
                for (route, sample) in messages {
                    let binary = try sample.serializedBytes() as [UInt8]
                    let json = Array(try sample.jsonUTF8Bytes() as [UInt8])
                    for bytes in [
                        binary.isEmpty ? [0x08] : Array(binary.dropLast()), [0xff],
                        [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], Array("canary".utf8), [0x0b],
                        [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
                        [UInt8](repeating: 0x0b, count: 100_000),
                    ] {
                        let answer = try await client.permitted(route).send(
                            route.method, route.filled(), type: RefusalClient.protobuf, bytes: bytes)
                        RefusalClient.check(answer, 400, .invalidArguments, "\(bytes.prefix(20)) at \(route.path)")
                    }
                    let words = ["{", #"{"canary":1}"#, "[]", "1", #""canary""#, "null", nested, arrays]
                    let cut: [[UInt8]] = [Array(json.dropLast()), [], json + json, [0x7b, 0xff, 0xfe, 0x7d]]
                    for bytes in cut + words.map({ Array($0.utf8) }) {
                        let answer = try await client.permitted(route).send(
                            route.method, route.filled(), type: RefusalClient.json, bytes: bytes)
                        RefusalClient.check(
                            answer, 400, .invalidArguments,
                            "\(String(decoding: bytes.prefix(20), as: UTF8.self)) at \(route.path)")
                    }
                }
            }
        }
    }

    @Test func oversizedBodies() async throws {
        try await withServer { client, server, counter in
            let limit = server.services.configuration.maximumMessageSize
            let large = ByteBuffer(repeating: 0, count: limit + 1)
            try await withoutStatements(counter, "an oversized body") {
                for (route, _) in messages {
                    // Without a session it is less; only where a schema may come do management tokens make a
                    // difference.
                    let isKnown = route.path.hasPrefix("/1/management-tokens") == false
                    let limit = isKnown ? limit : RateMiddleware.strangersMessage
                    for body in [HTTPClientRequest.Body.bytes(large), .stream([large].asAsyncStream, length: .unknown)]
                    {
                        let answer = try await client.permitted(route).send(
                            route.method, route.filled(), type: RefusalClient.protobuf, body)
                        RefusalClient.check(answer, 413, .limitExceeded, route.path)
                        #expect(answer.failure?.reason.contains("\(limit)") == true)
                    }
                }
            }
        }
    }

    @Test func pathsThatNameNothing() async throws {
        try await withServer { client, _, counter in
            try await withoutStatements(counter, "a wrong path") {
                for route in RefusalTable.routes where route.path.contains("{container}") {
                    let client = client.permitted(route)
                    var body: HTTPClientRequest.Body?
                    if let sample = route.sample {
                        body = .bytes(ByteBuffer(bytes: try sample.serializedBytes() as [UInt8]))
                    }
                    if case .upload = route.content { body = .bytes(ByteBuffer(string: "canary")) }
                    for (values, code) in [
                        (["container": "canary%20x"], ErrorCode.badContainer), (["container": "a%00b"], .badContainer),
                        (["container": "a%2Fb"], .badContainer), (["container": "%zz"], .badContainer),
                        (["container": "%C3%A9"], .badContainer),
                        (["container": String(repeating: "a", count: 256)], .badContainer),
                        (["environment": "canary"], .invalidArguments),
                        (["environment": "Production"], .invalidArguments),
                        (["database": "canary"], .badDatabase), (["database": "private%00"], .badDatabase),
                    ] {
                        guard values["database"] == nil || route.path.contains("{database}") else { continue }
                        let answer = try await client.send(
                            route.method, route.filled(values), type: RefusalClient.protobuf, body)
                        RefusalClient.check(answer, 400, code, "\(values) at \(route.path)")
                    }
                    // What is no UTF-8 is no path.
                    RefusalClient.check(
                        try await client.send(
                            route.method, route.filled(["container": "%ff"]), type: RefusalClient.protobuf, body),
                        404, .invalidArguments, route.path)
                    guard route.path.contains("{id}") else { continue }
                    for values in [
                        ["id": "canary"], ["id": String(repeating: "A", count: 32)],
                        ["id": String(repeating: "0", count: 33)],
                        ["id": "..%2F..%2Fcanary"], ["id": String(repeating: "0", count: 31) + "%00"],
                        ["zone": "a%00b"], ["zone": String(repeating: "z", count: 256)], ["zone": "%C3%A9"],
                        ["owner": "a%0Ab"], ["owner": String(repeating: "o", count: 256)],
                    ] {
                        let answer = try await client.send(route.method, route.filled(values), body)
                        RefusalClient.check(answer, 400, .invalidArguments, "\(values) at \(route.path)")
                    }
                }
            }
        }
    }

    @Test func uploadsOfNoLengthOrTooMuch() async throws {
        try await withServer { client, server, counter in
            let upload = RefusalTable.routes.first { if case .upload = $0.content { true } else { false } }
            let path = try #require(upload).filled()
            try await withoutStatements(counter, "an upload without room") {
                let parts = [ByteBuffer(string: "canary")]
                RefusalClient.check(
                    try await client.send("PUT", path, .stream(parts.asAsyncStream, length: .unknown)), 411,
                    .invalidArguments,
                    "no length")
                RefusalClient.check(try await client.send("PUT", path), 411, .invalidArguments, "nothing")
                let most = server.services.configuration.maximumAssetSize
                // It is refused before its bytes come: these never do.
                let (never, continuation) = AsyncStream<ByteBuffer>.makeStream()
                let answer = try await client.send("PUT", path, .stream(never, length: .known(most + 1)))
                RefusalClient.check(answer, 413, .limitExceeded, "too much")
                continuation.finish()
            }
        }
    }
}
