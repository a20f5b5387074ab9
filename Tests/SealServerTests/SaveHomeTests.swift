import SealWire
import Testing

@testable import SealServer
@testable import SealStorage

/// Where saves are at home, which PostgreSQL commits beside each other.
@Suite(.timeLimit(.minutes(60))) struct SaveHomeTests {
    /// How many writes were at home in a zone since the last time.
    private static func inZones(_ hook: WriteHook) -> Int {
        hook.takeHomes().count { if case .zone = $0 { true } else { false } }
    }

    /// The first of somebody since the server's start, one that is refused, and one beside a share of records: the last
    /// two are tried as such that go on from the one before.
    @Test func savesAreAtHomeInTheirZone() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let notes = try await anna.makeZone("notes")
            let lists = try await bert.makeZone("lists")
            // What they save is in the schema by this.
            let list = try await bert.save([Write("list")], in: lists)[0]
            _ = try await bert.makeShare(of: list, in: lists)
            _ = Self.inZones(hook)
            #expect(try await anna.codes([Write("first")], in: notes) == [nil])
            #expect(Self.inZones(hook) == 1)
            #expect(try await anna.codes([Write("first")], in: notes) == [.serverRecordChanged])
            #expect(Self.inZones(hook) == 2)
            #expect(try await bert.codes([Write("another")], in: lists) == [nil])
            #expect(Self.inZones(hook) == 2)
        }
    }

    @Test func whatIsNewToTheSchemaHasEverythingToItself() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let anna = try await Person.ready(server)
            let notes = try await anna.makeZone("notes")
            _ = Self.inZones(hook)
            #expect(try await anna.codes([Write("first")], in: notes) == [nil])
            #expect(Self.inZones(hook) == 0)
        }
    }
}
