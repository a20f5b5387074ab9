import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import SealWire
import SwiftProtobuf

extension Request {
    /// Reads the body as a wire message, in the encoding that its content type names.
    ///
    /// Throws `limitExceeded` for a body above the context's limit (as soon as that is known, without holding it),
    /// `invalidArguments` for a wrong type or a malformed body, and `sessionExpired` where the session ended before the body came.
    func decode<M: Message>(_ type: M.Type, _ context: SealRequestContext) async throws -> M {
        try await read(context)
    }

    private func read<M: Message>(_ context: SealRequestContext) async throws -> M {
        guard let encoding = WireEncoding(bodyOf: self) else {
            throw ServerError(
                .invalidArguments, "The body's content type must be \(WireEncoding.acceptedTypes).",
                remedy: "Set the Content-Type header.")
        }
        let body = try await collectBody(limit: context.maxUploadSize)
        try await context.recheckSession()
        do {
            switch encoding {
            case .protobuf:
                // What this version does not know is not kept either: nobody has checked it, nor counted it.
                var options = BinaryDecodingOptions()
                options.discardUnknownFields = true
                return try M(serializedBytes: Data(buffer: body, byteTransferStrategy: .noCopy), options: options)
            case .json:
                return try M(jsonUTF8Bytes: Data(buffer: body, byteTransferStrategy: .noCopy))
            }
        } catch {
            // The decoder's own words could repeat what the client sent.
            throw ServerError(
                .invalidArguments,
                "The body is not a valid \(M.protoMessageName) in \(encoding == .json ? "JSON" : "protobuf") encoding.",
                remedy: "Compare it with the wire schema; in JSON, field names and types have to match.")
        }
    }

    /// Also counts the message's work against its account, before anything is done about it.
    ///
    /// Throws `requestRateLimited` too.
    func decode<M: CountedMessage>(_ type: M.Type, _ context: SealRequestContext) async throws -> M {
        let message: M = try await read(context)
        try context.meter?.count(message)
        return message
    }

    func collectBody(limit: Int) async throws -> ByteBuffer {
        let tooLarge = ServerError(
            .limitExceeded, "The request's body is larger than \(limit) bytes.", remedy: "Send fewer items at once.")
        let announced = headers[.contentLength].flatMap { Int($0) }
        if let announced, announced > limit { throw tooLarge }
        var iterator = body.makeAsyncIterator()
        guard var whole = try await iterator.next() else { return ByteBuffer() }
        if let announced, announced > whole.readableBytes {
            // One allocation of the right size, not one for each doubling.
            var roomy = ByteBufferAllocator().buffer(capacity: announced)
            roomy.writeBuffer(&whole)
            whole = roomy
        }
        while var next = try await iterator.next() {
            guard whole.readableBytes + next.readableBytes <= limit else { throw tooLarge }
            whole.writeBuffer(&next)
        }
        guard whole.readableBytes <= limit else { throw tooLarge }
        return whole
    }
}
