import NIOCore
import NIOHTTPTypes

/// Closes the connection, or with HTTP/2 the stream, of a request that was answered before its body had come and whose
/// rest does not follow in time. Hummingbird waits for that rest as long as anything of it comes, to take the next
/// request; a byte now and then would keep the connection for ever. Closing at once would keep the client from reading
/// the answer (RFC 9112, 9.6).
final class LingerHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long the rest of a body may take once its request is answered.
    static let patience: TimeAmount = .seconds(15)

    /// Requests that have come whole less those that are answered: below zero while the rest of one is awaited.
    private var unanswered = 0
    private var closing: Scheduled<Void>?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) {
            unanswered += 1
            forget()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            unanswered -= 1
            if unanswered < 0 {
                closing = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
                    context.close(promise: nil)
                }
            }
        }
        context.write(data, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) { forget() }

    private func forget() {
        closing?.cancel()
        closing = nil
    }
}
