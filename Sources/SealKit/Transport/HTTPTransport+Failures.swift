import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import SealWire
import SwiftProtobuf

extension HTTPTransport {
    /// Says what became of an exchange that broke: whether the request can have reached the server decides what may
    /// follow.
    ///
    /// The texts name kinds of errors, never hosts, headers or content.
    func failure(_ error: any Error) async -> SealKitError {
        if let verdict = await wrongServer(error) { return Task.isCancelled ? .cancelled : verdict }
        return HTTPTransport.failure(error)
    }

    private static func failure(_ error: any Error) -> SealKitError {
        if Task.isCancelled { return .cancelled }
        switch error {
        case let error as SealKitError: return error
        case is CancellationError: return .cancelled
        case let error as HTTPClientError where error == .cancelled: return .cancelled
        case let error as NIOConnectionError:
            return unreachable(error.connectionErrors.map { ($0.error as? IOError)?.errnoCode })
        case let error as IOError where withoutRoute.contains(error.errnoCode) || error.errnoCode == ECONNREFUSED:
            return unreachable([error.errnoCode])
        case let error as HTTPClientError where notConnected.contains(error):
            return networkFailure("no connection to the server came about in time")
        case NIOSSLError.handshakeFailed, is NIOSSLExtraError, ChannelError.connectTimeout:
            return networkFailure("no secure connection to the server came about (\(type(of: error)))")
        case let error as HTTPClientError where [.readTimeout, .writeTimeout, .deadlineExceeded].contains(error):
            return lost("the server did not answer in time")
        default:
            return lost("the connection to the server broke (\(type(of: error)))")
        }
    }

    /// The connection ended before an answer came: not that one took too long.
    static func isBroken(_ error: any Error) -> Bool {
        switch error {
        case is IOError: true
        case let error as HTTPClientError: error == .remoteConnectionClosed
        default: false
        }
    }

    private static let notConnected: [HTTPClientError] = [
        .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout,
        .httpProxyHandshakeTimeout,
    ]

    /// What a connection fails with when this device knows no way to the address.
    private static let withoutRoute: [CInt] = [ENETUNREACH, ENETDOWN, EHOSTUNREACH, EADDRNOTAVAIL]

    /// - Parameter codes: of each address that was tried; none when the name could not be looked up.
    private static func unreachable(_ codes: [CInt?]) -> SealKitError {
        guard codes.allSatisfy({ $0.map(withoutRoute.contains) ?? false }) else {
            return networkFailure("the server takes no connections")
        }
        return SealKitError(
            .networkUnavailable,
            codes.isEmpty ? "the server's name could not be looked up" : "no network leads to the server",
            remedy: "check this device's network, and the server's address", retryAfter: 5)
    }

    private static func networkFailure(_ reason: String) -> SealKitError {
        SealKitError(.networkFailure, reason, remedy: "check the address, and that the server runs", retryAfter: 2)
    }

    private static func lost(_ reason: String) -> SealKitError {
        SealKitError(.serverResponseLost, reason, remedy: "fetch to see whether it was done", retryAfter: 5)
    }
}

extension TransportResponse {
    /// The failure that every status but that of a success stands for.
    package var failure: SealKitError {
        if status >= 400, let failure = try? Sealkit_V1_Failure(serializedBytes: body), !failure.code.isEmpty {
            return SealKitError(failure)
        }
        // What stands between client and server has its own ways to say that the server is not there.
        switch status {
        case 300..<400:
            return SealKitError(
                .serverRejectedRequest, "the server's address leads elsewhere (HTTP status \(status))",
                remedy: "look where it leads; if the server has a new name, move the account with move(in:to:trust:)")
        case 429:
            return SealKitError(
                .requestRateLimited, "too many requests (HTTP status 429)", remedy: "wait", retryAfter: wait ?? 5)
        case 503:
            return SealKitError(
                .serviceUnavailable, "the server is not available (HTTP status 503)", remedy: "wait",
                retryAfter: wait ?? 5)
        case 502, 504:
            return SealKitError(
                .serverResponseLost, "a proxy got no answer from the server (HTTP status \(status))",
                remedy: "fetch to see whether it was done", retryAfter: wait ?? 5)
        default:
            return SealKitError(
                .serverRejectedRequest, "the server answered with HTTP status \(status)",
                remedy: "check that the address is that of a SealKit server")
        }
    }

    private var wait: Double? { retryAfter.flatMap(SealKitError.wait) }
}
