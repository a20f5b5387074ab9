import SealPrimitives
import SealStatements

/// What a roster entry does to the rest of the database, whichever change it made: found by comparing the roster before
/// and after it.
enum RosterEffects {
    static func apply(before: Roster, after: Roster, zone: ZoneRow, in connection: any SQLConnection) throws {
        // A new epoch takes no grant away from those who stay: if its own are bad, the older ones still open the past.
        // The owner of a share that ends is its zone's owner still, and moves the records that were in it.
        for user in before.members.keys where after.members[user] == nil && user != zone.ownerName {
            try StoredGrants.remove(.member(user), zone: zone, in: connection)
            try DatabaseFeed.hide(zone, from: user, until: after.sequence, in: connection)
        }
        for id in before.invitations.keys where after.invitations[id] == nil {
            try StoredGrants.remove(.invitation(id), zone: zone, in: connection)
            try StoredLinks.remove(id, zone: zone, in: connection)
        }
    }
}
