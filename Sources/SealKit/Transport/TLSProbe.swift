import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Looks at what answers at an address to which no connection came about, for the error to say why. It begins a
/// handshake and never ends it: whoever answers gets nothing of the user's, and what it shows is good for a text only.
enum TLSProbe {
    private static let patience = TimeAmount.seconds(3)

    /// It trusts nobody, as it verifies nothing: no file of authorities is read for it.
    private static let context: NIOSSLContext? = {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([])
        return try? NIOSSLContext(configuration: configuration)
    }()

    /// - Parameter origin: scheme, host and port.
    /// - Returns: the certificates that are shown, the server's own first; nil where nothing speaks TLS.
    static func certificates(of origin: String) async -> [NIOSSLCertificate]? {
        guard let url = URLComponents(string: origin), let host = url.encodedHost, let context else { return nil }
        let name = host.trimmingCharacters(in: ["[", "]"])
        let port = url.port ?? (url.scheme == "https" ? 443 : 80)
        // A number is no name to ask for.
        let serverName = (try? SocketAddress(ipAddress: name, port: port)) == nil ? name : nil
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let shown = loop.makePromise(of: [NIOSSLCertificate]?.self)
        let end = loop.scheduleTask(in: patience) { shown.succeed(nil) }
        let connection = ClientBootstrap(group: loop).connectTimeout(patience).channelInitializer { channel in
            channel.closeFuture.whenComplete { _ in shown.succeed(nil) }
            shown.futureResult.whenComplete { _ in channel.close(promise: nil) }
            return channel.eventLoop.makeCompletedFuture {
                let handler = try NIOSSLClientHandler(context: context, serverHostname: serverName) {
                    (chain, verdict: EventLoopPromise<NIOSSLVerificationResult>) in
                    shown.succeed(chain)
                    verdict.succeed(.failed)
                }
                try channel.pipeline.syncOperations.addHandler(handler)
            }
        }.connect(host: name, port: port)
        connection.whenFailure { _ in shown.succeed(nil) }
        let certificates = try? await shown.futureResult.get()
        end.cancel()
        return certificates.flatMap { $0 }
    }
}
