import Foundation
import SealLab
import SealWire
import SwiftProtobuf
import Synchronization

@testable import SealKit

/// Passes everything on and keeps the records that came back, as the server has them.
final class RecordingTransport: PassingTransport {
    let next: any Transport
    private let seen = Mutex<[Sealkit_V1_Record]>([])

    init(_ next: HTTPTransport) { self.next = next }

    func records() -> [Sealkit_V1_Record] { seen.withLock { $0 } }
    func tombstones() -> [Sealkit_V1_Record] { records().filter(\.deleted) }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        let response = try await next.post(path, body: body, token: token)
        if path.hasSuffix("records/lookup"),
            let answer = try? Sealkit_V1_LookupRecordsResponse(serializedBytes: response.body)
        {
            seen.withLock {
                $0 += answer.results.map { $0.hasServerRecord ? $0.serverRecord : $0.record }.filter {
                    !$0.statement.isEmpty || $0.hasDerived
                }
            }
        }
        return response
    }
}

/// A hostile server: the real one's answers, rewritten.
final class RewritingTransport: PassingTransport {
    typealias Rewrite = @Sendable (_ path: String, _ body: Data) async throws -> Data

    let next: any Transport
    private let rewrite: Rewrite

    init(_ next: HTTPTransport, _ rewrite: @escaping Rewrite) {
        self.next = next
        self.rewrite = rewrite
    }

    /// Look-ups and feeds answer with these records.
    static func showing(_ records: [Sealkit_V1_Record], before next: HTTPTransport) -> RewritingTransport {
        RewritingTransport(next) { path, body in
            if path.hasSuffix("records/lookup") {
                var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
                answer.results = records.map { record in .with { $0.record = record } }
                return try answer.serializedData()
            }
            if path.hasSuffix("records/changes") {
                var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: body)
                answer.records = records
                return try answer.serializedData()
            }
            return body
        }
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        var response = try await next.post(path, body: body, token: token)
        do {
            let body = try await rewrite(path, response.body)
            // What it says in the server's place it says as an answer.
            if body != response.body { (response.status, response.body) = (200, body) }
        } catch {
            throw SealKitError(.internalError, "the hostile transport could not read the real answer")
        }
        return response
    }
}
