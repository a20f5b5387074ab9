public import SwiftProtobuf

/// One route of the protocol: what the server registers, and what the SDK calls.
///
/// Nothing of it has a default, so that a route can leave nothing open: who may call it, what a repetition does, and
/// what it costs its caller are said where it is made, and nowhere else.
public struct Endpoint<Access: EndpointAccess, Request, Answer>: AnyEndpoint {
    public let route: Route
    public let access: Access
    public let again: Again<Request>
    public let work: Work<Request>

    private init(
        _ name: String, _ method: Route.Method, _ path: String, _ access: Access, _ again: Again<Request>,
        _ work: Work<Request>,
        request: Route.Content, body: Route.Body, answer: Route.Content, _ refusals: [Refusal], _ about: String
    ) {
        (self.access, self.again, self.work) = (access, again, work)
        route = Route(
            name: name, method: method, template: Access.prefix + path, shownPath: Access.shownPrefix + path,
            database: Access.database, callers: access.callers, isManaged: Access.isManaged, request: request,
            body: body,
            answer: answer, again: again.kind, rate: work.rate, refusals: refusals, about: about)
    }

    /// A message that is answered by a message, by `POST`.
    /// - Parameters:
    ///   - name: short and for ever, of metrics, logs, and the ids of operations.
    ///   - path: below `Access.prefix`.
    ///   - refusals: the codes of the transport page.
    ///   - about: the last column of the transport page, in Markdown.
    public init(
        _ name: String, path: String, _ access: Access, again: Again<Request>, work: Work<Request>, refusals: [Refusal],
        about: String
    ) where Request: Message, Answer: Message {
        self.init(
            name, .post, path, access, again, work, request: .message(of: Request.self), body: .message,
            answer: .message(of: Answer.self), refusals, about)
    }

    /// No body, answered by a message.
    public init(
        _ name: String, _ method: Route.Method, path: String, _ access: Access, again: Again<Request>,
        work: Work<Request>,
        refusals: [Refusal], about: String
    ) where Request == NoContent, Answer: Message {
        self.init(
            name, method, path, access, again, work, request: NoContent.shown, body: .none,
            answer: .message(of: Answer.self), refusals,
            about)
    }

    /// What is no message in either direction.
    /// - Parameter body: how much may come.
    public init(
        _ name: String, _ method: Route.Method, path: String, _ access: Access, again: Again<Request>,
        work: Work<Request>,
        body: Route.Body, refusals: [Refusal], about: String
    ) where Request: RawContent, Answer: RawContent {
        self.init(
            name, method, path, access, again, work, request: Request.shown, body: body, answer: Answer.shown, refusals,
            about)
    }
}

/// An endpoint of any types.
public protocol AnyEndpoint: Sendable {
    var route: Route { get }
}

/// What a body can hold beside a message.
public protocol RawContent: Sendable {
    static var shown: Route.Content { get }
}

public enum NoContent: RawContent { public static var shown: Route.Content { .none } }
public enum BytesContent: RawContent { public static var shown: Route.Content { .bytes } }
public enum JSONContent: RawContent { public static var shown: Route.Content { .json } }
public enum HTMLContent: RawContent { public static var shown: Route.Content { .html } }
public enum EventContent: RawContent { public static var shown: Route.Content { .events } }
