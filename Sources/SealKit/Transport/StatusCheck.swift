import NIOCore
import NIOHPACK
import NIOHTTP2

/// Fails an exchange over HTTP/2 whose status is none: three digits, as HTTP/1's parser insists on by itself. What
/// reads it next takes any number, and a program ends that makes a status of a negative one.
final class StatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    struct NoStatus: Error {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .headers(let frame) = unwrapInboundIn(data),
            let status = frame.headers.first(name: ":status"), !Self.isStatus(status)
        {
            context.fireErrorCaught(NoStatus())
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    private static func isStatus(_ text: String) -> Bool {
        let digits = text.utf8
        guard digits.count == 3, let first = digits.first else { return false }
        return (UInt8(ascii: "1")...UInt8(ascii: "5")).contains(first)
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
