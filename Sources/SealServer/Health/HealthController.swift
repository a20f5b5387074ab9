import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SealService
import SealStorage
import SealWire

/// `GET /health`: whether this server can serve, for load balancers and `docker healthcheck`, and beside it whether
/// codes go out, whether the disk has room, and whether the database is whole as far as it was looked at: a server
/// whose relay is out of order, or that can only be read from, serves all the same.
struct HealthController: Sendable {
    let transactions: Transactions
    let outbox: Outbox
    let dataFolder: String
    let damage: DatabaseDamage

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.server.health, raw: { try await health($0.request, $0.context) })
    }

    private func health(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        do {
            _ = try await transactions.read { try $0.exists("SELECT 1") }
        } catch {
            context.logger.error("the database cannot be read", metadata: ["error": "\(error)"])
            throw ServerError(.serviceUnavailable, "The server cannot read its database.", retryAfter: 10)
        }
        let states = outbox.states
        let space = FreeSpace(at: dataFolder)
        let storage = damage.isFound ? "damaged" : space.rawValue
        let (mail, texts) = (states[.email], states[.phone])
        let parts = "\"storage\":\"\(storage)\",\"mail\":\"\(mail)\",\"texts\":\"\(texts)\""
        // A word and not the HTTP status: it serves all the same.
        let status = damage.isFound || space == .full || [mail, texts].contains(.failing) ? "degraded" : "ok"
        return Response(
            status: .ok,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(
                byteBuffer: ByteBuffer(
                    string: "{\"status\":\"\(status)\",\"version\":\"\(ServerVersion.current)\",\(parts)}")))
    }
}
