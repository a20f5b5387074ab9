import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

extension ZoneBatch {
    /// Verifies what came with encoded system fields, as if a server had sent it: nobody signs after a statement that
    /// does not hold.
    /// - Returns: the records with verified predecessors, and the scopes that they were verified with. Where that does
    ///   not hold the record has failed.
    mutating func verified(
        _ records: [Record], ground start: ZoneGround
    ) async throws(SealKitError) -> ([Record], ZoneGround) {
        guard records.contains(where: { $0.base?.isUnverified == true }) else { return (records, start) }
        var ground = start
        var verified: [Record] = []
        verified.reserveCapacity(records.count)
        for var record in records {
            guard let base = record.base, base.isUnverified else {
                verified.append(record)
                continue
            }
            let label = "the system fields of record \(record.recordID.recordName)"
            guard base.statement.zoneIncarnation == ground.incarnation,
                var view = try await database.view(of: base.statement.scopeID, in: &ground),
                base.statement.scopeIncarnation >= view.roster.incarnations.scope
            else {
                // Of an earlier life of the zone or of a share in it, or of another: `livingNow` says so.
                verified.append(record)
                continue
            }
            if base.statement.rosterSequence >= view.roster.nextSequence {
                view = try await database.core.keeper(of: view.scope).refresh()
                ground.add(view)
            }
            do throws(SealKitError) {
                record.base = try verifying(label) { () throws(SealError) in try checked(base, view: view) }
                verified.append(record)
            } catch {
                fail(.save(record), error)
            }
        }
        return (verified, ground)
    }

    private func checked(_ base: Record.Base, view: ZoneView) throws(SealError) -> Record.Base {
        var verifier = StatementVerifier(roster: view.roster)
        let statement = try verifier.verify(
            base.statement.canonicalBytes(), proof: base.proof, recordName: base.statement.recordName)
        try statement.check(base.digests.listed)
        var base = base
        base.recordKey = try RecordOpener(statement, epochKey: view.key(for: base.statement)).recordKey
        base.isUnverified = false
        return base
    }
}
