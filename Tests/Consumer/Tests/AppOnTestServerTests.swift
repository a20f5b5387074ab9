import ConsumerSwift6
import Foundation
import SealKit
import SealKitTesting
import Testing

/// How an app tests itself: its own code, on a server of the test, which may lie.
@Suite(.timeLimit(.minutes(60))) struct AppOnTestServerTests {
    @Test func aNoteThatTheServerTakesBackIsNoticed() async throws {
        try await TestServer.run(container: "org.example.notes") { server in
            let alice = try await server.account(named: "alice")
            let bob = try await server.account(named: "bob")
            let database = alice.container.privateDatabase
            let zone = try await database.save(RecordZone(zoneName: "Notes")).zoneID

            let file = FileManager.default.temporaryDirectory.appendingPathComponent("scan-\(UUID().uuidString)")
            try Data("plans".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let id = try await database.save(Note.record(in: zone, scan: file)).recordID
            let note = try #require(Note(record: try await database.record(for: id)))
            #expect(note.title == "Plans")
            #expect(note.body == "Tomatoes go left")

            // Shared, and read by somebody else.
            var share = Share(recordZoneID: zone)
            share.addParticipant(
                try await alice.container.shareParticipant(forUserRecordID: bob.container.userRecordID()))
            let url = try #require(try await database.save(share).url)
            let joined = try await bob.container.accept(try await bob.container.shareMetadata(for: url))
            let theirs = Record.ID(recordName: id.recordName, zoneID: joined)
            let read = try await bob.container.sharedDatabase.record(for: theirs)
            #expect(try #require(Note(record: read)).title == "Plans")

            // The server says that there is no such note: the app is told, and keeps what it has.
            bob.network.inject(.deniedRecord(theirs))
            do {
                _ = try await bob.container.sharedDatabase.record(for: theirs)
                Issue.record("nothing was noticed")
            } catch SealKitError.Code.rollback {
                #expect(try await bob.container.violations().map(\.recordName) == [id.recordName])
            }
            bob.network.beHonest()
            _ = try await bob.container.sharedDatabase.record(for: theirs)
        }
    }
}
