import Foundation
import SealKit

/// A list that several people write.
struct SharedList {
    /// The owner's private database; everybody else's shared one.
    let database: Database
    let zoneID: RecordZone.ID

    /// A list of one's own, which nobody is in yet.
    static func make(_ title: String, in container: Container) async throws -> SharedList {
        let zone = try await container.privateDatabase.save(RecordZone(zoneName: title))
        var share = Share(recordZoneID: zone.zoneID)
        share.title = title
        try await container.privateDatabase.save(share)
        return SharedList(database: container.privateDatabase, zoneID: zone.zoneID)
    }

    /// Invites somebody who has an account, by their user record id.
    /// - Returns: the URL to send to them. Its part after the `#` is secret, and reaches no server.
    func invite(_ person: Record.ID, in container: Container) async throws -> String? {
        var share = try await database.share(for: zoneID)
        share.addParticipant(try await container.shareParticipant(forUserRecordID: person, permission: .readWrite))
        return try await database.save(share).url
    }

    /// The list behind a URL that somebody has sent.
    static func join(_ url: String, in container: Container) async throws -> SharedList {
        let metadata = try await container.shareMetadata(for: url)
        return SharedList(database: container.sharedDatabase, zoneID: try await container.accept(metadata))
    }

    func add(_ text: String) async throws {
        var item = Record(recordType: "Item", recordID: Record.ID(zoneID: zoneID))
        item.encryptedValues["text"] = text
        try await database.save(item)
    }

    /// What is on the list, and who has written it: the author's signature was verified. What does not verify or open
    /// is told by its name, and keeps nothing else away.
    func items() async throws -> [(text: String, author: Record.ID?)] {
        var items: [(text: String, author: Record.ID?)] = []
        for try await changes in database.allRecordZoneChanges(inZoneWith: zoneID) {
            for (id, result) in changes.modifications {
                switch result {
                case .success(let item):
                    if let text = item.encryptedValues["text"] as? String {
                        items.append((text, item.creatorUserRecordID))
                    }
                case .failure(let error): print(id.recordName, error.reason)
                }
            }
        }
        return items
    }

    /// Puts somebody out. What is written from now on is under a key that they do not have.
    func remove(_ person: Record.ID) async throws {
        var share = try await database.share(for: zoneID)
        for participant in share.participants where participant.userIdentity.userRecordID == person {
            share.removeParticipant(participant)
        }
        try await database.save(share)
    }
}
