import Hummingbird
import SealService
import SealWire

/// Who is behind a user record name or a proven address: the keys that an invitation is sealed to.
struct DirectoryController: Sendable {
    let lookup: LookUpIdentities

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.people.lookup) { try await lookup.run($0, by: $1.session) }
    }
}
