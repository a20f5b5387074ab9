import HTTPTypes
import Hummingbird
import SealService
import SealWire
import SwiftProtobuf

/// Registers the routes of the protocol. Each handler comes behind what its endpoint says: who is let in, what message
/// the body is, and what it counts for.
final class EndpointRouter {
    /// What has been registered so far.
    private(set) var routes = RouteTable()
    private let door: ServedDoor
    private var served: [String: Int] = [:]

    init(_ door: ServedDoor) { self.door = door }

    /// A message that is answered by a message.
    func on<Access: ServedAccess, Question: Message, Answer: Message>(
        _ endpoint: Endpoint<Access, Question, Answer>,
        _ handler: @escaping @Sendable (Question, Access.Call) async throws -> Answer
    ) {
        add(endpoint) { request, message, call in try Response(try await handler(message, call), for: request) }
    }

    /// The same, where the answer is written already.
    func on<Access: ServedAccess, Question: Message, Answer: Message>(
        _ endpoint: Endpoint<Access, Question, Answer>,
        writing handler: @escaping @Sendable (Question, Access.Call) async throws -> WrittenMessage<Answer>
    ) {
        add(endpoint) { request, message, call in try Response(try await handler(message, call), for: request) }
    }

    /// The same, where the message is read in a form of its own.
    func on<Access: ServedAccess, Form: MessageForm, Answer: Message>(
        _ endpoint: Endpoint<Access, Form.Message, Answer>, as form: Form.Type,
        writing handler: @escaping @Sendable (Form, Access.Call) async throws -> WrittenMessage<Answer>
    ) {
        add(
            endpoint, reading: { try await $0.message(of: endpoint, as: form, $1, $2) },
            answer: { request, message, call in try Response(try await handler(message, call), for: request) })
    }

    /// No body, answered by a message.
    func on<Access: ServedAccess, Answer: Message>(
        _ endpoint: Endpoint<Access, NoContent, Answer>,
        _ handler: @escaping @Sendable (Access.Call) async throws -> Answer
    ) {
        add(endpoint) { request, call in try Response(try await handler(call), for: request) }
    }

    /// What is no message in either direction.
    func on<Access: ServedAccess, Question: RawContent, Answer: RawContent>(
        _ endpoint: Endpoint<Access, Question, Answer>,
        raw handler: @escaping @Sendable (Access.Call) async throws -> Response
    ) {
        add(endpoint) { _, call in try await handler(call) }
    }

    private func add<Access: ServedAccess, Question: Message, Answer>(
        _ endpoint: Endpoint<Access, Question, Answer>,
        _ answer: @escaping @Sendable (Request, Question, Access.Call) async throws -> Response
    ) {
        add(endpoint, reading: { try await $0.message(of: endpoint, $1, $2) }, answer: answer)
    }

    private func add<Access: ServedAccess, Question: Message, Form, Answer>(
        _ endpoint: Endpoint<Access, Question, Answer>,
        reading read: @escaping @Sendable (Request, SealRequestContext, Transactions) async throws -> Form,
        answer: @escaping @Sendable (Request, Form, Access.Call) async throws -> Response
    ) {
        let door = door
        register(endpoint.route) { request, context in
            let call = try await endpoint.access.admit(request, context, door)
            let message = try await read(request, call.context, door.transactions)
            try await endpoint.access.bodyCame(call, door)
            return try await answer(request, message, call)
        }
    }

    private func add<Access: ServedAccess, Question: RawContent, Answer>(
        _ endpoint: Endpoint<Access, Question, Answer>,
        _ answer: @escaping @Sendable (Request, Access.Call) async throws -> Response
    ) {
        let door = door
        register(endpoint.route) { request, context in
            let call = try await endpoint.access.admit(request, context, door)
            try call.context.meter?.count(endpoint.work.rate, endpoint.work.amount)
            return try await answer(request, call)
        }
    }

    private func register(
        _ route: Route, _ respond: @escaping @Sendable (Request, SealRequestContext) async throws -> Response
    ) {
        served[route.name, default: 0] += 1
        routes.add(route.method.http, route.template, name: route.name, isRead: route.again == .read, respond)
    }

    /// To be called once all controllers have added theirs.
    /// - Throws: where what is served is not what the table has.
    func requireWhole(_ table: [Route] = Endpoints.all) throws(UnservedEndpoints) {
        let names = Set(table.map(\.name))
        let error = UnservedEndpoints(
            missing: names.subtracting(served.keys).sorted(), repeated: served.filter { $0.value > 1 }.keys.sorted(),
            unknown: served.keys.filter { !names.contains($0) }.sorted())
        guard error.isEmpty else { throw error }
    }
}

/// The server and the table of endpoints do not have the same routes: a fault of the program.
struct UnservedEndpoints: Error, Equatable, CustomStringConvertible {
    let missing: [String]
    let repeated: [String]
    let unknown: [String]

    var isEmpty: Bool { missing.isEmpty && repeated.isEmpty && unknown.isEmpty }

    var description: String {
        "not served: \(missing), served twice: \(repeated), not in the table: \(unknown)"
    }
}

/// A message's bytes as they go out: parsed only for those who want JSON.
struct WrittenMessage<M: Message>: Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
}

extension Response {
    fileprivate init<M: Message>(_ written: WrittenMessage<M>, for request: Request) throws {
        switch WireEncoding(answerTo: request) {
        case .protobuf: try self.init(serialized: written.bytes)
        case .json: try self.init(try M(serializedBytes: written.bytes), for: request)
        }
    }
}

extension Route.Method {
    var http: HTTPRequest.Method {
        switch self {
        case .get: .get
        case .head: .head
        case .post: .post
        case .put: .put
        }
    }
}
