import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// A zone of Ann's with one note, shared with Bob and Carol: the ground of most attacks.
struct AttackedZone {
    let ann: Person
    let bob: Person
    let carol: Person
    /// As Ann names it; participants name it by `joined`.
    let zone: RecordZone.ID
    let joined: RecordZone.ID
    let note: Record
    let share: Share

    /// - Parameter bob: what he may do; Carol only reads.
    init(bob permission: Share.Participant.Permission = .readWrite, server: ServerProcess? = nil) async throws {
        ann = try await Person(server)
        bob = try await Person(server)
        carol = try await Person(server)
        zone = try await ann.makeZone()
        note = try await ann.own.save(ann.note(in: zone, "from Ann", name: "note"))
        share = try await ann.share(zone, [(bob, permission), (carol, .readOnly)])
        joined = try await bob.join(share)
        _ = try await carol.join(share)
    }

    /// The note as participants name it.
    var shared: Record.ID { Record.ID(recordName: note.recordID.recordName, zoneID: joined) }

    /// The owner takes somebody out; a new epoch comes with it.
    static func remove(_ person: Person, from zone: RecordZone.ID, of owner: Person) async throws {
        var current = try await owner.own.share(for: zone)
        current.removeParticipant(
            try #require(current.participants.first { $0.userIdentity.userRecordID?.recordName == person.name }))
        _ = try await owner.own.save(current)
    }

    /// The owner signs whatever the core lets it sign, and the server takes it.
    func append(_ changes: [RosterChange], rotating: Bool = false) async throws {
        let view = try await ann.keeper(of: zone).refresh()
        var random = SystemRandom()
        let draft = try ann.container.core.author.next(
            on: view.roster, changes: changes, rotating: rotating, current: view.currentKey(), time: 1, random: &random)
        try await ann.own.append(draft, view: view)
        _ = try await ann.keeper(of: zone).adopt(draft)
    }

    /// The owner makes a writer an administrator.
    func promote(_ person: Person) async throws { try await append([.setRole(person.userID, .administrator)]) }

    /// The zone as somebody's device has verified it.
    func view(_ person: Person) async throws -> ZoneView {
        try await person.view(of: person.name == ann.name ? zone : joined)
    }
}

extension Person {
    func share(
        _ zone: RecordZone.ID, _ invitees: [(Person, Share.Participant.Permission)], title: String = "Garden plans"
    ) async throws -> Share {
        var share = Share(recordZoneID: zone)
        share.title = title
        for (person, permission) in invitees {
            share.addParticipant(
                try await container.shareParticipant(
                    forUserRecordID: person.container.userRecordID(), permission: permission))
        }
        return try await own.save(share)
    }

    @discardableResult
    func join(_ share: Share) async throws -> RecordZone.ID {
        try await container.accept(try await container.shareMetadata(for: try #require(share.url)))
    }

    func keeper(of zone: RecordZone.ID) throws -> ZoneKeeper {
        container.core.keeper(of: try container.core.scope(of: zone))
    }
    func view(of zone: RecordZone.ID) async throws -> ZoneView { try await keeper(of: zone).current() }

    /// Keys and chain of this person: what a modified client signs with.
    var identity: OwnIdentity { container.core.identity() }
    var userID: UserID { container.core.userID() }

    func body(of id: Record.ID) async throws -> String? {
        let database = id.zoneID.isCurrentUsers ? own : shared
        return try await database.record(for: id).encryptedValues["body"]
    }
}
