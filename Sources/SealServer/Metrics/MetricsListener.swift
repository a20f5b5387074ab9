import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SealStorage

/// `GET /metrics` on an address of its own, and nothing else: the listener that clients reach has no such path.
struct MetricsListener: Sendable {
    let address: ListenAddress
    let registry: MetricsRegistry
    let metrics: ServerMetrics
    let logger: Logger

    /// - Parameter onRunning: called once with the actual address.
    func service(onRunning: @escaping @Sendable (ListenAddress) -> Void) -> some ApplicationProtocol {
        let router = Router(context: BasicRequestContext.self)
        router.get("metrics") { [registry, metrics] _, _ in
            metrics.collect()
            return Response(
                status: .ok,
                headers: [
                    .contentType: PrometheusText.mediaType, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: PrometheusText.write(registry))))
        }
        return Application(
            router: router,
            server: .http1(
                configuration: .init(additionalChannelHandlers: [LingerHandler()], idleTimeout: .seconds(120))),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { [address, logger] channel in
                let actual = ListenAddress(host: address.host, port: channel.localAddress?.port ?? address.port)
                logger.notice("metrics can be read", metadata: ["metrics": "\(actual)"])
                onRunning(actual)
            },
            logger: logger)
    }
}
