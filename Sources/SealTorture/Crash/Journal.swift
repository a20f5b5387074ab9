import Foundation
import SealKit
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

/// Everything that the clients ever sent to change records, and what became of it as far as they could tell.
final class Journal: Sendable {
    /// One record of one request.
    struct Sent: Sendable {
        let name: String
        let zone: String
        let hash: Digest
        let previous: Digest
        let revision: UInt64
    }

    enum Outcome: Sendable, Equatable {
        /// No answer came: it may have happened or not.
        case unknown
        /// The answer's bytes.
        case answered(Data)
        /// The whole request was refused.
        case refused
    }

    struct Operation: Sendable {
        let id: Data
        let path: String
        let body: Data
        let token: String
        let isAtomic: Bool
        let records: [Sent]
        var outcome: Outcome
        /// Answered while the server that answered still ran; false for what was sent again after a crash.
        var round: Int
    }

    private struct State {
        var operations: [Data: Operation] = [:]
        var order: [Data] = []
        var statements: [Digest: Sent] = [:]
        var isDown = false
        var isStruck = false
        var answered = 0
        var round = 0
        var token = ""
        var unexpected: [String] = []
    }

    private let state = Mutex(State())

    /// From now on nothing is sent, and what is under way may get no answer.
    func goDown() { state.withLock { $0.isDown = true } }
    /// From now on servers or their database may be away, and come back, while clients go on.
    func strike() { state.withLock { $0.isStruck = true } }
    /// There is a server again.
    func comeUp() {
        state.withLock {
            $0.isDown = false
            $0.isStruck = false
        }
    }
    func begin(round: Int) { state.withLock { $0.round = round } }

    var isDown: Bool { state.withLock { $0.isDown } }
    /// How many requests have had an answer that says what was done.
    var answered: Int { state.withLock { $0.answered } }

    /// What a client is told of a server that is away.
    private static let away: Set<SealKitError.Code> = [
        .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable,
    ]

    /// Whether a client may meet an error now, having asked for nothing wrong.
    func excuses(_ error: SealKitError) -> Bool {
        state.withLock { $0.isDown || ($0.isStruck && Self.away.contains(error.code)) }
    }

    /// A session token that the clients use.
    var token: String { state.withLock { $0.token } }
    var operations: [Operation] { state.withLock { state in state.order.compactMap { state.operations[$0] } } }
    func statement(_ hash: Digest) -> Sent? { state.withLock { $0.statements[hash] } }

    /// Whether a whole request of a round was done.
    func hasAnswer(of round: Int) -> Bool {
        operations.contains { operation in
            guard operation.round == round, case .answered = operation.outcome else { return false }
            return (try? operation.results().refused.isEmpty) ?? false
        }
    }

    /// An error that no client should have met.
    func note(unexpected text: String) { state.withLock { $0.unexpected.append(text) } }
    var unexpected: [String] { state.withLock { $0.unexpected } }

    func saw(token: String) { state.withLock { $0.token = token } }

    /// - Returns: the operation's id.
    func send(path: String, body: Data, token: String) throws -> Data {
        let request = try Sealkit_V1_ModifyRecordsRequest(serializedBytes: body)
        var records: [Sent] = []
        for record in request.records {
            let bytes = [UInt8](record.statement)
            let statement = try Statement(canonicalBytes: bytes)
            records.append(
                Sent(
                    name: record.recordName, zone: request.zone.zoneName, hash: Statement.hash(bytes),
                    previous: statement.previous, revision: statement.revision))
        }
        state.withLock { state in
            guard state.operations[request.operationID] == nil else { return }
            for record in records { state.statements[record.hash] = record }
            state.order.append(request.operationID)
            state.operations[request.operationID] = Operation(
                id: request.operationID, path: path, body: body, token: token, isAtomic: request.atomic,
                records: records,
                outcome: .unknown, round: state.round)
        }
        return request.operationID
    }

    func settle(_ id: Data, _ outcome: Outcome) {
        state.withLock { state in
            state.operations[id]?.outcome = outcome
            state.operations[id]?.round = state.round
            if case .answered = outcome { state.answered += 1 }
        }
    }
}

extension Journal.Operation {
    /// The records that the answer says were stored, and those that it refuses.
    func results() throws -> (stored: [Journal.Sent], refused: [Journal.Sent]) {
        guard case .answered(let answer) = outcome else { return ([], outcome == .refused ? records : []) }
        let response = try Sealkit_V1_ModifyRecordsResponse(serializedBytes: answer)
        try check(
            response.results.count == records.count,
            "an answer has \(response.results.count) results for \(records.count) records")
        var stored: [Journal.Sent] = []
        var refused: [Journal.Sent] = []
        for (record, result) in zip(records, response.results) {
            try check(result.recordName == record.name, "an answer names other records than the request")
            if case .record = result.outcome { stored.append(record) } else { refused.append(record) }
        }
        try check(!isAtomic || stored.isEmpty || refused.isEmpty, "an atomic request was answered in part")
        return (stored, refused)
    }
}
