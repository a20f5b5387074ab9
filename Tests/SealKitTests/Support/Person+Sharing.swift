import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

extension Person {
    /// Shares a fresh zone with one note, with whoever is named.
    func share(
        with invitees: [(Person, Share.Participant.Permission)] = [], title: String = "Garden plans"
    ) async throws -> (zone: RecordZone.ID, note: Record, share: Share) {
        let zone = try await makeZone()
        let note = try await own.save(note(in: zone, "from the owner"))
        var share = Share(recordZoneID: zone)
        share.title = title
        for (person, permission) in invitees { share.addParticipant(try await participant(person, permission)) }
        return (zone, note, try await own.save(share))
    }

    /// Somebody as a participant, by user name.
    func participant(
        _ person: Person, _ permission: Share.Participant.Permission = .readOnly
    ) async throws -> Share.Participant {
        try await container.shareParticipant(forUserRecordID: person.container.userRecordID(), permission: permission)
    }

    @discardableResult
    func join(_ url: String?) async throws -> RecordZone.ID {
        try await container.accept(try await container.shareMetadata(for: try #require(url)))
    }

    /// The share of a zone, as this person's own or as a participant sees it.
    func share(of zone: RecordZone.ID) async throws -> Share {
        try await (zone.ownerName == RecordZone.ID.currentUser ? own : shared).share(for: zone)
    }

    /// Fetches, changes and saves a share.
    @discardableResult
    func edit(_ zone: RecordZone.ID, _ change: (inout Share) async throws -> Void) async throws -> Share {
        var share = try await share(of: zone)
        try await change(&share)
        return try await (zone.ownerName == RecordZone.ID.currentUser ? own : shared).save(share)
    }

    /// Makes a participant an administrator.
    func promote(_ person: Person, in zone: RecordZone.ID) async throws {
        try await edit(zone) { share in
            var participant = try #require(share.participant(person))
            participant.role = .administrator
            share.addParticipant(participant)
        }
    }

    /// The newest epoch that this person knows of a zone.
    func epoch(of zone: RecordZone.ID) async throws -> UInt32 {
        let core = container.core
        return try await core.keeper(of: core.scope(of: zone)).refresh().roster.currentEpoch.number
    }
}

extension Share {
    func participant(_ person: Person) -> Participant? {
        participants.first { $0.userIdentity.userRecordID?.recordName == person.name }
    }
}
