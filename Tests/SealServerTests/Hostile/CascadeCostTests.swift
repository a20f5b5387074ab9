import SealEnvelope
import SealStatements
import SealWire
import Testing

@testable import SealServer

/// What one deletion may cost everybody else.
@Suite struct CascadeCostTests {
    /// Steps are kept though no account pays for them, and records are read while other writes wait: both are bounded, over
    /// all targets of a request together, and what is refused adds nothing.
    @Test func whatWouldTakeTooMuchIsRefused() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let targets = try await anna.save([Write("one"), Write("two")], in: zone)
            let sources = (0..<10).map { Write("s\($0)", String(repeating: "x", count: 10_000)).going(with: $0 < 5 ? "one" : "two") }
            #expect(try await anna.codes(sources, in: zone) == Array(repeating: nil, count: 10))
            let deletion = try anna.request([Write(after: targets[0], kind: .delete)], in: zone).sealed[0].statement
            /// How many go, and the code of the first refusal.
            func going(_ bounds: Cascade.Bounds, _ targets: [String]) async throws -> (Int, ErrorCode?) {
                try await server.services.database.read { connection in
                    let row = try #require(try connection.first("SELECT \(ZoneRow.columns) FROM zone z", [], ZoneRow.init))
                    var cascade = Cascade(bounds: bounds)
                    var dependents = Dependents(
                        zone: row, user: anna.user, rosters: server.services.rosters, connection: connection)
                    for (root, target) in targets.enumerated() {
                        let refusal = try cascade.add(
                            target: target, deletion: deletion, root: root, staying: Set(targets), scope: CascadeScope(nil),
                            &dependents)
                        if let refusal { return (cascade.members.count, refusal.error.code) }
                    }
                    return (cascade.members.count, nil)
                }
            }
            #expect(try await going(.init(), ["one", "two"]) == (10, nil))
            #expect(try await going(.init(records: 60_000), ["one"]) == (5, nil))
            #expect(try await going(.init(records: 60_000), ["one", "two"]) == (5, .limitExceeded))
            #expect(try await going(.init(records: 40_000), ["one"]) == (0, .limitExceeded))
            #expect(try await going(.init(steps: 5_000), ["one"]) == (5, nil))
            #expect(try await going(.init(steps: 5_000), ["one", "two"]) == (5, .limitExceeded))
            #expect(try await going(.init(steps: 2_000), ["one"]) == (0, .limitExceeded))
            // Nothing of it has happened: the real one takes all.
            let deletions = targets.map { Write(after: $0, kind: .delete) }
            #expect(try await anna.codes(deletions, in: zone) == [nil, nil])
            let left = try await anna.lookup(sources.map(\.name), in: zone).results.map(\.code)
            #expect(left == Array(repeating: .unknownItem, count: 10))
        }
    }
}
