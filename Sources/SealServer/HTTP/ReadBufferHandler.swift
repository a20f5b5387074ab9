import NIOCore

/// Lets a connection keep one buffer that it reads into, of 64 KiB at most. It would keep up to four, as large as what
/// came on it once, for as long as it is open: a quarter of a megabyte for each connection that sent one asset.
final class ReadBufferHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    func handlerAdded(context: ChannelHandlerContext) {
        // A stream of HTTP/2 reads nothing itself: its connection does, which the listener's channel has accepted.
        let parent = context.channel.parent
        let connection = parent.flatMap { $0.parent == nil ? nil : $0 } ?? context.channel
        // A channel that is no socket's, as tests have them, knows no such option, and keeps no such buffers.
        connection.setOption(.maxMessagesPerRead, value: 1).whenComplete { _ in }
    }
}
