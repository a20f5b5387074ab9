import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// Sends what no client of ours would.
struct RefusalClient: Sendable {
    let origin: String
    var token = ""
    var managementToken = ""

    /// With the token that the route takes.
    func permitted(_ route: RefusalRoute) -> RefusalClient {
        guard case .management = route.access else { return self }
        return RefusalClient(origin: origin, token: managementToken)
    }

    struct Answer: Sendable {
        let status: UInt
        let headers: HTTPHeaders
        let body: Data

        var failure: Sealkit_V1_Failure? {
            headers.first(name: "content-type") == "application/x-protobuf"
                ? try? Sealkit_V1_Failure(serializedBytes: body) : try? Sealkit_V1_Failure(jsonUTF8Bytes: body)
        }
        var code: ErrorCode? { failure?.errorCode }
    }

    func send(
        _ method: String, _ path: String, type: String? = nil, _ body: HTTPClientRequest.Body? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: origin + path)
        request.method = HTTPMethod(rawValue: method)
        if let type { request.headers.add(name: "Content-Type", value: type) }
        if !token.isEmpty { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        request.body = body
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
        let data = Data(buffer: try await response.body.collect(upTo: 1 << 24))
        return Answer(status: response.status.code, headers: response.headers, body: data)
    }

    func send(_ method: String, _ path: String, type: String, bytes: some Sequence<UInt8> & Sendable) async throws
        -> Answer
    {
        try await send(method, path, type: type, .bytes(ByteBuffer(bytes: Array(bytes))))
    }

    func send(_ path: String, _ message: any Message) async throws -> Answer {
        try await send("POST", path, type: Self.protobuf, bytes: try message.serializedBytes() as [UInt8])
    }

    static let protobuf = "application/x-protobuf"
    static let json = "application/json"

    /// The answer is a whole failure: a code with its status, what was wrong, what to do; and nothing that was sent.
    static func check(
        _ answer: Answer, _ status: UInt, _ code: ErrorCode, _ what: String, location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            answer.status == status, "\(what): \(answer.status), \(answer.failure.debugDescription)",
            sourceLocation: location)
        #expect(
            answer.code == code, "\(what): \(answer.status), \(answer.failure.debugDescription)",
            sourceLocation: location)
        let failure = answer.failure ?? .init()
        #expect(!failure.reason.isEmpty, "\(what): \(failure)", sourceLocation: location)
        #expect(!failure.remedy.isEmpty, "\(what): \(failure)", sourceLocation: location)
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("canary"), "\(what)", sourceLocation: location)
    }
}
