import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// The second stage: records and the scopes that they belong into, the root and what descends from it into the share's,
/// everything else into the zone's own. In zones without hierarchical shares there is nothing to ask.
///
/// It refuses records whose parent is in another scope (`rosterChanged`, `permissionFailure`), shares that overlap
/// others (`alreadyShared`), and roots and share records that would go while their share stays. It throws, for the
/// whole request, where a share is opened or ended without the records that go with that.
struct SavePlacement {
    let zone: ZoneRow
    let caller: Caller
    let shareChanges: ShareChanges
    let parents: StoredParents
    let connection: any SQLConnection

    private var isNeeded: Bool { zone.shares > 0 || !shareChanges.isEmpty }

    func run(_ compared: SaveOutcomes) throws -> SaveOutcomes {
        guard isNeeded else { return compared }
        var outcomes = compared
        let saved = compared.acceptedByName
        let hierarchy = Hierarchy(zone: zone, saved: saved, stored: parents, connection: connection)
        for (index, record) in compared.accepted {
            if let error = try refusal(of: record, hierarchy) { outcomes.refuse(index, error) }
        }
        for opening in shareChanges.openings { try checkComplete(opening, compared.names, saved) }
        let overlapping = try hierarchy.overlaps(shareChanges.openings.map(\.share))
        for opening in shareChanges.openings where overlapping.contains(opening.share.root) {
            if let index = outcomes.names.firstIndex(of: opening.share.recordName) {
                outcomes.refuse(index, ShareOpening.alreadyShared)
            }
        }
        for ending in shareChanges.endings { try checkComplete(ending, compared.names, saved) }
        return outcomes
    }

    /// A save was placed by what its parent was to become with the same request: where that was refused, it is placed
    /// by where the parent is. Each save is looked at once for that.
    /// - Parameter all: refuses every save whose parent is in the request.
    /// - Returns: nil where none is refused by that.
    func run(belowRefusedOf judged: SaveOutcomes, all: Bool) throws -> SaveOutcomes? {
        guard isNeeded, judged.hasRefused else { return nil }
        let saved = judged.acceptedByName
        guard !saved.isEmpty else { return nil }
        var refused = judged.names.indices.compactMap { judged.accepted(at: $0) == nil ? judged.names[$0] : nil }
        if all { refused += saved.keys }
        var below: [String: [Int]] = [:]
        for (index, record) in judged.accepted {
            if let parent = record.statement.parent { below[parent, default: []].append(index) }
        }
        var outcomes = judged
        var hierarchy = Hierarchy(zone: zone, saved: saved, stored: parents, connection: connection)
        var hasRefused = false
        while let parent = refused.popLast() {
            for index in below[parent] ?? [] {
                guard let record = outcomes.accepted(at: index),
                    let error = try all ? Self.changed : refusal(of: record, hierarchy)
                else { continue }
                outcomes.refuse(index, error)
                hierarchy.saved[record.name] = nil
                refused.append(record.name)
                hasRefused = true
            }
        }
        return hasRefused ? outcomes : nil
    }

    // MARK: Shares that begin and end

    /// The items that belong to it are in the request. Whether they are good, their outcomes say.
    private func checkComplete(
        _ opening: ShareOpening, _ names: [String], _ saved: [String: AcceptedRecord]
    ) throws(ServerError) {
        let share = opening.share
        guard names.contains(share.recordName), names.contains(share.root) else {
            throw ServerError(
                .invalidArguments, "A share is opened without its record and its root.",
                remedy: "Save share and root in the same request.")
        }
        for name in [share.recordName, share.root] {
            guard let statement = saved[name]?.statement else { continue }
            guard statement.kind == .save, statement.scopeID == opening.roster.scopeID else {
                throw ServerError(
                    .invalidArguments,
                    name == share.root
                        ? "The root is not saved into the share." : "The share's record is not saved into the share.",
                    remedy: "Sign both for the share's scope.")
            }
        }
    }

    /// The share's record goes, and its root with it, or stays without a share.
    private func checkComplete(
        _ ending: ShareEnding, _ names: [String], _ saved: [String: AcceptedRecord]
    ) throws {
        let isRefused = { names.contains($0) && saved[$0] == nil }
        let share = ending.share
        guard saved[share.recordName]?.isDeletion == true || isRefused(share.recordName) else { throw Self.incomplete }
        if let root = saved[share.root] {
            guard root.isDeletion || root.statement.scopeID != ending.before.scopeID else { throw Self.incomplete }
        } else if !isRefused(share.root) {
            guard try !StoredParents.isLive(share.root, in: zone, connection) else { throw Self.incomplete }
        }
    }

    // MARK: One record

    private func refusal(of record: AcceptedRecord, _ hierarchy: Hierarchy) throws -> ServerError? {
        let (statement, name, share) = (record.statement, record.name, record.share)
        if let refusal = try refusalToLeave(record) { return refusal }
        guard !record.isDeletion else { return nil }
        if name == Names.zoneWideShare, try Shares.hasOpen(in: zone, connection) || !shareChanges.openings.isEmpty {
            return Shares.hierarchiesAreShared
        }
        if let share {
            if name == share.recordName {
                guard statement.recordType == Names.shareType else {
                    return ServerError(
                        .invalidArguments, "A share's record has another type.",
                        remedy: "Save it as \(Names.shareType).")
                }
                return nil
            }
            if name == share.root { return statement.share == share.recordName ? nil : Self.shareStays }
        }
        guard let parent = statement.parent else { return share == nil ? nil : Self.outside }
        // One that stays where it is may wait for its owner's devices to move it.
        if let former = record.former, former.parent == parent, former.share == record.scopeNumber { return nil }
        // Nor is anything asked of a root's own parent when its share ends: the root comes into the zone's scope, and
        // follows from there.
        if share == nil, shareChanges.ends(shareOf: name) { return nil }
        // A parent that does not exist is another matter.
        guard let place = try hierarchy.share(of: parent), place != record.scopeNumber else { return nil }
        return zone.visibleShares == nil ? Self.changed : Self.outside
    }

    /// Root and share's record are in the share as long as it lasts.
    private func refusalToLeave(_ record: AcceptedRecord) throws -> ServerError? {
        guard let before = record.former, before.share > 0, !shareChanges.ends(before.share),
            let row = try Shares.numbered([before.share], in: zone, connection).first, !row.isClosed,
            let share = row.share,
            record.name == share.root || record.name == share.recordName,
            record.isDeletion || record.share?.number != share.number
        else { return nil }
        guard caller.id == zone.owner else {
            return ServerError(
                .permissionFailure, "Only the owner deletes a share's root or ends the share.",
                remedy: "Leave the share instead.")
        }
        return Self.shareStays
    }

    // MARK: Refusals

    private static let changed = ServerError(
        .rosterChanged, "A record's parent is in another scope than its statement.",
        remedy: "Fetch the parent, and sign for its scope.")

    private static let outside = ServerError(
        .permissionFailure, "The record would not be in a hierarchy that is shared with the caller.",
        remedy: "Set its parent to a record of the share.")

    private static let shareStays = ServerError(
        .invalidArguments, "The share's record or its root would go while the share stays.",
        remedy:
            "Delete the share with the entry that ends it, and in the same request delete its root or clear the root's share."
    )

    private static let incomplete = ServerError(
        .invalidArguments, "A share ends without the deletion of its record, or with its root still in it.",
        remedy:
            "In the same request delete the share's record, and delete its root or move it into the zone's own scope.")
}
