import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Container {
    /// Checks everything: each roster is fetched whole, held against what this device has seen, and replayed from its
    /// first entry; grants are opened; the keys in use are asked for; each zone's feed is read from its beginning,
    /// system fields alone, and its records are verified and held against what this device has seen; contacts and what
    /// did not verify earlier come along.
    ///
    /// Zones and records that this device knows and the server leaves out are asked for too: what is gone has to show
    /// who ended it, and what is there should not have been left out, which is a violation.
    /// - Throws: `notAuthenticated`; `internalError` when the trust store cannot be read. What concerns a zone is in
    ///   the result.
    public func audit() async throws(SealKitError) -> Audit {
        let core = core
        try await core.requireAccount(for: .private)
        var audit = Audit()
        var unanswered: [Audit.Failure] = []
        var scopes = Set(try await core.knownScopes())
        for database in [privateDatabase, sharedDatabase] {
            do {
                let known = try await database.knownZones()
                let listed = try await database.listedScopes()
                let names = Set(listed.map { core.zoneID(of: $0) })
                for (zoneID, life) in known.sorted(by: { $0.key.description < $1.key.description })
                where !names.contains(zoneID) {
                    do { _ = try await database.leftOut([zoneID: life]) } catch {
                        unanswered.append(Audit.Failure(zoneID: zoneID, error: await core.noted(error, zone: zoneID)))
                    }
                }
                scopes.formUnion(listed)
            } catch {
                audit.failures.append(Audit.Failure(zoneID: nil, error: await core.noted(error)))
            }
        }
        var zones: Set<RecordZone.ID> = []
        for scope in scopes.sorted(by: { $0.auditOrder.lexicographicallyPrecedes($1.auditOrder) }) {
            let database = scope.owner == core.userID() ? privateDatabase : sharedDatabase
            let zoneID = core.zoneID(of: scope)
            do {
                guard let found = try await database.audit(scope, zoneID) else { continue }
                audit.scopes.append(found)
                // Once, whatever there is of scopes in it.
                guard zones.insert(zoneID).inserted else { continue }
                // What does not verify is among the violations.
                for error in try await database.failuresOfReading(zoneID) where !error.isViolation {
                    audit.failures.append(Audit.Failure(zoneID: zoneID, error: error))
                }
            } catch {
                audit.failures.append(Audit.Failure(zoneID: zoneID, error: error))
            }
        }
        // What cannot be had of a zone is mostly said with its roster already.
        for failure in unanswered where !audit.failures.contains(where: { $0.zoneID == failure.zoneID }) {
            audit.failures.append(failure)
        }
        do { audit.contacts = try await contacts.all() } catch {
            audit.failures.append(Audit.Failure(zoneID: nil, error: error))
        }
        do { audit.newDevices = try await core.account.newDevices() } catch {
            audit.failures.append(Audit.Failure(zoneID: nil, error: await core.noted(error)))
        }
        audit.acceptances = try await core.trust.acceptedRecords(
            container: core.identifier, environment: core.environment
        ).map {
            Audit.Acceptance(
                zoneID: $0.zone, recordName: $0.record, authorUserRecordID: Record.ID(recordName: $0.author.recordName),
                accepted: Date(microseconds: $0.accepted))
        }
        audit.violations = try await violations()
        return audit
    }
}

extension ContainerCore {
    /// The scopes whose rosters this device has.
    func knownScopes() async throws(SealKitError) -> [Scope] {
        try await trust.openings().compactMap { bytes in
            // An entry of another container does not decode for this one.
            guard let entry = try? RosterEntry(canonicalBytes: bytes, container: identifier),
                case .open(let opening)? = entry.changes.first, opening.scope.environment == environment
            else { return nil }
            return opening.scope
        }
    }
}

extension Scope {
    fileprivate var auditOrder: [String] { [owner.recordName, zoneName, shareRecordName] }
}

extension Database {
    /// What the server says that there is; nothing of it is believed before its roster is there.
    func listedScopes() async throws(SealKitError) -> [SealStatements.Scope] {
        let response: Sealkit_V1_LookupZonesResponse = try await core.call(
            scope, Endpoints.zones.lookup, Sealkit_V1_LookupZonesRequest())
        var scopes: [SealStatements.Scope] = []
        for result in response.results {
            guard case .zone(let wire)? = result.outcome else { continue }
            let zone = try zoneScope(zoneID(wire.zoneID))
            // A participant of hierarchies in a zone has no part in the zone's own roster.
            if scope != .shared || wire.hasScope { scopes.append(zone) }
            scopes += wire.shares.map { zone.ofShare($0.shareRecordName) }
        }
        return scopes
    }

    /// nil for a scope that ended, or that this account is out of, with a signed entry to show for it.
    fileprivate func audit(
        _ scope: SealStatements.Scope, _ zoneID: RecordZone.ID
    ) async throws(SealKitError) -> Audit.Scope? {
        let keeper = core.keeper(of: scope)
        let known = try await rosterEnds(of: zoneID)
        let whole: (entries: [SignedRosterEntry], grants: [OwnGrant])
        do { whole = try await keeper.everything() } catch {
            guard error.code == .zoneNotFound else { throw error }
            try await confirmGone(zoneID, known: known)
            return nil
        }
        let (roster, bad) = try await core.witnessing(zone: zoneID) { () async throws(SealKitError) in
            try replay(whole.entries, whole.grants, scope)
        }
        guard !roster.isClosed, roster.members[core.userID()] != nil else { return nil }
        let view = try await keeper.current()
        let epoch = roster.currentEpoch
        let covered = Set(epoch.grantHashes.keys)
        let uncovered = roster.subjects.filter { subject in
            // Who has joined since has sealed the key to itself.
            if case .member(let user) = subject, let member = roster.members[user], member.since > epoch.openedAt {
                return false
            }
            return !covered.contains(subject)
        }
        let share = scope.shareRecordName.isEmpty ? nil : scope.shareRecordName
        let keys = try await keyStatus(of: zoneID, shareRecordName: share)
        return Audit.Scope(
            zoneID: zoneID, shareRecordName: share,
            entryCount: roster.hashes.count, head: roster.head.hex, abandonedForks: roster.abandonments.count,
            memberCount: roster.members.count, invitationCount: roster.invitations.count,
            keys: keys, heldEpochs: view.keys.count, badGrants: bad.map { Int($0.epoch) },
            badGrantAuthors: bad.map { Record.ID(recordName: $0.author.recordName) },
            missingKeys: (keys.oldestEpochInUse...max(keys.oldestEpochInUse, keys.newestEpoch)).filter {
                view.keys[UInt32($0)] == nil
            },
            uncovered: uncovered.map { subject in
                if case .member(let user) = subject { user.recordName } else { subject.id.hex }
            })
    }

    /// The roster from its first entry, and the epochs whose grant does not open, with whoever opened them.
    private func replay(
        _ entries: [SignedRosterEntry], _ grants: [OwnGrant], _ scope: SealStatements.Scope
    ) throws(SealKitError) -> (roster: Roster, badGrants: [(epoch: UInt32, author: UserID)]) {
        let roster = try verifying("the roster of the zone \(scope.zoneName)") { () throws(SealError) in
            guard let roster = try Roster(replaying: entries, scope: scope) else { throw .notNextEntry }
            return roster
        }
        let own = GrantSubject.member(core.userID())
        let bad = grants.compactMap { grant -> (epoch: UInt32, author: UserID)? in
            guard let epoch = roster.epoch(grant.epoch, incarnations: roster.incarnations) else { return nil }
            // One that the roster does not commit to is the server's making, or was sealed by this account as it
            // joined.
            guard epoch.grantHashes[own] == GrantHash.of(grant.sealed) else { return nil }
            guard !core.opens(grant, of: epoch), epoch.openedAt < UInt64(entries.count) else { return nil }
            let entry = try? RosterEntry(
                canonicalBytes: entries[Int(epoch.openedAt)].bytes, container: scope.container)
            return entry.map { (grant.epoch, $0.author) }
        }
        return (roster, bad)
    }
}
