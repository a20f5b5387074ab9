import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Who sees a scope before entries are given back, or sees it after them, hears of them.
extension RestoredServerTests {
    /// A zone that Anna shares with Bert. Both subscribe to their databases, and nothing is to be told yet.
    private static func subscribed(_ server: RunningServer) async throws -> Shared {
        let shared = try await shared(server)
        try await shared.anna.subscribe(.database())
        try await shared.bert.subscribe(.database("shares"), in: "shared")
        #expect(try await told(server).isEmpty)
        return shared
    }

    /// The subscriptions for which something is to be told.
    private static func told(_ server: RunningServer) async throws -> [String] {
        try await server.services.database.read { connection in
            try connection.rows("SELECT subscription FROM notification ORDER BY subscription") {
                try $0.text("subscription")
            }
        }
    }

    private func giveBack(_ entries: [Sealkit_V1_SignedEntry], of zone: TestZone, by person: Person) async throws {
        try await person.restore(
            .with {
                $0.zone = zone.id(for: person)
                $0.entries = entries
            })
    }

    @Test func whoIsRemovedByWhatIsGivenBackHearsOfIt() async throws {
        try await restored {
            try await Self.subscribed($0)
        } lost: { server, kept in
            let anna = kept.anna.at(server)
            var zone = kept.zone
            try await anna.remove(kept.bert, from: &zone)
            return try await anna.fetchRoster(zone).entries
        } after: { server, kept, entries in
            try await giveBack(entries, of: kept.zone, by: kept.anna.at(server))
            #expect(try await kept.bert.at(server).zones(shared: true).isEmpty)
            #expect(try await Self.told(server) == ["db", "shares"])
        }
    }

    @Test func whoJoinsAndIsRemovedByWhatIsGivenBackHearsOfItToo() async throws {
        try await restored { server in
            let carl = try await Person.ready(server)
            let shared = try await Self.subscribed(server)
            try await carl.subscribe(.database("carls"), in: "shared")
            return (shared, carl)
        } lost: { server, kept in
            let anna = kept.0.anna.at(server)
            var zone = kept.0.zone
            try await anna.remove(kept.0.bert, from: &zone)
            try await anna.share(&zone, with: kept.1.at(server))
            try await anna.remove(kept.1, from: &zone)
            return try await anna.fetchRoster(zone).entries
        } after: { server, kept, entries in
            try await giveBack(entries, of: kept.0.zone, by: kept.0.anna.at(server))
            #expect(try await Set(Self.told(server)) == ["carls", "db", "shares"])
        }
    }

    @Test func anEndThatIsGivenBackIsToldToAllWhoSawTheZone() async throws {
        try await restored {
            try await Self.subscribed($0)
        } lost: { server, kept in
            let anna = kept.anna.at(server)
            guard case .deleted = try await anna.deleteZone(kept.zone).outcome else { throw TestFailure("not deleted") }
            return try await anna.fetchRoster(kept.zone).entries
        } after: { server, kept, entries in
            try await giveBack(entries, of: kept.zone, by: kept.bert.at(server))
            #expect(try await kept.anna.at(server).zones().isEmpty)
            #expect(try await Self.told(server) == ["db", "shares"])
        }
    }
}
