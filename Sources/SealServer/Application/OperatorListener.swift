import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SealService
import SealStorage
import SealWire

/// The operator's listener: an address, and so an origin, of its own, which clients never see. It serves the routes of
/// `Endpoints.operatorFamily`, below `/1/operator`; everything else is free for what an operator looks at in a browser.
///
/// On this machine's own addresses it speaks plain HTTP; on others TLS, with the server's certificate.
struct OperatorListener {
    let address: ListenAddress
    let services: Services
    let http: HTTPServerBuilder

    /// - Parameter onRunning: called once with the actual address.
    /// - Throws: `UnservedEndpoints`.
    func service(onRunning: @escaping @Sendable (ListenAddress) -> Void) throws -> some ApplicationProtocol {
        let logger = services.logger
        return Application(
            responder: try responder(), server: http,
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { [address] channel in
                let actual = ListenAddress(host: address.host, port: channel.localAddress?.port ?? address.port)
                logger.notice("the operator's listener listens", metadata: ["operator": "\(actual)"])
                onRunning(actual)
            },
            logger: logger)
    }

    private func responder() throws -> RouteResponder {
        let endpoints = EndpointRouter(services.door)
        Controllers.addOperatorRoutes(to: endpoints, services)
        try endpoints.requireWhole(Endpoints.operatorFamily.routes)
        let notes = RequestNotes(metrics: services.metrics, recorder: nil)
        return RouteResponder(endpoints.routes, whenAnswered: notes.take) {
            FailureMiddleware(routes: endpoints.routes, metrics: services.metrics)
            OperatorMiddleware(transfers: services.transfers)
            WireVersionMiddleware()
        }
    }
}
