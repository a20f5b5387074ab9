import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import SealServer

/// What becomes of the connection of a request that is answered before its body has come.
@Suite(.timeLimit(.minutes(60))) struct LingerTests {
    private let channel = EmbeddedChannel(handler: LingerHandler())

    init() throws { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil) }

    private func begin() throws {
        try channel.writeInbound(
            HTTPRequestPart.head(HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/1/a")))
    }

    private func sendOne() throws { try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(bytes: [0]))) }

    private func finish() throws { try channel.writeInbound(HTTPRequestPart.end(nil)) }

    private func answer() throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .requestTimeout)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test(
        "A request that is refused goes on sending its body, a byte now and then or without end: its connection is closed."
    )
    func attack92_aBodyThatGoesOnAfterItsAnswer() throws {
        try begin()
        try answer()
        for _ in 0..<14 {
            try sendOne()
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        let wasActive = channel.isActive
        try sendOne()
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(wasActive)
        #expect(!channel.isActive)
        AttackOutcome.held("closed 15 seconds after its answer")
    }

    @Test func theNextRequestIsServedWhereTheRestCameInTime() throws {
        try begin()
        try answer()
        try sendOne()
        try finish()
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        // This one's body takes its time before there is an answer: that is for others to judge.
        try begin()
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        try finish()
        try answer()
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        try begin()
        try answer()
        channel.embeddedEventLoop.advanceTime(by: .seconds(15))
        #expect(!channel.isActive)
    }

    @Test func whatIsSentBeforeTheFormerAnswerIsNoRest() throws {
        try begin()
        try finish()
        try begin()
        try answer()
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
    }
}
