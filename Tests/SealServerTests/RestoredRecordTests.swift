import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// Statements that follow ones which the server has lost.
@Suite(.timeLimit(.minutes(60))) struct RestoredRecordTests {
    /// The code that a single save of this ends with; nil for success.
    private func code(
        _ person: Person, _ write: Write, in zone: TestZone, restoring: Bool = true,
        change: (inout Statement) -> Void = { _ in }
    ) async throws -> ErrorCode? {
        var request = try person.request([write], in: zone, change: change).request
        request.restoring = restoring
        return try await person.send(request, to: zone)[0].code
    }

    private func later(_ name: String, revision: UInt64, tag: String = "") throws -> Write {
        var write = Write(name, "as it was")
        (write.revision, write.previous, write.tag) = (revision, try Digest(randomBytes(32)), tag)
        return write
    }

    @Test func lostRecordsAreSavedAgainWithALaterNumber() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save([Write("old")], in: zone)[0]
            let stale = try later("old", revision: 9, tag: saved.tag)
            // Only where it is said that something was lost, and only over what the server has.
            #expect(try await code(anna, stale, in: zone, restoring: false) == .serverRecordChanged)
            #expect(try await code(anna, later("old", revision: 9), in: zone) == .serverRecordChanged)
            #expect(try await code(anna, later("old", revision: 9, tag: "zz"), in: zone) == .serverRecordChanged)
            #expect(try await code(anna, later("new", revision: 4), in: zone, restoring: false) == .unknownItem)
            // The next number is the next one of what is there, and has to follow it.
            #expect(try await code(anna, later("old", revision: 2, tag: saved.tag), in: zone) == .serverRecordChanged)
            // The numbers that there are cannot be used up.
            for revision: UInt64 in [SaveComparison.mostLost + 2, (1 << 62) - 1] {
                #expect(
                    try await code(anna, later("old", revision: revision, tag: saved.tag), in: zone)
                        == .serverRecordChanged)
                #expect(try await code(anna, later("new", revision: revision), in: zone) == .unknownItem)
            }
            #expect(try await code(anna, stale, in: zone) == nil)
            #expect(try await code(anna, later("new", revision: 4), in: zone) == nil)
            #expect(try await code(anna, stale, in: zone) == .serverRecordChanged)
            let records = try await anna.lookup(["old", "new"], in: zone).results.map(\.record)
            let revisions = try records.map { try anna.open($0, in: zone).statement.revision }
            #expect(revisions == [9, 4])
            // From there it goes on as ever.
            let now = try #require(records.first)
            var next = Write("old", "more")
            (next.revision, next.previous, next.tag) = (10, Statement.hash([UInt8](now.statement)), now.changeTag)
            #expect(try await code(anna, next, in: zone, restoring: false) == nil)
        }
    }

    @Test func lostDeletionsToo() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save([Write("note")], in: zone)[0]
            var gone = try later("note", revision: 5, tag: saved.tag)
            (gone.kind, gone.fields) = (.delete, [])
            var never = try later("never", revision: 5)
            (never.kind, never.fields) = (.delete, [])
            #expect(try await code(anna, never, in: zone) == .unknownItem)
            #expect(try await code(anna, gone, in: zone) == nil)
            #expect(try await anna.lookup(["note"], in: zone).results[0].code == .unknownItem)
            // And made again after it.
            #expect(try await code(anna, later("note", revision: 8), in: zone) == nil)
        }
    }

    @Test func whoMayNotWriteRestoresNothing() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert, .readOnly)
            let held = zone
            let refused = try await refusal { try await code(bert, try later("note", revision: 4), in: held) }
            #expect(refused == .permissionFailure)
            let elsewhere = Statement.FormerScope(scopeID: try Digest(randomBytes(32)), incarnation: 1)
            let moved = try await code(anna, try later("note", revision: 4), in: held) { $0.formerScope = elsewhere }
            #expect(moved == .invalidArguments)
        }
    }
}
