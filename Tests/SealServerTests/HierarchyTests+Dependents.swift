import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// `deleteSelf` from one scope of a zone into another: whoever deletes the target signs the source's deletion as well,
/// where it may write there.
extension HierarchyTests {
    /// In the share a target with a source beside it; in the zone's own scope a source of it.
    private func withReferences(
        _ permission: Permission = .readWrite,
        _ body: @Sendable (Shared, _ target: SavedRecord, _ outside: SavedRecord) async throws -> Void
    ) async throws {
        try await withShare(permission) { shared in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            let outside = try await anna.save([Write("outside", nil).going(with: "target")], in: zone)
            let inside = try await anna.save([
                PlacedWrite(Write("target", parent: "list"), in: share),
                PlacedWrite(Write("source", nil, parent: "list").going(with: "target"), in: share),
            ])
            #expect(inside.map(\.result.code) == [nil, nil])
            try await body(shared, inside[0], outside[0])
        }
    }

    private func deletion(_ record: SavedRecord, in scope: TestZone, parent: String? = nil) -> PlacedWrite {
        var gone = Write(after: record, kind: .delete)
        gone.parent = parent
        return PlacedWrite(gone, in: scope)
    }

    @Test func aDeletionTakesWhatRefersToItFromAnotherScope() async throws {
        try await withReferences { shared, target, outside in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            let gone = deletion(target, in: share, parent: "list")
            let refused = try await anna.save([gone])
            #expect(refused.map(\.result.code) == [.referenceViolation])
            #expect(refused[0].result.dependents == ["outside"])
            #expect(try await anna.lookup(["target", "source"], in: zone).results.map(\.code) == [nil, nil])
            let both = try await anna.saveCovering([gone, deletion(outside, in: zone)])
            #expect(both.map(\.result.code) == [nil, nil])
            let found = try await anna.lookup(["target", "source", "outside"], in: zone).results
            #expect(found.map(\.code) == [.unknownItem, .unknownItem, .unknownItem])
            // In its scope it went without a signature of its own; from another one it did not.
            #expect(found.map(\.serverRecord.hasDerived) == [false, true, false])
            // Who reads the share alone can check all that it is told.
            let told = try await shared.bert.lookup(["target", "source"], in: share).results.map(\.serverRecord)
            #expect(told[1].derived.count == 1)
            _ = try StatementVerifier.verifying(told[0], share.roster)
            _ = try CascadeTests.verify(told[1], in: share)
        }
    }

    /// Where the one who deletes may not write, the reference dangles, and nothing is said of it.
    @Test func referencesFromScopesThatTheDeleterDoesNotWriteToDangle() async throws {
        try await withReferences { shared, target, _ in
            let (bert, share) = (shared.bert, shared.share)
            let done = try await bert.saveCovering([deletion(target, in: share, parent: "list")])
            #expect(done.map(\.result.code) == [nil])
            #expect(done[0].result.dependents.isEmpty)
            let codes = try await shared.anna.lookup(["target", "source", "outside"], in: shared.zone).results.map(
                \.code)
            #expect(codes == [.unknownItem, .unknownItem, nil])
        }
    }

    /// Out of the zone's scope through the share and back: what leads there is named too, and each deletion holds by
    /// itself.
    @Test func chainsThroughScopesAreNamedAsAWhole() async throws {
        try await withShare { shared in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            let outside = try await anna.save(
                [Write("a"), Write("b", nil).going(with: "a"), Write("d", nil).going(with: "c")], in: zone)
            let inside = try await anna.save([PlacedWrite(Write("c", nil, parent: "list").going(with: "b"), in: share)])
            #expect((outside + inside).map(\.result.code) == [nil, nil, nil, nil])
            let first = try await anna.save([deletion(outside[0], in: zone)])
            #expect(first[0].result.dependents == ["b", "c"])
            let some = [
                deletion(outside[0], in: zone), deletion(outside[1], in: zone),
                deletion(inside[0], in: share, parent: "list"),
            ]
            let second = try await anna.save(some)
            #expect(second.map(\.result.code) == [.batchRequestFailed, .batchRequestFailed, .referenceViolation])
            #expect(second[2].result.dependents == ["d"])
            #expect(
                try await anna.save(some + [deletion(outside[2], in: zone)]).map(\.result.code) == [nil, nil, nil, nil])
            #expect(
                try await anna.lookup(["a", "b", "c", "d"], in: zone).results.map(\.code)
                    == Array(repeating: .unknownItem, count: 4))
        }
    }

    /// A share's root and record go with the share alone, and what the same request saves stays.
    @Test func rootsAndWhatIsSavedStay() async throws {
        try await withReferences { shared, target, outside in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            let root = try SavedRecord(try await anna.lookup(["list"], in: zone).results[0].record)
            let note = Write("anchor")
            #expect(try await anna.codes([note], in: zone) == [nil])
            let anchored = try await anna.save([
                PlacedWrite(Write(after: root).going(with: "anchor"), in: share, share: "share")
            ])
            #expect(anchored.map(\.result.code) == [nil])
            let anchor = try SavedRecord(try await anna.lookup(["anchor"], in: zone).results[0].record)
            #expect(try await anna.save([deletion(anchor, in: zone)]).map(\.result.code) == [nil])
            #expect(try await anna.lookup(["list"], in: zone).results.map(\.code) == [nil])

            let kept = PlacedWrite(Write(after: outside, nil).going(with: "target"), in: zone)
            let saved = try await anna.saveCovering([deletion(target, in: share, parent: "list"), kept])
            #expect(saved.map(\.result.code) == [nil, nil])
            #expect(try await anna.lookup(["outside"], in: zone).results.map(\.code) == [nil])
        }
    }

    /// A source with children cannot go, so neither does its target.
    @Test func aSourceWithChildrenKeepsItsTarget() async throws {
        try await withReferences { shared, target, outside in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            #expect(try await anna.codes([Write("child", parent: "outside")], in: zone) == [nil])
            let now = try SavedRecord(try await anna.lookup(["outside"], in: zone).results[0].record)
            let saved = try await anna.save([deletion(target, in: share, parent: "list"), deletion(now, in: zone)])
            #expect(saved.map(\.result.code) == [.referenceViolation, .referenceViolation])
            #expect(saved.map(\.result.dependents) == [["outside"], []])
            #expect(try await anna.lookup(["target", "outside"], in: zone).results.map(\.code) == [nil, nil])
        }
    }
}

extension StatementVerifier {
    fileprivate static func verifying(_ record: Sealkit_V1_Record, _ roster: Roster) throws -> VerifiedStatement {
        var verifier = StatementVerifier(roster: roster)
        return try verifier.verify(
            [UInt8](record.statement), proof: try StatementProof(record.proof), recordName: record.recordName)
    }
}
