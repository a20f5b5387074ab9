import Dispatch
import HTTPTypes
import Hummingbird
import NIOCore
import SealWire
import SwiftProtobuf

/// Requests: whatever comes to whichever route is answered, never with the server's own failure, and always readably.
///
/// The first byte chooses the route, the second how it is asked (`RequestShape`); the rest is the body.
enum RequestTarget: FuzzTarget {
    static let name = "requests"
    static let maximumLength = 16_384
    /// An answer may hold what the database has.
    static let allowance = 32 << 20
    static var seeds: [Seed] { RequestSeeds.all }

    static func run(_ input: [UInt8]) {
        let world = RequestWorld.shared
        var choices = Choices(input)
        let route = world.routes[Int(choices.byte()) % world.routes.count]
        let request = RequestShape(choices.byte()).request(to: route, choices.rest(), token: world.token)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await check(request, route)
            done.signal()
        }
        done.wait()
    }

    private static func check(_ request: Request, _ route: Route) async {
        do {
            let response = try await RequestWorld.shared.answer(request)
            let status = response.status.code
            require(status < 500, "\(route) answers with \(status)")
            let body = try await AnswerBody.collect(response)
            guard status >= 400, request.method != .head else { return }
            let failure =
                response.headers[.contentType] == "application/json"
                ? try Sealkit_V1_Failure(jsonUTF8Bytes: body) : try Sealkit_V1_Failure(serializedBytes: body)
            require(
                failure.errorCode != nil && !failure.reason.isEmpty, "\(route) answers \(status) without saying why")
        } catch {
            violated("\(route) throws \(type(of: error))")
        }
    }
}

/// An answer's body, all at once.
private enum AnswerBody {
    static func collect(_ response: Response) async throws -> [UInt8] {
        let kept = Kept()
        try await response.body.write(Writer(kept: kept))
        return kept.bytes
    }

    // Unchecked: one task writes, then reads.
    private final class Kept: @unchecked Sendable { var bytes: [UInt8] = [] }

    private struct Writer: ResponseBodyWriter {
        let kept: Kept
        mutating func write(_ buffer: ByteBuffer) async throws { kept.bytes += buffer.readableBytesView }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
