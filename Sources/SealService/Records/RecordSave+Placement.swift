import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// Records and the scopes that they belong into: the root and what descends from it into the share's, everything else
/// into the zone's own. In zones without hierarchical shares there is nothing to ask.
extension RecordSave {
    static let hidden = Outcome.refused(
        ServerError(
            .permissionFailure, "The name is taken by a record that is not shared with the caller.",
            remedy: "Choose another name."))

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

    func checkPlacement(_ outcomes: inout [Outcome], _ stored: StoredParents) throws {
        guard zone.shares > 0 || !shareChanges.isEmpty else { return }
        var saved: [String: Statement] = [:]
        for (item, outcome) in zip(batch.items, outcomes) {
            if case .accepted(let accepted) = outcome { saved[item.name] = accepted.content.statement }
        }
        let hierarchy = Hierarchy(zone: zone, saved: saved, batch: batch, stored: stored, connection: connection)
        for (index, outcome) in outcomes.enumerated() {
            guard case .accepted(let accepted) = outcome,
                let refusal = try placementRefusal(accepted, batch.items[index].name, hierarchy)
            else { continue }
            outcomes[index] = .refused(refusal)
        }
        for opening in shareChanges.openings { try checkComplete(opening, saved) }
        let overlapping = try hierarchy.overlaps(shareChanges.openings.map(\.share))
        for opening in shareChanges.openings where overlapping.contains(opening.share.root) {
            if let index = batch.items.firstIndex(where: { $0.name == opening.share.recordName }) {
                outcomes[index] = .refused(ShareChanges.alreadyShared)
            }
        }
        for closing in shareChanges.closings { try checkComplete(closing, saved) }
    }

    /// A save was placed by what its parent was to become with the same request: where that was refused, it is placed
    /// by where the parent is. Each save is looked at once for that.
    /// - Parameter all: refuses every save whose parent is in the request.
    /// - Returns: whether any was refused.
    func checkPlacement(belowRefused outcomes: inout [Outcome], _ stored: StoredParents, all: Bool) throws -> Bool {
        guard zone.shares > 0 || !shareChanges.isEmpty else { return false }
        var saved: [String: Statement] = [:]
        var refused: [String] = []
        for (item, outcome) in zip(batch.items, outcomes) {
            if case .accepted(let accepted) = outcome {
                saved[item.name] = accepted.content.statement
            } else {
                refused.append(item.name)
            }
        }
        guard !refused.isEmpty, !saved.isEmpty else { return false }
        if all { refused += saved.keys }
        var below: [String: [Int]] = [:]
        for (index, item) in batch.items.enumerated() {
            if let parent = saved[item.name]?.parent { below[parent, default: []].append(index) }
        }
        var hierarchy = Hierarchy(zone: zone, saved: saved, batch: batch, stored: stored, connection: connection)
        var hasRefused = false
        while let parent = refused.popLast() {
            for index in below[parent] ?? [] {
                guard case .accepted(let accepted) = outcomes[index],
                    let refusal = try all
                        ? Self.changed : placementRefusal(accepted, batch.items[index].name, hierarchy)
                else { continue }
                outcomes[index] = .refused(refusal)
                hierarchy.saved[batch.items[index].name] = nil
                refused.append(batch.items[index].name)
                hasRefused = true
            }
        }
        return hasRefused
    }

    /// The items that belong to it are in the request. Whether they are good, their outcomes say.
    private func checkComplete(_ opening: ShareChanges.Opening, _ saved: [String: Statement]) throws {
        let names = Set(batch.items.map(\.name))
        guard names.contains(opening.share.recordName), names.contains(opening.share.root) else {
            throw ServerError(
                .invalidArguments, "A share is opened without its record and its root.",
                remedy: "Save share and root in the same request.")
        }
        for (name, statement) in [opening.share.recordName, opening.share.root].map({ ($0, saved[$0]) }) {
            guard let statement else { continue }
            guard statement.kind == .save, statement.scopeID == opening.scope.roster.scopeID else {
                throw ServerError(
                    .invalidArguments,
                    name == opening.share.root
                        ? "The root is not saved into the share." : "The share's record is not saved into the share.",
                    remedy: "Sign both for the share's scope.")
            }
        }
    }

    /// The share's record goes, and its root with it, or stays without a share.
    private func checkComplete(_ closing: ShareChanges.Closing, _ saved: [String: Statement]) throws {
        let isRefused = Set(batch.items.map(\.name)).subtracting(saved.keys)
        let record = saved[closing.share.recordName]
        guard record?.kind == .delete || isRefused.contains(closing.share.recordName) else { throw Self.incomplete }
        if let root = saved[closing.share.root] {
            guard root.kind == .delete || root.scopeID != closing.before.scopeID else { throw Self.incomplete }
        } else if !isRefused.contains(closing.share.root) {
            let stays = try connection.exists(
                "SELECT 1 FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
                zone.key + [.text(closing.share.root)])
            guard !stays else { throw Self.incomplete }
        }
    }

    private static let incomplete = ServerError(
        .invalidArguments, "A share ends without the deletion of its record, or with its root still in it.",
        remedy:
            "In the same request delete the share's record, and delete its root or move it into the zone's own scope.")

    private func placementRefusal(
        _ accepted: Accepted, _ name: String, _ hierarchy: Hierarchy
    ) throws -> ServerError? {
        let statement = accepted.content.statement
        let share = batch.judge.share(of: statement)
        if let refusal = try refusalToLeave(accepted, name) { return refusal }
        guard statement.kind == .save else { return nil }
        if name == Names.zoneWideShare, try Shares.hasOpen(in: zone, connection) || !shareChanges.openings.isEmpty {
            return ServerError(
                .alreadyShared, "Hierarchies in the zone are shared, so it is not shared as a whole.",
                remedy: "Delete those shares first, or put the records into another zone.")
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
            if name == share.root {
                guard statement.share == share.recordName else { return Self.shareStays }
                return nil
            }
        }
        guard let parent = statement.parent else { return share == nil ? nil : Self.outside }
        let predecessor = accepted.predecessor.flatMap { $0.isDeleted ? nil : $0 }
        // One that stays where it is may wait for its owner's devices to move it.
        if let predecessor, predecessor.parent == parent, predecessor.share == share?.number ?? 0 { return nil }
        // Nor is anything asked of a root's own parent when its share ends: the root comes into the zone's scope, and
        // follows from there.
        if share == nil, shareChanges.closings.contains(where: { $0.share.root == name }) { return nil }
        // A parent that does not exist is another matter.
        guard let place = try hierarchy.share(of: parent), place != share?.number ?? 0 else { return nil }
        return zone.visibleShares == nil ? Self.changed : Self.outside
    }

    /// Root and share's record are in the share as long as it lasts.
    private func refusalToLeave(_ accepted: Accepted, _ name: String) throws -> ServerError? {
        guard let before = accepted.predecessor, before.share > 0, !before.isDeleted,
            !shareChanges.closings.contains(where: { $0.share.number == before.share }),
            let row = try Shares.numbered([before.share], in: zone, connection).first, !row.isClosed,
            let share = row.share,
            name == share.root || name == share.recordName
        else { return nil }
        let statement = accepted.content.statement
        guard statement.kind == .delete || batch.judge.share(of: statement)?.number != share.number else { return nil }
        guard caller.id == zone.owner else {
            return ServerError(
                .permissionFailure, "Only the owner deletes a share's root or ends the share.",
                remedy: "Leave the share instead.")
        }
        return Self.shareStays
    }

    // MARK: Moves

    /// What brought the record here, for those who know it from elsewhere and see what others have made of it since.
    private func noteOrigin(_ accepted: Accepted, _ name: String) throws {
        // `SignedMove { statement = 1, proof = 2 }`
        var writer = WireWriter(capacity: 1024)
        writer.blob(1, [UInt8](accepted.content.statementBytes))
        writer.blob(2, accepted.content.proof)
        try connection.execute(
            "UPDATE record SET move = $4, move_hash = $5 WHERE owner = $1 AND zone = $2 AND name = $3",
            zone.key + [.text(name), .blob(writer.bytes), .blob(accepted.content.hash.bytes)])
    }

    /// Whether the record's key is still one that was made under other keys than the scope's newest: who had those has
    /// it, a former member of the scope that it came from perhaps. Until it is sealed again it counts as stale
    /// (`StaleRecords`).
    func isKeyKnown(_ accepted: Accepted) -> Bool {
        guard accepted.content.statement.isKeyCarried, let before = accepted.predecessor else { return false }
        if before.isKeyKnown || before.share > 0 { return true }
        // Of a zone that was never shared as a whole nobody but its owner had the keys.
        guard accepted.content.statement.formerScope != nil, case .rosters(let rosters) = batch.judge else {
            return true
        }
        return rosters.scopes.values.first { $0.share == nil }?.roster.isShared ?? true
    }

    /// What has left a share is told to its participants by the statement that took it out; what it is the parent of
    /// follows it.
    func noteMove(_ accepted: Accepted, _ name: String) throws {
        guard let before = accepted.predecessor else { return }
        let number = batch.judge.share(of: accepted.content.statement)?.number ?? 0
        // A share that begins again keeps its number: what was deleted in its last life, and is made again, comes from
        // there.
        guard before.share != number || accepted.content.statement.formerScope != nil else { return }
        try connection.execute(
            "DELETE FROM departure WHERE owner = $1 AND zone = $2 AND share = $3 AND name = $4",
            zone.key + [.integer(number), .text(name)])
        try noteOrigin(accepted, name)
        if !before.isDeleted { try UnsettledRecords.note(below: name, in: zone, connection) }
        // A record that was deleted in a share, too, and is made again elsewhere: its tombstone is nowhere any more.
        guard before.share > 0 else { return }
        if let parent = accepted.content.statement.parent,
            shareChanges.closings.contains(where: { $0.share.root == name })
        {
            try UnsettledRecords.note(below: parent, in: zone, connection)
        }
        // Nobody has a share in sight that has ended, or ends with this.
        guard !shareChanges.closings.contains(where: { $0.share.number == before.share }) else { return }
        let content = accepted.content
        try connection.execute(
            """
            INSERT INTO departure (owner, zone, share, name, type, position, created, modified, hash, statement, proof, fields)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
            WHERE EXISTS (SELECT 1 FROM share
                WHERE owner = $1 AND zone = $2 AND share = $3 AND closed = 0 AND began < $13)
            ON CONFLICT (owner, zone, share, name) DO UPDATE SET type = excluded.type, position = excluded.position,
                created = excluded.created, modified = excluded.modified, hash = excluded.hash,
                statement = excluded.statement, proof = excluded.proof
            """,
            zone.key + [
                .integer(before.share), .text(name), .text(content.statement.recordType), .integer(accepted.position),
                .integer(accepted.created(now: now)), .integer(accepted.modified(now: now)), .blob(content.hash.bytes),
                .data(content.statementBytes), .blob(content.proof), .blob([]),
                // What was deleted in an earlier life of the share left it with that.
                .integer(before.isDeleted ? before.tag : .max),
            ])
    }
}
