import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import SealWire
import SwiftProtobuf
import Synchronization

/// Somebody's web server, on loopback: keeps what comes, answers what the test says.
final class WebhookReceiver: Sendable {
    struct Delivery: Sendable {
        let path: String
        let signature: String?
        let authorization: String?
        let body: Data
        var message: Sealkit_V1_WebhookDelivery { get throws { try Sealkit_V1_WebhookDelivery(jsonUTF8Bytes: body) } }
    }

    private struct State {
        var deliveries: [Delivery] = []
        var answers: [HTTPResponse.Status] = []
        var isHolding = false
    }
    private let state = Mutex(State())
    let origin: String

    private init(origin: String) { self.origin = origin }

    /// What the next requests are answered with; 200 after that.
    func answer(_ statuses: [HTTPResponse.Status]) { state.withLock { $0.answers = statuses } }

    /// Keeps whoever comes waiting for an answer.
    func hold(_ isHolding: Bool) { state.withLock { $0.isHolding = isHolding } }

    var count: Int { state.withLock(\.deliveries.count) }

    /// Waits until so many requests came, and returns the last of them.
    func delivery(_ count: Int) async throws -> Delivery {
        for _ in 0..<3_000 {
            if let found = state.withLock({ $0.deliveries.count >= count ? $0.deliveries[count - 1] : nil }) {
                return found
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw TestFailure("delivery \(count) did not come")
    }

    private func take(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 22)
        let signature = HTTPField.Name("SealKit-Signature").flatMap { request.headers[$0] }
        let status = state.withLock { state in
            state.deliveries.append(
                Delivery(
                    path: request.uri.path, signature: signature, authorization: request.headers[.authorization],
                    body: Data(buffer: body)))
            return state.answers.isEmpty ? .ok : state.answers.removeFirst()
        }
        while state.withLock(\.isHolding) { try await Task.sleep(for: .milliseconds(10)) }
        // A redirect leads back here: following it would show as one more request.
        return Response(status: status, headers: status.kind == .redirection ? [.location: origin + "/elsewhere"] : [:])
    }

    static func with(_ body: @Sendable (WebhookReceiver) async throws -> Void) async throws {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let made = Mutex<WebhookReceiver?>(nil)
        let router = Router()
        router.post("**") { request, _ in
            guard let receiver = made.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
            return try await receiver.take(request)
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            for await port in ports {
                let receiver = WebhookReceiver(origin: "http://127.0.0.1:\(port)")
                made.withLock { $0 = receiver }
                try await body(receiver)
                break
            }
            group.cancelAll()
        }
    }
}
