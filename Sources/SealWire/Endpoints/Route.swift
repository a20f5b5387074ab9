import SwiftProtobuf

/// What is to be said of an endpoint without its types.
public struct Route: Sendable, Equatable {
    public enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
    }

    /// What a body holds.
    public enum Content: Sendable, Equatable {
        case none
        case bytes
        case json
        case html
        case events
        /// By its name in the `.proto`.
        case message(String)

        static func message<M: Message>(of type: M.Type) -> Self {
            .message(String(M.protoMessageName.split(separator: ".").last ?? ""))
        }
    }

    /// How large a request's body may be: which of the server's limits holds.
    public enum Body: Sendable, Equatable {
        /// None is read.
        case none
        /// `requestBytes`, without a session `requestBytesWithoutSession`.
        case message
        /// `assetBytes`.
        case asset
        /// A part of an upload, exactly.
        case part
    }

    /// Short and for ever: metrics, logs and the ids of operations use it.
    public let name: String
    public let method: Method
    /// The whole path, its parameters in braces.
    public let template: String
    /// The path as the transport page writes it.
    public let shownPath: String
    /// One that takes the request, where the path names a database.
    public let database: String?
    public let callers: [CallerKind]
    /// A management token is what opens it.
    public let isManaged: Bool
    public let request: Content
    public let body: Body
    public let answer: Content
    public let again: Repetition
    public let rate: RateClass
    public let refusals: [Refusal]
    public let about: String

    /// Nobody has to say who they are.
    public var isOpen: Bool { callers.contains(.anyone) || callers.contains(.ticket) }

    /// The path, each parameter in turn replaced.
    /// - Parameter values: all that the path has: one that is forgotten is a fault of the program.
    public func path(_ values: [String: String]) -> String {
        template.split(separator: "/", omittingEmptySubsequences: false).map { part in
            guard part.first == "{" else { return String(part) }
            guard let value = values[String(part.dropFirst().dropLast())] else {
                preconditionFailure("\(name): no \(part)")
            }
            return value
        }.joined(separator: "/")
    }
}
