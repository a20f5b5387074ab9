import Foundation
import NIOCore
import SealCoding
import SealLab
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

@testable import SealKit

/// A server in an attacker's hands: the real one's answers, rewritten as long as the test says so, and all that was
/// said kept.
final class HostileNetwork: Transport {
    /// One request with its answer, as the server saw it.
    struct Exchange: Sendable {
        let path: String
        let token: String?
        let request: Data
        let status: Int
        let response: Data
    }

    typealias Lie =
        @Sendable (_ path: String, _ request: Data, _ response: inout TransportResponse) async throws -> Void
    typealias BlobLie = @Sendable (_ path: String, _ range: Range<UInt64>, _ bytes: Data) throws -> Data

    private struct State {
        var lies: [Lie] = []
        var swallowed: [String] = []
        var blobLies: [BlobLie] = []
        var exchanges: [Exchange] = []
        var uploads: [(path: String, bytes: Data)] = []
        var duringUpload: (@Sendable () async throws -> Void)?
        var afterUpload: (@Sendable () -> Void)?
        var breakPoint: (start: UInt64, after: Int)?
        var broken = 0
    }

    private let next: HTTPTransport
    private let state = Mutex(State())
    var origin: String { next.origin }

    init(_ server: ServerProcess) throws { next = try HTTPTransport(server: server.origin) }

    // MARK: What the attacker does

    /// From now on.
    func lie(_ lie: @escaping Lie) { state.withLock { $0.lies.append(lie) } }

    /// Changes every answer to calls whose path ends so.
    func rewrite<Answer: Message>(
        _ suffix: String, _ type: Answer.Type, _ change: @escaping @Sendable (inout Answer) throws -> Void
    ) {
        lie { path, _, response in
            guard path.hasSuffix(suffix), response.status < 400 else { return }
            var answer = try Answer(serializedBytes: response.body)
            try change(&answer)
            response.body = try answer.serializedData()
        }
    }

    /// Look-ups and feeds answer with these records.
    func show(_ records: [Sealkit_V1_Record]) {
        rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
            answer.results = records.map { record in .with { $0.record = record } }
        }
        rewrite("records/changes", Sealkit_V1_RecordChangesResponse.self) { $0.records = records }
    }

    /// Calls whose path ends so never reach the server: lies answer them.
    func swallow(_ suffix: String) { state.withLock { $0.swallowed.append(suffix) } }

    /// Changes whatever is downloaded of assets.
    func rewriteBlobs(_ lie: @escaping BlobLie) { state.withLock { $0.blobLies.append(lie) } }

    /// The next upload arrives as a whole, and its answer is lost; `then` runs before anything else is sent.
    func loseNextUpload(then: @escaping @Sendable () -> Void) { state.withLock { $0.afterUpload = then } }

    /// Runs when a part of an upload is on its way and others are to come.
    func duringUpload(_ body: @escaping @Sendable () async throws -> Void) { state.withLock { $0.duringUpload = body } }

    /// The next download that starts there breaks off.
    func breakDownloads(startingAt start: UInt64, after count: Int) {
        state.withLock { $0.breakPoint = (start, count) }
    }
    var brokenDownloads: Int { state.withLock { $0.broken } }

    /// From now on the real answers.
    func beHonest() {
        state.withLock { state in
            state.lies = []
            state.swallowed = []
            state.blobLies = []
        }
    }

    // MARK: What the attacker heard

    var exchanges: [Exchange] { state.withLock { $0.exchanges } }
    func forget() { state.withLock { $0.exchanges = [] } }
    func sent(to suffix: String) -> [Data] { exchanges.filter { $0.path.hasSuffix(suffix) }.map(\.request) }
    var uploads: [(path: String, bytes: Data)] { state.withLock { $0.uploads } }

    /// Requests, answers, headers and uploads, one after the other.
    var everything: Data {
        state.withLock { state in
            var all = Data()
            for exchange in state.exchanges {
                all += Data("\(exchange.path)\n\(exchange.token ?? "")\n".utf8) + exchange.request + exchange.response
            }
            for upload in state.uploads { all += Data(upload.path.utf8) + upload.bytes }
            return all
        }
    }

    /// Every record that came in look-ups, as it is stored.
    var records: [Sealkit_V1_Record] {
        var found: [Sealkit_V1_Record] = []
        for exchange in exchanges where exchange.path.hasSuffix("records/lookup") {
            guard let answer = try? Sealkit_V1_LookupRecordsResponse(serializedBytes: exchange.response) else {
                continue
            }
            found += answer.results.map { $0.hasServerRecord ? $0.serverRecord : $0.record }.filter {
                !$0.statement.isEmpty
            }
        }
        return found
    }

    // MARK: Transport

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        let isSwallowed = state.withLock { $0.swallowed.contains(where: path.hasSuffix) }
        var response =
            isSwallowed
            ? TransportResponse(status: 200, body: Data()) : try await next.post(path, body: body, token: token)
        try await tellLies(path, body, &response)
        let exchange = Exchange(
            path: path, token: token, request: body, status: response.status, response: response.body)
        state.withLock { $0.exchanges.append(exchange) }
        return response
    }

    private func tellLies(_ path: String, _ request: Data, _ response: inout TransportResponse)
        async throws(SealKitError)
    {
        do {
            for lie in state.withLock({ $0.lies }) { try await lie(path, request, &response) }
        } catch let error as SealKitError {
            throw error
        } catch {
            throw SealKitError(.internalError, "the hostile network could not make its lie: \(error)")
        }
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        var response = try await next.get(path, token: token)
        try await tellLies(path, Data(), &response)
        return response
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        let kept = LockedValue(Data())
        let iterator = Parts(parts)
        let copied = AsyncThrowingStream<ByteBuffer, any Error> {
            guard let part = try await iterator.next() else { return nil }
            if !kept.value.isEmpty { try await self.state.withLock { $0.duringUpload }?() }
            kept.change { $0 += Data(part.readableBytesView) }
            return part
        }
        let response = try await next.upload(path, length: length, parts: copied, token: token)
        let then = state.withLock { state in
            state.uploads.append((path, kept.value))
            defer { state.afterUpload = nil }
            return state.afterUpload
        }
        guard let then else { return response }
        then()
        throw SealKitError(.serverResponseLost, "the hostile network lost the answer")
    }

    /// Unchecked: the connection is the only reader, and pulls the parts one after the other.
    private final class Parts: @unchecked Sendable {
        private var iterator: AsyncThrowingStream<ByteBuffer, any Error>.Iterator
        init(_ parts: AsyncThrowingStream<ByteBuffer, any Error>) { iterator = parts.makeAsyncIterator() }
        func next() async throws -> ByteBuffer? { try await iterator.next() }
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        let lies = state.withLock { $0.blobLies }
        guard !lies.isEmpty else { return try await next.download(path, range: range, token: token, consume: consume) }
        var bytes = Data()
        try await next.download(path, range: range, token: token) { bytes += Data($0.readableBytesView) }
        do {
            for lie in lies { bytes = try lie(path, range, bytes) }
            let breaks = state.withLock { state -> Int? in
                guard let point = state.breakPoint, point.start == range.lowerBound else { return nil }
                state.breakPoint = nil
                state.broken += 1
                return point.after
            }
            if let breaks {
                try await consume(ByteBuffer(bytes: bytes.prefix(breaks)))
                throw SealKitError(.networkFailure, "the hostile network broke the download off")
            }
            for start in stride(from: 0, to: bytes.count, by: 60_000) {
                try await consume(ByteBuffer(bytes: bytes[start..<min(start + 60_000, bytes.count)]))
            }
        } catch let error as SealKitError {
            throw error
        } catch {
            throw SealKitError(.internalError, "the hostile network could not make its lie: \(error)")
        }
    }

    func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try await next.events(path, token: token, lastEventID: lastEventID, consume: consume)
    }
}

extension Person {
    /// The same device behind a network that an attacker controls.
    func behindAttacker() throws -> (person: Person, network: HostileNetwork) {
        let network = try HostileNetwork(server)
        return (try through(network), network)
    }

    /// The same person on a device that has seen nothing yet, behind such a network.
    func freshBehindAttacker() throws -> (person: Person, network: HostileNetwork) {
        let network = try HostileNetwork(server)
        return (try onFreshDevice(transport: network), network)
    }
}

extension Data {
    /// Whether these bytes come anywhere, as they are or as text that stands for them.
    func shows(_ secret: [UInt8]) -> Bool {
        let raw = Data(secret)
        let base64 = raw.base64EncodedString().replacing("=", with: "")
        let texts = [
            raw.map { String(format: "%02x", $0) }.joined(), raw.map { String(format: "%02X", $0) }.joined(), base64,
            base64.replacing("+", with: "-").replacing("/", with: "_"),
        ]
        return range(of: raw) != nil || texts.contains { range(of: Data($0.utf8)) != nil }
    }
}

extension HostileNetwork {
    /// Rosters that are asked for get these entries after their real ones.
    func serve(_ entries: [SignedRosterEntry]) {
        rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
            guard !answer.rosters.isEmpty, !answer.rosters[0].hasFailure else { return }
            answer.rosters[0].entries += entries.map(\.wire)
        }
    }
}
