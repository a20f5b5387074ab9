import Foundation
import SealService
import SealWire
import SwiftProtobuf

/// What a message is read as where SwiftProtobuf's own form of it would cost too much.
protocol MessageForm: Sendable {
    associatedtype Message: SwiftProtobuf.Message

    /// - Parameter body: in the binary encoding, of which `DecodedSize` has taken the measure.
    /// - Throws: what SwiftProtobuf throws for what is no such message.
    init(protobuf body: Data) throws
    init(_ message: Message)

    /// What the endpoint's `work` says of the message.
    var workAmount: Int { get }
}

extension SaveMessage: MessageForm {
    var workAmount: Int { records.count }
}
