import Foundation
import SealKit
import SealPrimitives
import SealWire
import SwiftProtobuf

/// Holds what a server has after a crash against what its clients were told before it.
struct Inspection: Sendable {
    let journal: Journal
    let feed: Feed
    let round: Int

    struct Count: Sendable {
        var acknowledged = 0
        var lost = 0
        var lostApplied = 0
        var repeated = 0
    }

    /// - Parameter states: of each zone; moved on.
    func run(_ states: inout [String: Feed.State], limit: Int) async throws -> Count {
        for (zone, state) in states { states[zone] = try await feed.advance(state, in: zone, limit: limit) }
        let applied = try history(states)
        var count = Count()
        var lost: [(Journal.Operation, wasApplied: Bool)] = []
        var answered: [Journal.Operation] = []
        for operation in journal.operations {
            let (stored, refused) = try operation.results()
            for record in stored {
                try check(
                    applied.contains(record.hash),
                    "an acknowledged write is gone: \(record.name) revision \(record.revision)")
            }
            for record in refused {
                try check(
                    !applied.contains(record.hash),
                    "a refused write is there: \(record.name) revision \(record.revision)")
            }
            count.acknowledged += stored.count
            if operation.outcome == .unknown {
                let there = operation.records.count { applied.contains($0.hash) }
                try check(
                    !operation.isAtomic || there == 0 || there == operation.records.count,
                    "an atomic batch without an answer is there in part: \(there) of \(operation.records.count)")
                lost.append((operation, there > 0))
            } else if operation.round == round, refused.isEmpty {
                answered.append(operation)
            }
        }
        // Twice: the first decides what was open, the second must change nothing.
        for (operation, wasApplied) in lost {
            try await repeatLost(operation, wasApplied: wasApplied, &states)
            count.lost += 1
            if wasApplied { count.lostApplied += 1 }
        }
        for operation in answered.suffix(10) {
            try await repeatAnswered(operation, &states)
            count.repeated += 1
        }
        return count
    }

    /// The hashes of all statements that led to what is there now, each of them one that a client sent.
    private func history(_ states: [String: Feed.State]) throws -> Set<Digest> {
        var hashes: Set<Digest> = []
        for (zone, state) in states {
            for (name, item) in state.items {
                var hash = item.hash
                var revision = item.revision
                while hash != .zero {
                    guard let sent = journal.statement(hash), sent.name == name, sent.zone == zone,
                        sent.revision == revision
                    else {
                        throw Finding("\(name) has a revision \(revision) that nobody sent")
                    }
                    hashes.insert(hash)
                    hash = sent.previous
                    revision -= 1
                }
                try check(revision == 0, "\(name) begins with revision \(revision + 1)")
            }
        }
        return hashes
    }

    private func post(_ operation: Journal.Operation) async throws -> TransportResponse {
        try await feed.transport.post(operation.path, body: operation.body, token: operation.token)
    }

    private func repeatLost(
        _ operation: Journal.Operation, wasApplied: Bool, _ states: inout [String: Feed.State]
    ) async throws {
        let first = try await post(operation)
        guard first.status == 200 else {
            try check(!wasApplied, "an operation that happened is refused when it is repeated: \(first.failureText)")
            journal.settle(operation.id, .refused)
            return
        }
        journal.settle(operation.id, .answered(first.body))
        let changed = try await moveOn(&states)
        let results = try Sealkit_V1_ModifyRecordsResponse(serializedBytes: first.body).results
        let stored = results.count { if case .record = $0.outcome { true } else { false } }
        try check(
            changed == (wasApplied ? 0 : stored),
            "an operation that \(wasApplied ? "had" : "had not") happened changed \(changed) records when it was repeated"
        )
        if stored > 0 {
            try await repeatAnswered(
                Journal.Operation(
                    id: operation.id, path: operation.path, body: operation.body, token: operation.token,
                    isAtomic: operation.isAtomic, records: operation.records, outcome: .answered(first.body),
                    round: round),
                &states, exactly: stored == results.count)
        }
    }

    /// Once it was answered, an operation gives the same answer and changes nothing.
    private func repeatAnswered(
        _ operation: Journal.Operation, _ states: inout [String: Feed.State], exactly: Bool = true
    ) async throws {
        let again = try await post(operation)
        try check(again.status == 200, "a repeated operation is refused: \(again.failureText)")
        if exactly { try check(.answered(again.body) == operation.outcome, "a repeated operation has another answer") }
        try check(try await moveOn(&states) == 0, "a repeated operation changed something")
    }

    /// - Returns: how many records changed since the states were taken.
    private func moveOn(_ states: inout [String: Feed.State]) async throws -> Int {
        var changed = 0
        for (zone, state) in states {
            let delta = try await feed.changes(in: zone, since: state.token, limit: 0)
            changed += delta.items.count
            states[zone] = Feed.State(items: state.items.merging(delta.items) { $1 }, token: delta.token)
        }
        return changed
    }
}
