import Foundation
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What hierarchies may cost everybody else, however many shares a zone has and however deep it is.
@Suite(.timeLimit(.minutes(60))) struct HierarchyCostTests {
    /// Roots that have a parent of their own, `each` below a chain of a thousand records.
    private func withShares(
        _ count: Int, chain: Int = 1_000, _ body: @Sendable (Person, TestZone, StatementCounter) async throws -> Void
    ) async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let names = (0..<chain).map { Write("c\($0)", nil, parent: $0 == 0 ? nil : "c\($0 - 1)") }
            for start in stride(from: 0, to: chain, by: 400) {
                let codes = try await anna.codes(Array(names[start..<min(start + 400, chain)]), in: zone)
                #expect(codes.compactMap(\.self).isEmpty)
            }
            for start in stride(from: 0, to: count, by: 50) {
                _ = try await share("r", start..<min(start + 50, count), below: "c\(chain - 1)", anna, zone)
            }
            try await body(anna, zone, counter)
        }
    }

    /// Shares new records, all in one request.
    @discardableResult
    private func share(
        _ prefix: String, _ range: Range<Int>, below parent: String?, _ anna: Person, _ zone: TestZone,
        _ code: ErrorCode? = nil
    ) async throws -> [(share: TestZone, records: [SavedRecord])] {
        var (writes, openings, scopes): ([PlacedWrite], [Sealkit_V1_ShareOpening], [TestZone]) = ([], [], [])
        for index in range {
            let (scope, opening) = try anna.newShare("\(prefix)share\(index)", root: "\(prefix)\(index)", in: zone)
            var record = Write("\(prefix)share\(index)", nil)
            record.type = Names.shareType
            writes += [
                PlacedWrite(record, in: scope),
                PlacedWrite(
                    Write("\(prefix)\(index)", nil, parent: parent), in: scope, share: "\(prefix)share\(index)"),
            ]
            openings.append(opening)
            scopes.append(scope)
        }
        let saved = try await anna.save(writes, opening: openings)
        #expect(saved.first?.result.code == code)
        return scopes.enumerated().map { ($1, [saved[2 * $0], saved[2 * $0 + 1]]) }
    }

    @Test func openingSharesComesByEachRecordAboveOnce() async throws {
        try await withShares(100) { anna, zone, counter in
            func cost(_ prefix: String, _ count: Int, below parent: String?) async throws -> Int {
                let (before, start) = (counter.count + counter.rows, ContinuousClock.now)
                try await share(prefix, 0..<count, below: parent, anna, zone)
                print("MEASURE opening \(count) shares below \(parent ?? "nothing"): \(ContinuousClock.now - start)")
                return counter.count + counter.rows - before
            }
            let loose = try await cost("a", 50, below: nil)
            let deep = try await cost("b", 50, below: "c999")
            // Once up to see that nothing is shared there, once to say that something below is.
            #expect(deep < loose + 8_000, "\(deep) against \(loose)")
            let one = try await cost("d", 1, below: nil)
            #expect(one < 150, "\(one)")
        }
    }

    /// The check that has to find something: above all these roots.
    @Test func whatIsSharedBelowIsFoundWithoutGoingThere() async throws {
        try await withShares(3, chain: 300) { anna, zone, counter in
            func alreadyShared(_ name: String) async throws -> Bool {
                let record = try await anna.lookup([name], in: zone).results[0].record
                let (scope, opening) = try anna.newShare("s\(name)", root: name, in: zone)
                var writes = anna.sharing(try SavedRecord(record), as: "s\(name)", in: zone, scope)
                writes[1].write.parent = try Statement(canonicalBytes: [UInt8](record.statement)).parent
                return try await anna.save(writes, opening: [opening])[0].result.code == .alreadyShared
            }
            for name in ["c0", "c150", "c299"] { #expect(try await alreadyShared(name), "\(name)") }
            // The lower half of the chain goes below another record, with its three roots.
            #expect(try await anna.codes([Write("side"), Write("under", parent: "side")], in: zone) == [nil, nil])
            var half = Write(after: try SavedRecord(try await anna.lookup(["c150"], in: zone).results[0].record))
            half.parent = "under"
            #expect(try await anna.codes([half], in: zone) == [nil])
            for name in ["side", "under", "c150"] { #expect(try await alreadyShared(name), "\(name)") }
            #expect(try await !alreadyShared("c149"))
            // That was shared just now, and so nothing above it is.
            #expect(try await alreadyShared("c148"))
        }
    }

    @Test func twoOfOneRequestDoNotOverlapEither() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save(
                [Write("top"), Write("middle", parent: "top"), Write("below", parent: "middle")], in: zone)
            var (writes, openings): ([PlacedWrite], [Sealkit_V1_ShareOpening]) = ([], [])
            for (record, parent) in [(saved[0], nil), (saved[2], "middle")] {
                let (scope, opening) = try anna.newShare("s\(record.name)", root: record.name, in: zone)
                var both = anna.sharing(record, as: "s\(record.name)", in: zone, scope)
                both[1].write.parent = parent
                writes += both
                openings.append(opening)
            }
            let codes = try await anna.save(writes, opening: openings).map(\.result.code)
            #expect(codes.contains(.alreadyShared))
            #expect(!codes.contains(nil))
            #expect(try await anna.shares(in: zone).isEmpty)
        }
    }

    /// Whatever is done to roots and to what is above them, in one request or in many, what is kept of them is what
    /// there is.
    @Test func whatIsKeptOfRootsIsWhatThereIs() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let names = (0..<7).map { "n\($0)" }
            let refused = try await anna.codes(names.map { Write($0) }, in: zone).compactMap(\.self)
            #expect(refused.isEmpty)
            var shares: [String: (name: String, scope: TestZone)] = [:]
            var done = 0
            for step in 0..<80 {
                let found = try await anna.lookup(names + shares.values.map(\.name), in: zone).results
                var (records, parents): ([String: SavedRecord], [String: String]) = ([:], [:])
                for result in found where result.code == nil {
                    records[result.recordName] = try SavedRecord(result.record)
                    parents[result.recordName] = try Statement(canonicalBytes: [UInt8](result.record.statement)).parent
                }
                func write(
                    _ name: String, _ parent: String?, in scope: TestZone, from former: TestZone? = nil,
                    share: String? = nil
                ) throws -> PlacedWrite {
                    var write = Write(after: try #require(records[name]))
                    write.parent = parent
                    return PlacedWrite(write, in: scope, from: former, share: share)
                }
                let name = names[Int.random(in: 0..<names.count)]
                var codes: [ErrorCode?]
                if Bool.random() {
                    let moved = Set([name] + names.filter { _ in Int.random(in: 0..<4) == 0 })
                    codes = try await anna.save(
                        moved.sorted().map { name in
                            let parent = names.randomElement().flatMap { $0 == name ? nil : $0 }
                            return try write(name, parent, in: shares[name]?.scope ?? zone, share: shares[name]?.name)
                        }
                    ).map(\.result.code)
                } else if let share = shares[name] {
                    var gone = Write(after: try #require(records[share.name]), kind: .delete)
                    gone.type = Names.shareType
                    let root = try write(name, Bool.random() ? parents[name] : nil, in: zone, from: share.scope)
                    codes = try await anna.save(
                        [PlacedWrite(gone, in: share.scope), root], closing: [anna.closing(share.scope)]
                    )
                    .map(\.result.code)
                    if codes == [nil, nil] { shares[name] = nil }
                } else {
                    let (scope, opening) = try anna.newShare("share\(step)", root: name, in: zone)
                    var record = Write("share\(step)", nil)
                    record.type = Names.shareType
                    let root = try write(name, parents[name], in: scope, from: zone, share: record.name)
                    codes = try await anna.save([PlacedWrite(record, in: scope), root], opening: [opening]).map(
                        \.result.code)
                    if codes == [nil, nil] { shares[name] = (record.name, scope) }
                }
                if codes.allSatisfy({ $0 == nil }) { done += 1 }
                let kept = try await server.services.database.read { connection in
                    Dictionary(
                        uniqueKeysWithValues: try connection.rows("SELECT name, roots FROM roots_below") {
                            (try $0.text("name"), Int(try $0.int64("roots")))
                        })
                }
                let stored = try await server.services.database.read { connection in
                    Dictionary(
                        uniqueKeysWithValues: try connection.rows(
                            "SELECT name, parent FROM record WHERE deleted = 0 AND parent IS NOT NULL"
                        ) {
                            (try $0.text("name"), try $0.text("parent"))
                        })
                }
                #expect(kept == Self.counted(stored, roots: Set(shares.keys)), "step \(step)")
            }
            #expect(done > 15, "\(done)")
        }
    }

    /// Each root counts for what is above it, up to the next root.
    private static func counted(_ parents: [String: String], roots: Set<String>) -> [String: Int] {
        var counts: [String: Int] = [:]
        for root in roots {
            var next = parents[root]
            while let name = next {
                counts[name, default: 0] += 1
                next = roots.contains(name) ? nil : parents[name]
            }
        }
        return counts
    }

    // MARK: Settling

    /// A parent with very many children: what is in place is looked at once, not with every page.
    @Test func settlingLooksAtEachChildOnce() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            #expect(try await anna.codes([Write("list")], in: zone) == [nil])
            let children = 1_200
            for start in stride(from: 0, to: children, by: 400) {
                let codes = try await anna.codes(
                    (start..<start + 400).map { Write("i\($0)", nil, parent: "list") }, in: zone)
                #expect(codes.compactMap(\.self).isEmpty)
            }
            let list = try SavedRecord(try await anna.lookup(["list"], in: zone).results[0].record)
            let share = try await anna.makeShare(of: list, in: zone).share
            var (moved, pages, costs): (Int, Int, [Int]) = (0, 0, [])
            while true {
                let before = counter.rows
                let page = try await anna.unsettled(in: zone)
                costs.append(counter.rows - before)
                pages += 1
                guard !page.records.isEmpty, pages < 20 else {
                    #expect(!page.moreComing)
                    break
                }
                let writes = try page.records.map {
                    HierarchyTests.move(try SavedRecord($0.record), from: zone, to: share, parent: "list")
                }
                let codes = try await anna.save(writes).map(\.result.code)
                #expect(codes.compactMap(\.self).isEmpty)
                moved += codes.count
            }
            #expect(moved == children)
            // Names, records and parents of one page each; the last one has only what the page before has moved.
            let most = try #require(costs.max())
            #expect(most < 4_000, "\(costs)")
            #expect(costs.last ?? 0 < 1_500, "\(costs)")
            #expect(try await !anna.changes(in: zone).unsettled)
        }
    }
}
