import Hummingbird
import SealService
import SealWire

/// `records/query`.
struct QueriesController: Sendable {
    let query: QueryRecords

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.records.query) { message, call in
            WrittenMessage(try await query.run(message, by: call.session, call.path))
        }
    }
}
