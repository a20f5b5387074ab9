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
}
