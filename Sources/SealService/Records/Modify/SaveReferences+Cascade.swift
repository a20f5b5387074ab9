import SealStatements
import SealWire

/// What goes with the request's deletions, and that they cover it.
extension SaveReferences {
    /// As far as deletions are accepted; those that cannot take theirs along are refused.
    func withCascade(_ outcomes: SaveOutcomes, _ references: inout ReferenceReader) throws -> Judged {
        guard !isPublic else { return Judged(outcomes: outcomes, cascade: Cascade()) }
        var judged = Judged(outcomes: outcomes, cascade: Cascade())
        while true {
            let hasRefused = try findTaken(&judged, &references)
            // One that is refused here stays, and may have to go with another; nothing of an atomic request is written
            // then.
            if !hasRefused || isAtomic { return judged }
        }
    }

    /// - Returns: whether it has refused any.
    private func findTaken(_ judged: inout Judged, _ references: inout ReferenceReader) throws -> Bool {
        references.begin()
        judged.cascade = Cascade()
        let accepted = judged.outcomes.accepted
        guard accepted.contains(where: { $0.record.isDeletion }) else { return false }
        var hasRefused = false
        var dependents = Dependents(zone: zone, user: caller.userID, rosters: rosters, connection: connection)
        let staying = Set(accepted.map { $0.record.name })
        for (index, record) in accepted where record.isDeletion {
            switch try references.takenAlong(
                with: record.statement, staying: staying, scope: CascadeScope(record.share), &dependents)
            {
            case .refused(let refusal):
                judged.outcomes.refuse(index, refusal.error, dependents: refusal.dependents)
                let gone = refusal.along.members.map(\.record.name) + [record.name]
                hold(besides: refusal.along.beside, goingWith: Set(gone), &judged.outcomes)
                hasRefused = true
            case .found(let along): try judged.cascade.add(along, root: index)
            }
        }
        return hasRefused
    }

    /// Refuses the deletions that do not cover what goes with them, and saves that keep a record from going: both go
    /// again in one request.
    /// - Returns: whether there were any.
    func refuseIncomplete(_ judged: inout Judged, all: Bool) -> Bool {
        var hasRefused = false
        for (index, taken) in judged.cascade.taken {
            guard let deletion = judged.outcomes.accepted(at: index),
                all || deletion.statement.fieldsDigest != taken.digest
            else { continue }
            judged.outcomes.refuse(index, Cascade.incomplete)
            hasRefused = true
            hold(
                besides: judged.cascade.beside[index] ?? [], goingWith: Set(taken.names + [deletion.name]),
                &judged.outcomes)
        }
        return hasRefused
    }

    /// Keeps back the saves that keep records from going with a deletion which is sent again: of those that refer to
    /// what goes, and of those that are to. Saved by themselves now, they would go with it then.
    private func hold(besides: Set<String>, goingWith gone: Set<String>, _ outcomes: inout SaveOutcomes) {
        for (index, record) in outcomes.accepted where !record.isDeletion {
            guard
                besides.contains(record.name)
                    || record.content.fields.deleteReferences.contains(where: { gone.contains($0.target) })
            else { continue }
            outcomes.refuse(index, Cascade.waiting)
        }
    }

    /// Refuses whatever would give a target more sources than it may have, or bring or take away more references than
    /// one request may. Those that a record goes on having count nothing: it can be sealed again and moved, whatever
    /// else the request has.
    func withinSources(_ placed: SaveOutcomes) throws -> SaveOutcomes {
        // Where nothing goes with its target, anybody could use up the sources that somebody else's record may have.
        guard !isPublic else { return placed }
        var outcomes = placed
        // By record: where it will refer to, and what of that is new.
        var planned: [String: Set<String>] = [:]
        var new: [Int: Set<String>] = [:]
        var (brought, gone) = (0, 0)
        for (index, record) in placed.accepted {
            let references = Set(record.content.fields.deleteReferences)
            let former = record.predecessor?.deleteReferences ?? 0
            let stored: Set<DeleteReference> =
                try former == 0 || references.isEmpty
                ? [] : DeleteReference.stored(of: record.name, in: zone, connection)
            let coming = references.subtracting(stored)
            let going = max(0, former - (references.count - coming.count))
            // What one record alone brings or takes away is never too much, or it could not be saved or deleted.
            guard coming.isEmpty || brought == 0 || brought + coming.count <= DeleteReference.mostPerRequest else {
                outcomes.refuse(index, DeleteReference.tooManyTogether)
                continue
            }
            guard going == 0 || gone == 0 || gone + going <= DeleteReference.mostGone else {
                outcomes.refuse(index, DeleteReference.tooManyGone)
                continue
            }
            brought += coming.count
            gone += going
            planned[record.name] = Set(references.map(\.target))
            // Where it referred to already, it has its place.
            new[index] = Set(coming.map(\.target)).subtracting(stored.map(\.target))
        }
        guard new.values.contains(where: { !$0.isEmpty }) else { return outcomes }
        var room = SourceRoom(in: zone, planned: planned, connection)
        for (index, _) in outcomes.accepted {
            if let refusal = try room.take(new[index] ?? []) { outcomes.refuse(index, refusal) }
        }
        return outcomes
    }
}
