import SealEnvelope
import SealQuery
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

    /// References meet many sources: these are counted where they lie, and only for what a record came to refer to.
    @Test func sourcesAreCountedNotRead() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let targets = (0..<750).map { String($0) }
            func add(sources: Int) async throws {
                try await server.services.database.write(at: .everything) { connection in
                    try connection.execute(
                        """
                        INSERT INTO delete_reference (owner, zone, target, source, field)
                        WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i < 749),
                            s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < $1)
                        SELECT z.owner, z.zone, CAST(t.i AS TEXT), 's' || s.i, 'owners' FROM zone z, t, s WHERE z.name = $2
                        ON CONFLICT DO NOTHING
                        """, [.integer(Int64(sources - 1)), .text(zone.name)])
                }
            }
            func write(_ name: String) -> Write {
                var write = Write(name, nil)
                let references = targets.map { Value.reference(ReferenceValue(recordName: $0, action: .deleteSelf)) }
                write.fields = [("owners", .plain(.list(references)))]
                return write
            }
            try await add(sources: 100)
            let read = counter.rowsInWrites
            let saved = try await anna.save([write("a")], in: zone)
            #expect(saved.map(\.result.code) == [nil])
            #expect(counter.rowsInWrites - read < 10_000)

            // What it refers to already is neither counted nor written again.
            let (count, changed) = (counter.count, counter.changed)
            var again = Write(after: saved[0], nil)
            again.fields = write("a").fields
            again.fields.append(("title", .encrypted(.string("other"))))
            #expect(try await anna.codes([again], in: zone) == [nil])
            #expect(counter.count - count < 150)
            #expect(counter.changed - changed < 100)

            // More of them than one request may look at.
            try await add(sources: 300)
            #expect(try await anna.codes([write("b")], in: zone) == [.limitExceeded])
        }
    }

    /// What is deleted takes its references away, and nobody else waits for very many of these.
    @Test func referencesThatGoAreBounded() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let saved = try await anna.save(
                (0..<3).map { Write("r\($0)", nil).going(with: "a", "b") } + [Write("t")], in: zone)
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute("UPDATE record SET delete_references = 30000 WHERE delete_references > 0")
            }
            let deletions = saved.prefix(3).map { Write(after: $0, kind: .delete) }
            let codes = try await anna.codes(deletions, in: zone, atomic: false)
            #expect(codes == [nil, .limitExceeded, .limitExceeded])
            #expect(try await anna.codes([deletions[1]], in: zone) == [nil])
            #expect(try await anna.codes([deletions[2]], in: zone) == [nil])
            #expect(try await server.rows(in: ["delete_reference"]).isEmpty)
        }
    }

    /// A target whose records have too much in indexes is told what to delete before it.
    @Test func whatGoesAlongMayBeTooMuchForIndexes() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            func thing(_ index: Int) -> Write {
                let words = (0..<100).map { "w\(index)x\($0)" }.joined(separator: " ")
                return Write.thing("s\(index)", ["text": .string(words)]).going(with: "t")
            }
            var sources: [SavedRecord] = []
            for start in stride(from: 0, to: 300, by: 100) {
                sources += try await anna.save((start..<start + 100).map(thing), in: zone)
            }
            let target = try await anna.save([Write("t")], in: zone)[0]
            do {
                _ = try await anna.codesCovering([Write(after: target, kind: .delete)], in: zone)
                Issue.record("it was not refused")
            } catch let refusal as Refusal {
                #expect(refusal.code == .limitExceeded)
                #expect(refusal.failure.remedy.contains("refer to it"), "\(refusal.failure.remedy)")
            }
            let codes = try await anna.codes(sources.prefix(80).map { .deletion(of: $0) }, in: zone)
            #expect(codes == Array(repeating: nil, count: 80))
            #expect(try await anna.codesCovering([Write(after: target, kind: .delete)], in: zone) == [nil])
            #expect(try await anna.names("self CONTAINS 'w299x99'", in: zone).isEmpty)
        }
    }

    /// In the public database nothing goes with anything, and nothing is kept for that.
    @Test func publicReferencesTakeNoRoom() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var write = PublicWrite("a", nil)
            let references = (0..<100).map {
                Value.reference(ReferenceValue(recordName: "r\($0)", action: .deleteSelf))
            }
            write.fields = [("owners", .stored(.plain(.list(references)), blob: nil))]
            let saved = try await anna.savePublic([write])
            #expect(try await server.rows(in: ["delete_reference"]).isEmpty)
            // What an earlier version has kept goes with the record's next save.
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    """
                    INSERT INTO delete_reference (owner, zone, target, source, field)
                    SELECT owner, zone, 'r0', name, 'owners' FROM record WHERE name = 'a'
                    """)
                try connection.execute("UPDATE record SET delete_references = 1 WHERE name = 'a'")
            }
            var next = PublicWrite(after: saved[0])
            next.fields = write.fields
            #expect(try await anna.publicCodes([next]) == [nil])
            #expect(try await server.rows(in: ["delete_reference"]).isEmpty)
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
