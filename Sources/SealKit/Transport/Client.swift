import Foundation
import SealClient
import SealPrimitives
import SealWire
import SwiftProtobuf

/// Typed calls over a transport, repeated where that is safe.
struct Client: Sendable {
    let transport: any Transport
    let pacing: Pacing
    let throttles = Throttles()

    init(transport: any Transport, pacing: Pacing = .real) {
        self.transport = transport
        self.pacing = pacing
    }

    /// A call of nobody, or by a ticket in the message.
    func call<Access: RootAccess, Request: Message, Response: Message>(
        _ endpoint: Endpoint<Access, Request, Response>, _ request: Request
    ) async throws(SealKitError) -> Response {
        try await call(endpoint, at: endpoint.route.template, request, token: nil)
    }

    /// The operator's call.
    func call<Request: Message, Response: Message>(
        _ endpoint: Endpoint<Operating, Request, Response>, _ request: Request, token: String
    ) async throws(SealKitError) -> Response {
        try await call(endpoint, at: endpoint.route.template, request, token: token)
    }

    /// The same on the operator's listener.
    func call<Request: Message, Response: Message>(
        _ endpoint: Endpoint<OnOperatorListener, Request, Response>, _ request: Request, token: String
    ) async throws(SealKitError) -> Response {
        try await call(endpoint, at: endpoint.route.template, request, token: token)
    }

    /// A call with the token as it is: of no session, or of one that is not to be renewed.
    /// - Parameter path: the endpoint's, its parameters filled in.
    func call<Access, Request: Message, Response: Message>(
        _ endpoint: Endpoint<Access, Request, Response>, at path: String, _ request: Request, token: String?
    ) async throws(SealKitError) -> Response {
        let body = try Client.encode(request)
        return try await attempt(endpoint.route, endpoint.again.kind) { () async throws(SealKitError) in
            try Client.decode(try await transport.post(path, body: body, token: token))
        }
    }

    static func encode(_ request: some Message) throws(SealKitError) -> Data {
        do { return try request.serializedData() } catch {
            throw SealKitError(.internalError, "the request could not be encoded")
        }
    }

    static func decode<Response: Message>(_ response: TransportResponse) throws(SealKitError) -> Response {
        try response.require(.message)
        do {
            if response.body.count > Client.alwaysDecoded {
                _ = try DecodedSize.measure(Response.self, protobuf: response.body, most: Client.mostDecoded)
            }
            let answer = try Response(measured: response.body)
            try (answer as? any PagedAnswer)?.checkLength()
            return answer
        } catch let error as SealKitError {
            throw error
        } catch DecodedSize.Refusal.tooDense {
            throw tooDense
        } catch {
            throw SealKitError.noMessage
        }
    }

    /// The same by hand.
    static func read<Answer: WireMessage & PagedAnswer>(_ response: TransportResponse) throws(SealKitError) -> Answer {
        try response.require(.message)
        let answer: Answer
        do throws(SealError) { answer = try Answer(protobuf: [UInt8](response.body)) } catch {
            throw error == .invalidLength ? tooDense : SealKitError.noMessage
        }
        try answer.checkLength()
        return answer
    }

    private static let tooDense = SealKitError(
        .serverRejectedRequest, "the server's answer has more in it than any honest one has",
        remedy: "tell the server's operator; nothing of it was taken")

    /// What an answer may become in memory, in bytes.
    private static let mostDecoded = 512 << 20
    /// Bytes of an answer that stays below that whatever is in it: two become some 1,300 at most.
    private static let alwaysDecoded = 512 << 10
}

/// A fresh id for a mutation: 48 bits of milliseconds since 1970, high byte first, and 80 random bits. The time keeps
/// what a server stores together at one place of its index; nothing relies on it.
func newOperationID() -> Data {
    var random = SystemRandom()
    let milliseconds = UInt64(max(0, currentTime() / 1000))
    return Data((0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) } + random.bytes(10))
}

/// The clock of statements: microseconds since 1970.
func currentTime() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) + WallClock.offset }

/// For tests that move the clock.
enum WallClock {
    /// Microseconds.
    @TaskLocal static var offset: Int64 = 0
}
