public import Foundation
public import NIOCore
public import SealKit
import Synchronization

extension TestNetwork {
    public func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        let (faults, server) = begin(path)
        try await arrive(faults, path)
        var response =
            faults.contains { $0.swallowing?(path) == true }
            ? TransportResponse(status: 200, body: Data(), contentType: HTTPTransport.contentType)
            : try await server.post(path, body: body, token: token)
        try await tell(faults, Call(path: path, body: body, token: token, server: server), &response)
        note(Exchange(path: path, token: token, request: body, status: response.status, response: response.body))
        return response
    }

    /// Asks without a body and returns status and body, or what a fault makes of them.
    public func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        let (faults, server) = begin(path)
        try await arrive(faults, path)
        var response = try await server.get(path, token: token)
        try await tell(faults, Call(path: path, body: Data(), token: token, server: server), &response)
        return response
    }

    public func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        let (faults, server) = begin(path)
        try await arrive(faults, path)
        let kept = Mutex(Data())
        let iterator = Parts(parts)
        let copied = AsyncThrowingStream<ByteBuffer, any Error> {
            guard let part = try await iterator.next() else { return nil }
            if kept.withLock({ !$0.isEmpty }) { try await self.runDuringUpload() }
            kept.withLock { $0 += Data(part.readableBytesView) }
            return part
        }
        var response = try await server.upload(path, length: length, parts: copied, token: token)
        note(upload: path, kept.withLock { $0 })
        try await tell(faults, Call(path: path, body: Data(), token: token, isUpload: true, server: server), &response)
        return response
    }

    /// Unchecked: the connection is the only reader, and pulls the parts one after the other.
    private final class Parts: @unchecked Sendable {
        private var iterator: AsyncThrowingStream<ByteBuffer, any Error>.Iterator
        init(_ parts: AsyncThrowingStream<ByteBuffer, any Error>) { iterator = parts.makeAsyncIterator() }
        func next() async throws -> ByteBuffer? { try await iterator.next() }
    }

    public func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        let (faults, server) = begin(path)
        try await arrive(faults, path)
        let lies = faults.compactMap(\.downloading)
        var end: Int?
        for fault in faults where end == nil { end = fault.breaking?(range) }
        guard !lies.isEmpty || end != nil else {
            return try await server.download(path, range: range, token: token, consume: consume)
        }
        var bytes = Data()
        try await server.download(path, range: range, token: token) { bytes += Data($0.readableBytesView) }
        do {
            for lie in lies { bytes = try lie(path, range, bytes) }
            if let end {
                try await consume(ByteBuffer(bytes: bytes.prefix(end)))
                throw SealKitError(.networkFailure, "the test network broke the download off")
            }
            for start in stride(from: 0, to: bytes.count, by: 60_000) {
                let part = bytes.dropFirst(start).prefix(60_000)
                try await consume(ByteBuffer(bytes: part))
            }
        } catch { throw Self.failure(error) }
    }

    public func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        let (faults, server) = begin(path)
        try await arrive(faults, path)
        try await server.events(path, token: token, lastEventID: lastEventID, consume: consume)
    }

    // MARK: Faults

    private func begin(_ path: String) -> (faults: [ServerFault], server: any Transport) {
        note(call: path)
        let faults = faults
        // The one that was injected last says who answers.
        return (faults, faults.last { $0.elsewhere != nil }?.elsewhere ?? next)
    }

    private func arrive(_ faults: [ServerFault], _ path: String) async throws(SealKitError) {
        for fault in faults { try await fault.arriving?(path) }
    }

    private func tell(_ faults: [ServerFault], _ call: Call, _ response: inout TransportResponse)
        async throws(SealKitError)
    {
        do { for fault in faults { try await fault.answering?(call, &response) } } catch { throw Self.failure(error) }
    }

    private static func failure(_ error: any Error) -> SealKitError {
        error as? SealKitError
            ?? SealKitError(
                .internalError, "the test network could not make its lie: \(type(of: error))",
                remedy: "see that what it is to be made of was saved before")
    }

    /// A request that is being answered.
    package struct Call: Sendable {
        package let path: String
        package let body: Data
        package let token: String?
        package var isUpload = false
        /// Who answers: a lie may ask it for something else, in the name of whoever asked.
        package let server: any Transport

        /// - Parameter route: the end of its path.
        package func isTo(_ route: String) -> Bool { path.hasSuffix(route) }
    }
}
