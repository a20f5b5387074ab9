import NIOCore
import NIOPosix
import Testing

@testable import SealServer

@Suite(.timeLimit(.minutes(60))) struct ReadBufferTests {
    /// How often a connection that was accepted reads before it is the next one's turn: so many buffers it keeps.
    @Test func aConnectionKeepsOneBuffer() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let found = group.next().makePromise(of: UInt.self)
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { connection in
                connection.eventLoop.makeCompletedFuture {
                    try connection.pipeline.syncOperations.addHandler(ReadBufferHandler())
                    connection.getOption(.maxMessagesPerRead).cascade(to: found)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(listener.localAddress)
        let client = try await ClientBootstrap(group: group).connect(to: address).get()
        #expect(try await found.futureResult.get() == 1)
        try await client.close()
        try await listener.close()
    }
}
