import Foundation
import SealKit
import SealKitTesting
import Testing

/// What an app keeps: notes in a zone of Alice's, which Bob has joined. Made as an app would, by SealKit's public API.
struct Notes {
    let alice: TestDevice
    let bob: TestDevice
    /// As Alice names it, and as Bob does.
    let zone: RecordZone.ID
    let joined: RecordZone.ID
    let note: Record.ID

    init(_ server: TestServer) async throws {
        alice = try await server.account(named: "alice")
        bob = try await server.account(named: "bob")
        zone = try await alice.own.save(RecordZone(zoneName: "Notes")).zoneID
        note = try await alice.save("note", in: zone, body: "first").recordID
        let share = try await alice.share(zone, with: [(bob, .readWrite)])
        joined = try await bob.join(try #require(share.url))
        // Alice has seen him come.
        _ = try await alice.own.share(for: zone)
    }

    /// The first note as Bob names it.
    var bobs: Record.ID { Record.ID(recordName: note.recordName, zoneID: joined) }
}

extension TestDevice {
    var own: Database { container.privateDatabase }
    var shared: Database { container.sharedDatabase }

    @discardableResult
    func save(_ name: String, in zone: RecordZone.ID, body: String) async throws -> Record {
        var note = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
        note.encryptedValues["body"] = body
        note.encryptedValues["title"] = "title of \(name)"
        return try await (zone.ownerName == RecordZone.ID.currentUser ? own : shared).save(note)
    }

    @discardableResult
    func edit(_ id: Record.ID, body: String) async throws -> Record {
        let database = id.zoneID.ownerName == RecordZone.ID.currentUser ? own : shared
        var note = try await database.record(for: id)
        note.encryptedValues["body"] = body
        return try await database.save(note)
    }

    func body(of id: Record.ID) async throws -> String? {
        let database = id.zoneID.ownerName == RecordZone.ID.currentUser ? own : shared
        return try await database.record(for: id).encryptedValues["body"]
    }

    func share(
        _ zone: RecordZone.ID, title: String = "Garden", with people: [(TestDevice, Share.Participant.Permission)]
    ) async throws -> Share {
        var share = Share(recordZoneID: zone)
        share.title = title
        for (person, permission) in people {
            share.addParticipant(
                try await container.shareParticipant(
                    forUserRecordID: person.container.userRecordID(), permission: permission))
        }
        return try await own.save(share)
    }

    func join(_ url: String) async throws -> RecordZone.ID {
        try await container.accept(try await container.shareMetadata(for: url))
    }
}

/// Expects that the SDK refuses with this code.
@discardableResult
func expectRefused(
    _ code: SealKitError.Code, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> SealKitError? {
    do {
        try await body()
        Issue.record(comment ?? "nothing was refused", sourceLocation: sourceLocation)
        return nil
    } catch let error as SealKitError {
        #expect(error.code == code, comment ?? "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record(error, comment, sourceLocation: sourceLocation)
        return nil
    }
}

/// Bytes that differ everywhere, without being random.
func pattern(_ count: Int) -> Data {
    var (data, state) = (Data(capacity: count), UInt64(88_172_645_463_325_252))
    for _ in 0..<count {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        data.append(UInt8(truncatingIfNeeded: state))
    }
    return data
}
