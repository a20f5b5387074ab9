import SealCoding
import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// A hierarchical share that ends: with the records of one save, or with its zone.
package struct ShareEnding: Sendable {
    let entry: SignedRosterEntry
    let share: ZoneShare
    let before: Roster
    let after: Roster

    /// - Throws: `unknownItem`; `invalidArguments` and others for entries that the rules refuse.
    init(
        _ entry: Sealkit_V1_SignedEntry, of name: String, in zone: ZoneRow, _ rosters: RosterCache,
        _ connection: any SQLConnection
    ) throws {
        let row = try Shares.visible(name, in: zone, connection)
        guard let share = row.share else { throw Shares.unknown }
        let before = try rosters.roster(of: row, in: connection)
        let signed = SignedRosterEntry(entry)
        let after = try ServerError.checking("The share's closing") { () throws(SealError) in
            var after = before
            try after.append(signed)
            return after
        }
        guard after.isClosed else {
            throw ServerError(
                .invalidArguments, "The entry does not end the share.",
                remedy: "Send an entry whose one change is close.")
        }
        (self.entry, self.share, self.before, self.after) = (signed, share, before, after)
    }

    // MARK: In the transaction

    /// - Throws: `rosterChanged` unless the roster is as it was judged.
    func recheck(in zone: ZoneRow, _ connection: any SQLConnection) throws {
        let now = try Shares.find(share.recordName, in: zone, connection)
        guard now?.head == before.head else { throw ServerError.rosterChanged }
    }

    /// Participants lose sight of the share. The owner keeps its grants: records that were in it are still to be moved.
    func store(in zone: ZoneRow, by caller: Caller, now: Int64, _ connection: any SQLConnection) throws {
        guard let row = try Shares.find(share.recordName, in: zone, connection) else { throw Shares.unknown }
        // Its root is moved with the save's records, or goes with its zone.
        var appending = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
        _ = try appending.append(
            NextEntry(
                entry, before: before, after: after, enclosures: .init(grants: []),
                reason: .deleted, news: .withEntry, roots: .withRequest),
            to: row)
    }
}
