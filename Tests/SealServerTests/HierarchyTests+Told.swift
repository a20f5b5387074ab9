import Foundation
import SealQuery
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// What participants find by asking, and what they are told without it.
extension HierarchyTests {
    @Test func queriesFindWhatIsInTheHierarchy() async throws {
        try await withShare { shared in
            let query = Query(recordType: "Note", predicate: try Query.Predicate("pinned = 1"))
            let owners = try await shared.anna.names(query, in: shared.zone).sorted()
            #expect(owners == ["item", "list", "note"])
            let found = try await shared.bert.query(query, in: shared.share)
            #expect(found.matches.map(\.record.recordName).sorted() == ["item", "list"])
            #expect(found.scopes.map(\.shareRecordName) == ["share"])
            // Each record can be judged: the answer names every scope that its results are in.
            let all = try await shared.anna.query(query, in: shared.zone)
            #expect(Set(all.scopes.map(\.shareRecordName)) == ["", "share"])
            for match in all.matches {
                _ = try shared.anna.open(
                    match.record, in: match.record.recordName == "note" ? shared.zone : shared.share)
            }
        }
    }

    @Test func participantsAreToldOfTheirHierarchiesAlone() async throws {
        try await withShare { shared in
            let (anna, bert) = (shared.anna, shared.bert)
            try await bert.subscribe(.database(), in: "shared")
            // Beside the hierarchy: nothing is told, nor counted.
            #expect(try await anna.codes([Write("secret")], in: shared.zone) == [nil])
            #expect(
                try await anna.save([PlacedWrite(Write("new", parent: "list"), in: shared.share)]).map(\.result.code)
                    == [nil])
            let events = try await bert.listen(after: "0")
            let first = try await events.next()
            #expect(first.number == 1)
            #expect(try first.notification.zone.zoneName == shared.zone.name)
            // In one batch each is told of its own, once.
            let both = [
                PlacedWrite(Write("hidden"), in: shared.zone),
                PlacedWrite(Write("shown", parent: "list"), in: shared.share),
            ]
            #expect(try await anna.save(both).map(\.result.code) == [nil, nil])
            #expect(try await events.next().number == 2)
        }
    }

    @Test func whatLeavesAHierarchyIsToldAsAChange() async throws {
        try await withShare { shared in
            let (anna, bert) = (shared.anna, shared.bert)
            let token = try await bert.zoneChanges(shared: true).token
            let moved = try await anna.save([Self.move(shared.item, from: shared.share, to: shared.zone, parent: nil)])
            #expect(moved.map(\.result.code) == [nil])
            #expect(try await bert.zoneChanges(token, shared: true).modifications.count == 1)
            let after = try await bert.zoneChanges(shared: true).token
            #expect(
                try await anna.save([PlacedWrite(Write(after: moved[0]), in: shared.zone)]).map(\.result.code) == [nil])
            #expect(try await bert.zoneChanges(after, shared: true).modifications.isEmpty)
        }
    }
}
