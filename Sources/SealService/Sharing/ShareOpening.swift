import SealCoding
import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// A hierarchical share that one save opens: its first entry, or the one that begins another life of it.
package struct ShareOpening: Sendable {
    let entry: SignedRosterEntry
    let share: ZoneShare
    /// The roster of a share that was there before.
    let before: Roster?
    /// The roster as the entry leaves it.
    let roster: Roster
    let grant: Sealkit_V1_Grant
    /// The entry after it, with the share's URL and its first invitations.
    let following: RosterAppend?

    static let alreadyShared = ServerError(
        .alreadyShared, "The record, one above it or one below it is shared already.",
        remedy: "Add participants to that share, or delete it first.")

    /// - Parameter index: among the openings of its request, by which a new share's number goes.
    /// - Throws: `alreadyShared`; `zoneBusy` for a share whose last life has left records; `invalidArguments` and
    ///   others for entries that the rules refuse.
    init(
        _ opening: Sealkit_V1_ShareOpening, at index: Int, in zone: ZoneRow, _ rosters: RosterCache,
        _ hasher: AddressHasher, _ connection: any SQLConnection
    ) throws {
        let name = opening.shareRecordName
        guard Names.isPlain(name), name != Names.zoneWideShare else {
            throw ServerError(
                .invalidArguments, "A share's record has another kind of name.",
                remedy: "Use 1 to \(Limits.nameBytes) printable ASCII characters, and not the name of zones' shares.")
        }
        let entry = SignedRosterEntry(opening.open)
        let known = try zone.shares > 0 ? Shares.find(name, in: zone, connection) : nil
        guard known?.isClosed ?? true else { throw Self.alreadyShared }
        if let known {
            let before = try rosters.roster(of: known, in: connection)
            self.before = before
            roster = try ServerError.checking("The share's opening") { () throws(SealError) in
                var kept = before
                try kept.append(entry)
                return kept
            }
            // Nothing of an earlier life may be left when the next one begins.
            guard try !UnsettledShares.isLeft(in: known, connection) else { throw Self.unsettled }
        } else {
            before = nil
            let scope = Scope(
                container: zone.container, environment: zone.environment, owner: zone.ownerName, zoneName: zone.name,
                shareRecordName: name)
            roster = try ServerError.checking("The share's opening") { () throws(SealError) in
                try Roster(opening: entry, scope: scope)
            }
        }
        guard !roster.isClosed, let root = roster.rootRecordName, root != name,
            roster.incarnations.zone == zone.incarnation
        else {
            throw ServerError(
                .invalidArguments, "The entry opens no share in this life of the zone.",
                remedy: "Open the share's scope with its root and the zone's incarnation.")
        }
        let epoch = roster.currentEpoch
        _ = try StoredGrants.check(
            opening.hasGrant ? [opening.grant] : [], required: epoch.grantHashes, epoch: epoch.number)
        share = ZoneShare(
            number: known?.number ?? zone.shares + 1 + Int64(index), recordName: name, root: root)
        self.entry = entry
        grant = opening.grant
        following = try opening.hasFollowing ? Self.following(opening.following, in: zone, hasher) : nil
    }

    /// The records of the request are of the epoch that the opening begins with.
    private static func following(
        _ message: Sealkit_V1_AppendRosterRequest, in zone: ZoneRow, _ hasher: AddressHasher
    ) throws -> RosterAppend {
        let append = try RosterAppend(message, container: zone.container, hasher: hasher)
        guard append.entry.epoch == nil else {
            throw ServerError(
                .invalidArguments, "The entry after a share's opening opens another epoch.",
                remedy: "Send settings and invitations with the opening, and whatever takes a right away afterwards.")
        }
        return append
    }

    private static let unsettled = ServerError(
        .zoneBusy, "Records of the share as it was before have not been moved yet.",
        remedy: "Move what shares/unsettled lists, then share again; or share under another record name.")

    // MARK: In the transaction

    /// - Throws: `rosterChanged` unless the roster is as it was judged.
    func recheck(in zone: ZoneRow, _ connection: any SQLConnection) throws {
        let now = try Shares.find(share.recordName, in: zone, connection)
        guard now?.head == before?.head else { throw ServerError.rosterChanged }
        guard now != nil || share.number > zone.shares else { throw ServerError.rosterChanged }
    }

    func store(
        in zone: ZoneRow, by caller: Caller, _ rosters: RosterCache, _ quotas: Quotas, now: Int64,
        _ connection: any SQLConnection
    ) throws {
        let row =
            try Shares.find(share.recordName, in: zone, connection)
            ?? Shares.insert(share, roster, in: zone, connection)
        // What it tells and whose roots it moves, it does with the save's records.
        var appending = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
        let stored = try appending.append(
            NextEntry(
                entry, before: before, after: roster,
                enclosures: .init(grants: [(.member(zone.ownerName), grant.sealed)]), reason: .deleted,
                news: .withRequest, roots: .withRequest),
            to: row)
        _ = try following?.run(
            on: stored, by: caller, rosters: rosters, quotas: quotas, now: now, in: connection)
    }
}
