import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Stands between an engine and PostgreSQL's socket, and cuts a connection in the middle of what is said on it.
final class CuttingProxy: Sendable {
    enum Direction: CaseIterable { case toServer, fromServer }

    struct Cut {
        let direction: Direction
        /// Bytes that still pass.
        var bytes: Int
        /// The server does not notice: its end stays open, as where a network is cut.
        let isSilent: Bool
    }

    private struct State {
        var cut: Cut?
        var passed: [Direction: Int] = [:]
        var open: [any Channel] = []
    }

    private let state = Mutex(State())
    private let socket: String
    private let folder: String
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// - Parameter socket: the folder of PostgreSQL's.
    init(to socket: String) async throws {
        self.socket = socket + "/.s.PGSQL.5432"
        // Sockets have short paths.
        folder = "/tmp/sealkit-cut-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let listener = try await ServerBootstrap(group: group)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: false)
            .childChannelInitializer { client in self.connect(client) }
            .bind(unixDomainSocketPath: folder + "/.s.PGSQL.5432").get()
        state.withLock { $0.open.append(listener) }
    }

    /// For `host=` of a URL.
    var host: String { folder }

    /// Cuts the next connection of which so much has passed in that direction from now on.
    func arm(_ cut: Cut?) {
        state.withLock { state in
            state.cut = cut
            state.passed = [:]
        }
    }

    var hasCut: Bool { state.withLock { $0.cut == nil } }

    /// Bytes that have passed since it was armed last.
    func passed(_ direction: Direction) -> Int { state.withLock { $0.passed[direction] ?? 0 } }

    func stop() async throws {
        let open = state.withLock { $0.open }
        for channel in open { try? await channel.close() }
        try await group.shutdownGracefully()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func connect(_ client: any Channel) -> EventLoopFuture<Void> {
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .connect(unixDomainSocketPath: socket)
            .flatMap { server in
                self.state.withLock { $0.open += [client, server] }
                return client.eventLoop.makeCompletedFuture {
                    let pair = Pair(client: client, server: server)
                    try client.pipeline.syncOperations.addHandler(Half(.toServer, pair, self))
                    try server.pipeline.syncOperations.addHandler(Half(.fromServer, pair, self))
                }.flatMap {
                    client.setOption(.autoRead, value: true).and(server.setOption(.autoRead, value: true)).map { _ in }
                }
            }
    }

    /// - Returns: how many of these bytes pass; the cut that they end with, if they do.
    private func take(_ count: Int, _ direction: Direction) -> (bytes: Int, cut: Cut?) {
        state.withLock { state in
            guard var cut = state.cut, cut.direction == direction else {
                state.passed[direction, default: 0] += count
                return (count, nil)
            }
            let bytes = min(count, cut.bytes)
            state.passed[direction, default: 0] += bytes
            cut.bytes -= bytes
            state.cut = bytes < count ? nil : cut
            return (bytes, bytes < count ? cut : nil)
        }
    }

    private struct Pair {
        let client: any Channel
        let server: any Channel
    }

    private final class Half: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let direction: Direction
        private let pair: Pair
        private let proxy: CuttingProxy
        private var isCut = false

        init(_ direction: Direction, _ pair: Pair, _ proxy: CuttingProxy) {
            (self.direction, self.pair, self.proxy) = (direction, pair, proxy)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isCut else { return }
            var buffer = unwrapInboundIn(data)
            let (bytes, cut) = proxy.take(buffer.readableBytes, direction)
            let peer = direction == .toServer ? pair.server : pair.client
            if let passing = buffer.readSlice(length: bytes) { peer.writeAndFlush(passing, promise: nil) }
            guard let cut else { return }
            isCut = true
            if !cut.isSilent { pair.server.close(promise: nil) }
            proxy.silence(pair, cut)
        }

        func channelInactive(context: ChannelHandlerContext) {
            let peer = direction == .toServer ? pair.server : pair.client
            if !proxy.isSilenced(peer) { peer.close(promise: nil) }
            context.fireChannelInactive()
        }
    }

    private let silenced = Mutex<Set<ObjectIdentifier>>([])

    private func silence(_ pair: Pair, _ cut: Cut) {
        if cut.isSilent { silenced.withLock { _ = $0.insert(ObjectIdentifier(pair.server)) } }
        pair.client.close(promise: nil)
    }

    private func isSilenced(_ channel: any Channel) -> Bool {
        silenced.withLock { $0.contains(ObjectIdentifier(channel)) }
    }
}
