import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import SealService
import SealWire
import SwiftProtobuf

extension Request {
    /// Reads the body as an endpoint's message, in the encoding that its content type names, and counts its work,
    /// before anything is done about it.
    ///
    /// Throws `limitExceeded` for a body above the context's limit (as soon as that is known, without holding it), for
    /// one that comes too slowly or would take too much memory for its length, `serviceUnavailable` where there is no
    /// room for it, `invalidArguments` for a wrong type or a malformed body, `sessionExpired` where the session ended
    /// before the body came, and `requestRateLimited`.
    func message<Access, M: Message, Answer>(
        of endpoint: Endpoint<Access, M, Answer>, _ context: SealRequestContext, _ transactions: Transactions
    ) async throws -> M {
        let message: M = try await read(context, transactions, protobuf: M.init(measured:)) { $0 }
        try context.meter?.count(endpoint.work.rate, endpoint.work.amount(message))
        return message
    }

    /// The same, in a form of its own.
    func message<Access, Form: MessageForm, Answer>(
        of endpoint: Endpoint<Access, Form.Message, Answer>, as _: Form.Type, _ context: SealRequestContext,
        _ transactions: Transactions
    ) async throws -> Form {
        let form = try await read(context, transactions, protobuf: Form.init(protobuf:), Form.init)
        try context.meter?.count(endpoint.work.rate, max(1, form.workAmount))
        return form
    }

    private func read<M: Message, Form>(
        _ context: SealRequestContext, _ transactions: Transactions, protobuf: (Data) throws -> Form,
        _ form: (M) -> Form
    ) async throws -> Form {
        guard let encoding = WireEncoding(bodyOf: self) else {
            throw ServerError(
                .invalidArguments, "The body's content type must be \(WireEncoding.acceptedTypes).",
                remedy: "Set the Content-Type header.")
        }
        let body = Data(buffer: try await collectBody(context), byteTransferStrategy: .noCopy)
        if let session = context.session { _ = try await transactions.recheck(session) }
        do {
            switch encoding {
            case .protobuf:
                try context.pass?.take(try DecodedSize.measure(M.self, protobuf: body))
                return try protobuf(body)
            case .json:
                try context.pass?.take(try DecodedSize.measure(json: body))
                return form(try M(measuredJSON: body))
            }
        } catch let error as ServerError {
            throw error
        } catch DecodedSize.Refusal.tooDense {
            throw ServerError(
                .limitExceeded,
                "The body has too many elements for its length: they would take more than \(DecodedSize.perByte) times as much memory.",
                remedy: "Send fewer at once.")
        } catch {
            // The decoder's own words could repeat what the client sent.
            throw ServerError(
                .invalidArguments,
                "The body is not a valid \(M.protoMessageName) in \(encoding == .json ? "JSON" : "protobuf") encoding.",
                remedy: "Compare it with the wire schema; in JSON, field names and types have to match.")
        }
    }

    /// The whole body. Its bytes are counted as they arrive.
    ///
    /// Throws `limitExceeded` for one that is too large or comes too slowly, `serviceUnavailable` where there is no
    /// room for it, `invalidArguments` for one that is shorter than announced.
    func collectBody(_ context: SealRequestContext) async throws -> ByteBuffer {
        let limit = context.maxUploadSize
        let tooLarge = ServerError(
            .limitExceeded, "The request's body is larger than \(limit) bytes.", remedy: "Send fewer items at once.")
        let announced = headers.value(of: .contentLength).flatMap { Int($0) }
        if let announced, announced > limit { throw tooLarge }
        let transfer = context.isBodyCounted ? nil : context.transfers?.begin(.message, on: context.channel)
        defer { transfer?.end() }
        var iterator = body.makeAsyncIterator()
        var whole = ByteBuffer()
        while var next = try await iterator.next() {
            guard whole.readableBytes + next.readableBytes <= limit else { throw tooLarge }
            try transfer?.took(next.readableBytes)
            if !context.isBodyCounted {
                context.note.took(next.readableBytes)
                try context.pass?.take(next.readableBytes)
            }
            if whole.readableBytes == 0, next.readableBytes >= announced ?? 0 {
                whole = next
            } else {
                // Few allocations, but none for what was only announced: once as much as `firstRoom` has come, the rest
                // is room that nobody has touched, and which takes no memory before it is filled.
                if whole.readableBytes + next.readableBytes > Self.firstRoom {
                    whole.reserveCapacity(announced ?? 0)
                } else if whole.readableBytes == 0 {
                    whole.reserveCapacity(min(announced ?? 0, Self.firstRoom))
                }
                whole.writeBuffer(&next)
            }
        }
        try transfer?.requireUncut()
        guard announced ?? whole.readableBytes == whole.readableBytes else {
            throw ServerError(.invalidArguments, "The request is not whole.", remedy: "Send it again.")
        }
        return whole
    }

    private static let firstRoom = 256 << 10
}
