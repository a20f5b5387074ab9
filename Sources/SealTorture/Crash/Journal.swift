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

    /// How many requests of each zone were done, with nothing of them refused.
    struct Served: Sendable {
        private var zones: [String: Int] = [:]

        private var count: Int { zones.values.reduce(0, +) }

        mutating func add(_ zone: String) { zones[zone, default: 0] += 1 }

        /// Whether all goes on since then: three more, and one of them in each zone that was served before.
        func goesOn(since before: Served) -> Bool {
            count >= before.count + 3 && before.zones.allSatisfy { zones[$0.key, default: 0] > $0.value }
        }
    }

    /// For how long clients may be told that a server is away.
    private enum Excuse {
        case never
        case whileItLasts
        case until(ContinuousClock.Instant)
    }

    private struct State {
        var operations: [Data: Operation] = [:]
        var order: [Data] = []
        var statements: [Digest: Sent] = [:]
        var isDown = false
        var excuse = Excuse.never
        var served = Served()
        var round = 0
        var token = ""
        var unexpected: [String] = []
    }

    private let state = Mutex(State())

    /// From now on nothing is sent, and what is under way may get no answer.
    func goDown() { state.withLock { $0.isDown = true } }
    /// From now on servers or their database may be away, and come back, while clients go on.
    func strike() { state.withLock { $0.excuse = .whileItLasts } }
    /// The blow has fallen, and there is a server that can do all: it is excused for as long as clients take to turn to
    /// it, and for nothing after that.
    func excuse(for time: Duration) { state.withLock { $0.excuse = .until(ContinuousClock.now + time) } }
    /// There is a server again.
    func comeUp() {
        state.withLock {
            $0.isDown = false
            $0.excuse = .never
        }
    }
    func begin(round: Int) { state.withLock { $0.round = round } }

    var isDown: Bool { state.withLock { $0.isDown } }
    var served: Served { state.withLock { $0.served } }

    /// What a client is told of a server that is away.
    private static let away: Set<SealKitError.Code> = [
        .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable,
    ]

    /// Whether a client may meet an error now, having asked for nothing wrong.
    func excuses(_ error: SealKitError) -> Bool {
        state.withLock { state in
            if state.isDown { return true }
            guard Self.away.contains(error.code) else { return false }
            switch state.excuse {
            case .never: return false
            case .whileItLasts: return true
            case .until(let end): return ContinuousClock.now < end
            }
        }
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
            guard case .answered = outcome, let done = state.operations[id], let zone = done.records.first?.zone,
                let results = try? done.results(), results.refused.isEmpty
            else { return }
            state.served.add(zone)
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
