import Foundation

/// What a server says yes with, by what it was asked for. Whatever stands before it or at its address may answer in its
/// place: with a redirect, a page, or nothing at all, which is a whole message of nothing.
package enum Success: Sendable {
    /// A message, of no bytes too. Only its media type tells that one from an answer that says nothing.
    case message
    /// The bytes that were sent are stored: the answer has none.
    case stored
    /// An asset's bytes, or a range of them.
    case bytes
    /// A stream of server-sent events.
    case events

    fileprivate var statuses: [Int] {
        switch self {
        case .message, .events: [200]
        case .stored: [201]
        case .bytes: [200, 206]
        }
    }

    /// None where the answer names none.
    fileprivate var mediaTypes: [String] {
        switch self {
        case .message: [HTTPTransport.contentType, "application/protobuf"]
        case .stored: []
        case .bytes: ["application/octet-stream"]
        case .events: ["text/event-stream"]
        }
    }
}

extension TransportResponse {
    /// - Throws: what the answer says instead; `serverRejectedRequest` where it is none of a SealKit server's.
    package func require(_ success: Success) throws(SealKitError) {
        guard success.statuses.contains(status) else { throw failure }
        guard let contentType else {
            if success == .message, body.isEmpty { throw .noMessage }
            return
        }
        let named = contentType.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        guard success.mediaTypes.isEmpty || success.mediaTypes.contains(named) else { throw .noMessage }
    }
}

extension SealKitError {
    static let noMessage = SealKitError(
        .serverRejectedRequest, "the server's answer is not a SealKit message",
        remedy: "check that the address is that of a SealKit server")
}
