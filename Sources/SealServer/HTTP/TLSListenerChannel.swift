import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL

/// A connection by TLS, with HTTP/2 where its client takes that: Hummingbird's, with a bound to its handshake.
struct TLSListenerChannel: ServerChildChannel {
    private let upgrade: HTTP2UpgradeChannel

    init(
        _ tls: TLSConfiguration, _ configuration: HTTP2UpgradeChannel.Configuration,
        responder: @escaping HTTPChannelHandler.Responder
    ) throws {
        upgrade = try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: configuration, responder: responder)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP2UpgradeChannel.Value> {
        upgrade.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            // Right behind it, where the end of the handshake is told.
            try pipeline.addHandler(
                HandshakeHandler(), position: .after(try pipeline.handler(type: NIOSSLServerHandler.self)))
            return value
        }
    }

    func handle(value: HTTP2UpgradeChannel.Value, logger: Logger) async {
        await upgrade.handle(value: value, logger: logger)
    }
}
