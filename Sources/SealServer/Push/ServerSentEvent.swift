import Foundation
import NIOCore
import SealService
import SealWire
import SwiftProtobuf

/// One event of an event stream (HTML standard, "Server-sent events"). The data is JSON on one line.
struct ServerSentEvent {
    enum Name: String {
        /// Where the stream begins: what changes from here on will be told.
        case ready
        case notification
        /// What was asked for is not all there any more: fetch changes by token. The stream goes on from here.
        case reset
        /// The last event, with a `Failure`.
        case end
    }

    /// How long a client waits before it opens the stream again, in milliseconds.
    static let retry = 3_000

    /// - Parameter id: where to go on from after this event; nil when that did not move.
    static func write(
        _ name: Name, id: NotificationFeed.ID?, _ message: (any Message)?, to buffer: inout ByteBuffer
    ) throws {
        buffer.writeString("event: \(name.rawValue)\n")
        if let id { buffer.writeString("id: \(id)\n") }
        buffer.writeString("data: ")
        if let message {
            buffer.writeBytes(try message.jsonUTF8Bytes() as [UInt8])
        } else {
            buffer.writeString("{}")
        }
        buffer.writeString("\n\n")
    }

    static func writeRetry(to buffer: inout ByteBuffer) { buffer.writeString("retry: \(retry)\n\n") }

    /// Shows that the connection lives, and where to go on from; no event in itself.
    static func writeHeartbeat(id: NotificationFeed.ID, to buffer: inout ByteBuffer) {
        buffer.writeString(":\nid: \(id)\n\n")
    }
}
