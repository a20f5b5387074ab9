import NIOCore
import NIOTLS

/// Closes a connection whose TLS handshake takes too long, or is not done when the server stops. What else would do
/// that joins a connection with HTTP, once it is known which version of that both speak.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// From when the connection was accepted.
    static let patience: TimeAmount = .seconds(15)

    private var closing: Scheduled<Void>?

    func handlerAdded(context: ChannelHandlerContext) {
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if event is ChannelShouldQuiesceEvent {
            context.close(promise: nil)
        } else if case .handshakeCompleted? = event as? TLSUserEvent {
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
    }
}
