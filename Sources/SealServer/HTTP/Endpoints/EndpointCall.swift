import Hummingbird
import SealService
import SealStatements

/// A request that was let in: what a handler knows of it beside its message.
protocol EndpointCall: Sendable {
    var request: Request { get }
    var context: SealRequestContext { get }
}

/// Somebody's; also the operator's, and of whoever shows a ticket in the message.
struct OpenCall: EndpointCall {
    let request: Request
    let context: SealRequestContext
}

/// An account's.
struct SessionCall: EndpointCall {
    let request: Request
    let context: SealRequestContext
    let session: Session
}

/// An account's, in a container's environment.
struct ContainerCall: EndpointCall {
    let request: Request
    let context: SealRequestContext
    let session: Session
    let container: String
    let environment: SealStatements.Environment
}

/// An account's or a server-to-server key's, in a database that takes the request.
struct DatabaseCall: EndpointCall {
    let request: Request
    let context: SealRequestContext
    let session: Session
    let path: DatabasePath
}

/// The same, but that it may be nobody's in the public database.
struct VisitorCall: EndpointCall {
    let request: Request
    let context: SealRequestContext
    let session: Session?
    let path: DatabasePath
}

/// Of who manages a container.
struct ManagementCall: EndpointCall {
    let request: Request
    let context: SealRequestContext
    let container: String
    let environment: SealStatements.Environment
}
