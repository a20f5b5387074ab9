public import Foundation
public import NIOCore
public import SealKit
import Synchronization

extension TestNetwork {
    public func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        let (faults, server) = begin(path)
        try await arrive(faults, path)
        let swallowing = faults.filter { $0.fault.swallowing?(path) == true }
        for met in swallowing { count(met) }
        var response =
            !swallowing.isEmpty
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
        let connection = Connection()
        let (faults, server) = begin(path, connection)
        defer { close(connection) }
        try await arrive(faults, path)
        var end: Int?
        for met in faults where end == nil {
            end = met.fault.breaking?(range)
            if end != nil { count(met) }
        }
        guard end != nil || faults.contains(where: { $0.fault.downloading != nil }) else {
            return try await server.download(path, range: range, token: token) { part in
                try connection.check()
                try await consume(part)
            }
        }
        var bytes = Data()
        try await server.download(path, range: range, token: token) { part in
            try connection.check()
            bytes += Data(part.readableBytesView)
        }
        do {
            for met in faults {
                guard let lie = met.fault.downloading else { continue }
                let told = try lie(path, range, bytes)
                if told != bytes { count(met) }
                bytes = told
            }
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
        let (parts, incoming) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        let connection = Connection { failure in incoming.finish(throwing: failure) }
        let (faults, server) = begin(path, connection)
        defer { close(connection) }
        try await arrive(faults, path)
        // Beside whoever listens: a stream on which nothing comes ends as well.
        let reading = Task {
            do {
                try await server.events(path, token: token, lastEventID: lastEventID) { part in
                    incoming.yield(part)
                }
                incoming.finish()
            } catch {
                incoming.finish(throwing: error)
            }
        }
        defer { reading.cancel() }
        do {
            for try await part in parts {
                // What has come and was not heard is lost with the connection.
                try connection.check()
                try await consume(part)
            }
        } catch {
            throw error is CancellationError ? SealKitError.cancelled : Self.failure(error)
        }
        if Task.isCancelled { throw .cancelled }
    }

    // MARK: Faults

    private func arrive(_ faults: [Injected], _ path: String) async throws(SealKitError) {
        for met in faults {
            do throws(SealKitError) { try await met.fault.arriving?(path) } catch {
                count(met)
                throw error
            }
        }
        if let answering = faults.answering { count(answering) }
    }

    private func tell(_ faults: [Injected], _ call: Call, _ response: inout TransportResponse)
        async throws(SealKitError)
    {
        for met in faults {
            let before = response
            do { try await met.fault.answering?(call, &response) } catch {
                count(met)
                throw Self.failure(error)
            }
            if !response.isSame(as: before) { count(met) }
        }
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
