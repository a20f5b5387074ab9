public import Foundation
public import SwiftProtobuf

/// What the same request does when it is sent a second time.
public enum Repetition: String, Sendable {
    /// Changes nothing, the first time either.
    case read
    /// Gives the first answer again, known by its operation id.
    case operation
    /// Leaves everything as the first time left it, and succeeds.
    case same
    /// Is refused, or does it a second time.
    case once
}

/// A request that is known again by an id, which the client makes.
public protocol OperationRequest: Message {
    var operationID: Data { get }
}

extension Sealkit_V1_ModifyZonesRequest: OperationRequest {}
extension Sealkit_V1_ModifyRecordsRequest: OperationRequest {}
extension Sealkit_V1_AppendRosterRequest: OperationRequest {}
extension Sealkit_V1_AcceptShareRequest: OperationRequest {}
extension Sealkit_V1_ModifySubscriptionsRequest: OperationRequest {}

/// `Repetition`, where `operation` is for messages that have an id.
public struct Again<Request>: Sendable {
    public let kind: Repetition

    public static var read: Self { Self(kind: .read) }
    public static var same: Self { Self(kind: .same) }
    public static var once: Self { Self(kind: .once) }
}

extension Again where Request: OperationRequest {
    public static var operation: Self { Self(kind: .operation) }
}
