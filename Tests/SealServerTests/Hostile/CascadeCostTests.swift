import SealEnvelope
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What one deletion may cost everybody else.
@Suite(.timeLimit(.minutes(60))) struct CascadeCostTests {
    /// Records are read while other writes wait, and references followed: both are bounded, over all targets of a
    /// request together.
    @Test func whatWouldTakeTooMuchIsRefused() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let targets = try await anna.save([Write("one"), Write("two")], in: zone)
            let sources = (0..<10).map {
                Write("s\($0)", String(repeating: "x", count: 10_000)).going(with: $0 < 5 ? "one" : "two")
            }
            #expect(try await anna.codes(sources, in: zone) == Array(repeating: nil, count: 10))
            let deletions = try anna.request(targets.map { Write(after: $0, kind: .delete) }, in: zone).sealed.map(
                \.statement)
            /// How many go with each, or the code of its refusal.
            func going(_ bounds: ReferenceReader.Bounds, with deletions: [Statement]) async throws -> [String] {
                try await server.services.database.read { connection in
                    let row = try #require(
                        try connection.first("SELECT \(ZoneRow.columns) FROM zone z", [], ZoneRow.init))
                    var references = ReferenceReader(zone: row, connection, bounds: bounds)
                    var dependents = Dependents(
                        zone: row, user: anna.user, rosters: server.services.rosters, connection: connection)
                    return try deletions.map { deletion in
                        switch try references.takenAlong(
                            with: deletion, staying: [], scope: CascadeScope(nil), &dependents)
                        {
                        case .found(let along): "\(along.members.count)"
                        case .refused(let refusal): refusal.error.code.rawValue
                        }
                    }
                }
            }
            #expect(try await going(.init(), with: deletions) == ["5", "5"])
            #expect(try await going(.init(records: 8), with: deletions) == ["5", "limitExceeded"])
            #expect(try await going(.init(bytes: 60_000), with: deletions) == ["5", "limitExceeded"])
            #expect(try await going(.init(bytes: 40_000), with: [deletions[0]]) == ["limitExceeded"])
            #expect(try await going(.init(references: 11), with: deletions) == ["5", "limitExceeded"])
            #expect(try await going(.init(references: 4), with: [deletions[0]]) == ["limitExceeded"])
            // What several take is read once.
            #expect(try await going(.init(bytes: 60_000), with: [deletions[0], deletions[0]]) == ["5", "5"])
            // Nothing of it has happened: the real one takes all.
            let codes = try await anna.codesCovering(targets.map { Write(after: $0, kind: .delete) }, in: zone)
            #expect(codes == [nil, nil])
            let left = try await anna.lookup(sources.map(\.name), in: zone).results.map(\.code)
            #expect(left == Array(repeating: .unknownItem, count: 10))
        }
    }

    /// An answer names what it has room for; a deletion that is not told anything is told in the next round.
    @Test func anAnswerNamesWhatItHasRoomFor() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let targets = try await anna.save([Write("one"), Write("two")], in: zone)
            _ = try await anna.save([Write("a").going(with: "one"), Write("b").going(with: "two")], in: zone)
            let request = try anna.request(targets.map { Write(after: $0, kind: .delete) }, in: zone).request
            let refused = try await anna.send(request, to: zone)
            #expect(refused.map(\.taken.names) == [["a"], ["b"]])
            let one = try refused[0].taken.serializedData().count
            func answer(_ room: Int) async throws -> [Sealkit_V1_RecordResult] {
                try await server.services.database.read { connection in
                    let row = try #require(
                        try connection.first("SELECT \(ZoneRow.columns) FROM zone z", [], ZoneRow.init))
                    var response = Sealkit_V1_ModifyRecordsResponse()
                    response.results = refused.map { result in
                        var bare = result
                        bare.clearTaken()
                        return bare
                    }
                    let answer = TakenAnswer(
                        message: SaveMessage(request), zone: row, user: anna.user, rosters: server.services.rosters,
                        connection: connection,
                        answerBytes: room)
                    try answer.add(to: &response)
                    return response.results
                }
            }
            let some = try await answer(one + one / 2)
            #expect(some.map(\.hasTaken) == [true, false])
            #expect(some.map(\.code) == [.deletionIncomplete, .deletionIncomplete])
            let none = try await answer(one / 2)
            #expect(none.map(\.hasTaken) == [false, false])
            #expect(none.map(\.code) == [.limitExceeded, .limitExceeded])
        }
    }
}
