public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// A share of a record with all below it, as its owner opens it: in the same request as root and share are saved.
public struct ShareBeginning<H: HybridEncryption>: Sendable {
    public let draft: RosterAuthor<H>.Draft
    /// The scope as the records of the request find it.
    public let view: ZoneView

    /// - Parameters:
    ///   - scope: the share's.
    ///   - existing: its roster, where there was such a share before.
    ///   - zone: the zone's own scope; nil where the opener is not in it.
    ///   - time: the owner's clock, microseconds since 1970.
    /// - Throws: `encryptedPerZone`; `alreadyShared`; `notOpenable`; `share`.
    public init(
        _ scope: Scope, rootRecordName: String, following existing: Roster?, in zone: ZoneView?, as own: OwnIdentity,
        time: Int64, random: inout some RandomSource
    ) throws(ShareEditRefusal) {
        guard zone?.roster.encryptionScope != .perZone else { throw .encryptedPerZone }
        if let existing, !existing.isClosed { throw .alreadyShared(name: scope.shareRecordName) }
        let (next, isPastLast) = (existing?.incarnations.scope ?? 0).addingReportingOverflow(1)
        guard !isPastLast, let zone else { throw .notOpenable }
        let draft: RosterAuthor<H>.Draft
        var roster: Roster
        do throws(SealError) {
            draft = try RosterAuthor<H>(user: zone.user, keys: own.keys).open(
                scope, following: existing, encryptionScope: .perRecord,
                incarnations: Incarnations(zone: zone.roster.incarnations.zone, scope: next),
                rootRecordName: rootRecordName, identity: own.chain, time: time, random: &random)
            if let existing {
                roster = existing
                try roster.append(draft.entry)
            } else {
                roster = try Roster(opening: draft.entry, scope: scope)
            }
        } catch {
            throw .share(error)
        }
        self.draft = draft
        var keys: [UInt32: EpochKey] = [:]
        if let key = draft.epochKey { keys[key.context.epoch] = key }
        view = ZoneView(roster: roster, keys: keys, user: zone.user, lacksGrants: false)
    }
}
