import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// No record becomes its own ancestor, whoever saves it and by whatever way.
extension HierarchyTests {
    private func moved(_ record: SavedRecord, below parent: String?) -> Write {
        var write = Write(after: record)
        write.parent = parent
        return write
    }

    private func current(_ name: String, _ person: Person, in zone: TestZone) async throws -> SavedRecord {
        try SavedRecord(try await person.lookup([name], in: zone).results[0].record)
    }

    @Test func aRootDoesNotComeBelowItsOwnChildren() async throws {
        try await withShare { shared in
            let (anna, bert, zone, share) = (shared.anna, shared.bert, shared.zone, shared.share)
            let below = PlacedWrite(moved(shared.root, below: "item"), in: share, share: "share")
            for person in [anna, bert] {
                let (request, _) = try person.request([below])
                #expect(try await person.send(request, to: share).map(\.code) == [.referenceViolation])
            }
            // The share ends and its records go, as ever.
            var gone = Write(after: shared.record, kind: .delete)
            gone.type = Names.shareType
            let root = try await current("list", anna, in: zone)
            let ended = try await anna.save(
                [PlacedWrite(gone, in: share), Self.move(root, from: share, to: zone, parent: nil)],
                closing: [anna.closing(share)])
            #expect(ended.map(\.result.code) == [nil, nil])
            let item = try await anna.save([Self.move(shared.item, from: share, to: zone, parent: "list")])
            #expect(item.map(\.result.code) == [nil])
            let list = try await current("list", anna, in: zone)
            let deletions = [Write(after: item[0], kind: .delete), Write(after: list, kind: .delete)]
            #expect(try await anna.codes(deletions, in: zone) == [nil, nil])
        }
    }

    @Test func nothingBecomesItsOwnAncestorInOneRequest() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let new = [Write("a", parent: "b"), Write("b", parent: "a"), Write("below", parent: "a"), Write("beside")]
            #expect(
                try await anna.codes(new, in: zone, atomic: false)
                    == [.referenceViolation, .referenceViolation, .referenceViolation, nil])
            #expect(
                try await anna.codes(new.map { Write($0.name + "2", parent: $0.parent.map { $0 + "2" }) }, in: zone)
                    .contains(nil) == false)
            // Two that change places are no circle, whatever comes first.
            for order in [[0, 1], [1, 0]] {
                let names = ["x\(order[0])", "y\(order[0])"]
                let saved = try await anna.save([Write(names[0]), Write(names[1], parent: names[0])], in: zone)
                let top = try await current(names[0], anna, in: zone)
                let swapped = [moved(top, below: names[1]), moved(saved[1], below: nil)]
                #expect(try await anna.codes(order.map { swapped[$0] }, in: zone) == [nil, nil])
            }
        }
    }

    /// What is refused keeps the parent that it has, and so takes the ground from under others.
    @Test func whatIsRefusedCountsWithTheParentThatItHas() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save(
                [Write("top"), Write("a", parent: "top"), Write("b", parent: "a")], in: zone)
            let a = try await current("a", anna, in: zone)
            var stale = moved(saved[2], below: "top")
            stale.tag = "0"
            let codes = try await anna.codes([stale, moved(a, below: "b")], in: zone, atomic: false)
            #expect(codes == [.serverRecordChanged, .referenceViolation])
            // Something that another check refuses last.
            let orphan = moved(saved[2], below: "nothing")
            #expect(
                try await anna.codes([orphan, moved(a, below: "b")], in: zone, atomic: false)
                    == [.referenceViolation, .referenceViolation])
            let both = [moved(saved[2], below: "top"), moved(a, below: "b")]
            #expect(try await anna.codes(both, in: zone) == [nil, nil])
        }
    }

    @Test func aRootsOwnParentClosesNoCycleThroughOtherShares() async throws {
        try await withShare { shared in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            // A second root below the first share's item: its own parent counts for nothing.
            let (second, _, _) = try await anna.makeShare(of: shared.note, "second", in: zone)
            let note = try await current("note", anna, in: zone)
            let under = PlacedWrite(moved(note, below: "item"), in: second, share: "second")
            let saved = try await anna.save([under])
            #expect(saved.map(\.result.code) == [nil])
            let list = try await current("list", anna, in: zone)
            // And the first one below the second: each share would be fine, and both together never end.
            let leaf = try await anna.save([PlacedWrite(Write("leaf", parent: "note"), in: second)])
            #expect(leaf.map(\.result.code) == [nil])
            let circle = PlacedWrite(moved(list, below: "leaf"), in: share, share: "share")
            #expect(try await anna.save([circle]).map(\.result.code) == [.referenceViolation])
            // The second share ends: its root comes into the zone, and from there to its parent.
            var gone = Write(after: try await current("second", anna, in: zone), kind: .delete)
            gone.type = Names.shareType
            let root = try await current("note", anna, in: zone)
            let ended = try await anna.save(
                [PlacedWrite(gone, in: second), Self.move(root, from: second, to: zone, parent: "item")],
                closing: [anna.closing(second)])
            #expect(ended.map(\.result.code) == [nil, nil])
            let unsettled = try await anna.unsettled(in: zone)
            #expect(Set(unsettled.records.map(\.record.recordName)) == ["note", "leaf"])
            let first = try await anna.save([Self.move(ended[1], from: zone, to: share, parent: "item")])
            #expect(first.map(\.result.code) == [nil])
            let last = try await anna.save([Self.move(leaf[0], from: second, to: share, parent: "note")])
            #expect(last.map(\.result.code) == [nil])
            #expect(try await !anna.unsettled(in: zone).moreComing)
        }
    }

    /// Of an older server, or one that was tampered with: what is a circle already is deleted together, or ends with
    /// another parent.
    @Test func aCircleThatIsThereIsDeletedOrEnded() async throws {
        try await RunningServer.withZone { anna, zone, server in
            func circle(_ names: [String]) async throws -> [SavedRecord] {
                let saved = try await anna.save([Write(names[0]), Write(names[1], parent: names[0])], in: zone)
                try await server.services.database.write(at: .everything) { connection in
                    try connection.execute(
                        "UPDATE record SET parent = $1 WHERE name = $2", [.text(names[1]), .text(names[0])])
                }
                return [try await current(names[0], anna, in: zone), saved[1]]
            }
            let first = try await circle(["a", "b"])
            #expect(try await anna.codes([Write("c", parent: "a")], in: zone) == [nil])
            let c = try await current("c", anna, in: zone)
            #expect(try await anna.codes([Write(after: first[1], kind: .delete)], in: zone) == [.referenceViolation])
            let a = try await current("a", anna, in: zone)
            #expect(
                try await anna.codes([a, first[1], c].map { Write(after: $0, kind: .delete) }, in: zone) == [
                    nil, nil, nil,
                ])
            let second = try await circle(["d", "e"])
            #expect(try await anna.codes([moved(second[1], below: nil)], in: zone) == [nil])
            #expect(try await anna.codes([Write(after: second[0], kind: .delete)], in: zone) == [nil])
        }
    }

    /// New records cost nothing, however deep; what gets another parent costs a statement for each record above it,
    /// once a request.
    @Test func findingOutCostsEachRecordAboveOnce() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let chain = (0..<1_000).map { Write("c\($0)", nil, parent: $0 == 0 ? nil : "c\($0 - 1)") }
            for start in stride(from: 0, to: chain.count, by: 400) {
                let refused = try await anna.codes(Array(chain[start..<min(start + 400, chain.count)]), in: zone)
                    .compactMap(\.self)
                #expect(refused.isEmpty)
            }
            let pairs = (0..<20).flatMap { [Write("t\($0)", nil), Write("u\($0)", nil, parent: "t\($0)")] }
            let saved = try await anna.save(pairs, in: zone)
            func cost(_ writes: [Write], _ code: ErrorCode? = nil) async throws -> Int {
                let (request, _) = try anna.request(writes, in: zone)
                let before = counter.count
                #expect(
                    try await anna.send(request, to: zone).map(\.code) == Array(repeating: code, count: writes.count))
                return counter.count - before
            }
            let shallow = try await cost((0..<20).map { Write("s\($0)", nil, parent: "c1") })
            let deep = try await cost((0..<20).map { Write("d\($0)", nil, parent: "c999") })
            #expect(deep == shallow)
            var tops: [Write] = []
            for index in 0..<20 {
                tops.append(moved(try await current("t\(index)", anna, in: zone), below: "c999"))
            }
            #expect(saved.count == 40)
            let climbing = try await cost(tops)
            #expect(climbing > deep + 990, "\(climbing) against \(deep)")
            #expect(climbing < deep + 1_000 + 60, "\(climbing) against \(deep)")
            let top = try await current("c0", anna, in: zone)
            _ = try await cost([moved(top, below: "u19")], .referenceViolation)
        }
    }
}
