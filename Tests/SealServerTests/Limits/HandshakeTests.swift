import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

@testable import SealServer

/// What becomes of a connection whose TLS handshake is not done. `ServerTests` has a whole server stop beside some.
@Suite(.timeLimit(.minutes(60))) struct HandshakeTests {
    private let channel = EmbeddedChannel(handler: HandshakeHandler())

    init() throws { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil) }

    @Test func itHasItsTimeFromTheBeginning() throws {
        channel.embeddedEventLoop.advanceTime(by: .seconds(14))
        // What comes meanwhile is no handshake yet.
        try channel.writeInbound(ByteBuffer(bytes: [0x16]))
        let wasActive = channel.isActive
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(wasActive)
        #expect(!channel.isActive)
    }

    @Test func itEndsWhereTheServerStops() {
        let wasActive = channel.isActive
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(wasActive)
        #expect(!channel.isActive)
    }

    /// What comes after it is for others to judge.
    @Test func onceItIsDoneNothingIsClosed() {
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(channel.isActive)
    }
}
