public import Foundation
public import NIOCore

/// How the SDK reaches a server. One implementation speaks HTTP; tests put others in front of it.
///
/// What an exchange goes by besides the arguments is in `TransportOptions.current`. Where nothing has reached the
/// server, the failure is `networkUnavailable` (this device has no network that leads there) or `networkFailure`; where
/// the request may have reached it and no answer came, `serverResponseLost`. The SDK repeats and reports by that
/// difference.
public protocol Transport: Sendable {
    /// Scheme, host and port, as signed at login.
    var origin: String { get }

    /// Sends a wire message and returns status and body.
    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse

    /// Asks without a body and returns status and body.
    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse

    /// Streams `length` bytes up.
    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse

    /// Streams a byte range down; `consume` gets the parts in order and holds the sender back while it works.
    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError)

    /// Opens a stream of server-sent events and hands over its bytes as they come, until it ends, breaks, or `consume`
    /// throws. `consume` holds the sender back while it works.
    func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError)
}

extension Transport {
    /// For transports that carry requests only.
    public func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        throw SealKitError(
            .incompatibleVersion, "this transport has no event streams",
            remedy: "fetch changes from time to time instead")
    }
}

/// What a server has answered.
public struct TransportResponse: Sendable {
    /// HTTP's number.
    public var status: Int
    /// All of the answer's body.
    public var body: Data
    /// The header of that name; nil where the answer has none. A message without bytes is taken for one only with the
    /// media type of messages.
    public var contentType: String?
    /// Seconds, from the header of that name: of use where a proxy answered in the server's place.
    public var retryAfter: Double?
    /// The revision of the account's list of devices, from the header `sealkit-devices`: by it a device learns of
    /// another one.
    public var deviceRevision: UInt64?

    /// - Parameters:
    ///   - status: HTTP's number.
    ///   - body: all of it.
    ///   - contentType: the header of that name. A transport of your own has to hand it on: what is empty, and does not
    ///     say that it is a message, is taken for no answer of a server.
    ///   - retryAfter: seconds, from the header of that name.
    ///   - deviceRevision: the state of the account's list of devices, from the header.
    public init(
        status: Int, body: Data, contentType: String? = nil, retryAfter: Double? = nil, deviceRevision: UInt64? = nil
    ) {
        self.status = status
        self.body = body
        self.contentType = contentType
        self.retryAfter = retryAfter
        self.deviceRevision = deviceRevision
    }
}
