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

    /// Refuses whatever would give a target more sources than it may have, or take away more references than one
    /// request may.
    func withinSources(_ placed: SaveOutcomes) throws -> SaveOutcomes {
        // Where nothing goes with its target, anybody could use up the sources that somebody else's record may have.
        guard !isPublic else { return placed }
        var outcomes = placed
        var planned: [String: Set<String>] = [:]
        var gone = 0
        for (index, record) in placed.accepted {
            let former = record.predecessor?.deleteReferences ?? 0
            // What one record alone takes away is never too much, or it could not be deleted.
            guard former == 0 || gone == 0 || gone + former <= DeleteReference.mostGone else {
                outcomes.refuse(index, DeleteReference.tooManyGone)
                continue
            }
            gone += former
            planned[record.name] = Set(record.content.fields.deleteReferences.map(\.target))
        }
        guard planned.values.contains(where: { !$0.isEmpty }) else { return outcomes }
        var room = SourceRoom(in: zone, planned: planned, connection)
        for (index, record) in outcomes.accepted {
            var targets = planned[record.name] ?? []
            // Where it referred to already, it has its place.
            if !targets.isEmpty, record.predecessor?.deleteReferences ?? 0 > 0 {
                targets.subtract(
                    try DeleteReference.stored(of: record.name, in: zone, connection).map(\.target))
            }
            if let refusal = try room.take(targets) { outcomes.refuse(index, refusal) }
        }
        return outcomes
    }
}
