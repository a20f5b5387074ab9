public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// A zone's scopes as far as they are known: its own, and those of hierarchical shares in it, each with its verified
/// roster. Every record is verified by the roster of the scope that its own statement cites.
public struct ZoneGround: Sendable {
    /// The zone's own scope, whether or not this account reads its roster.
    public let zone: Scope
    public let zoneID: Digest
    public private(set) var views: [Digest: ZoneView] = [:]
    /// Of each roster, for what is asked of every record: a view is much to copy.
    private var heads: [Digest: (sequence: UInt64, zoneIncarnation: UInt32)] = [:]
    /// Of the zone: the same in every scope that is open.
    public private(set) var incarnation: UInt32 = 0
    /// The moment from which on what this device comes to know says nothing against the answer; nil for none.
    public var asked: Int64?
    /// How far the rosters of hierarchical shares had come (`Roster.marks`), as this device had verified them before it
    /// asked. A zone's feed brings its owner what is in all of them, whether or not an answer names them.
    public var marksWhenAsked: [ScopePlace: Int64] = [:]

    public init(zone: Scope, _ views: [ZoneView] = [], asked: Int64?) {
        (self.zone, zoneID, self.asked) = (zone, zone.id, asked)
        for view in views { add(view) }
    }

    /// One scope, and its zone.
    public init(_ view: ZoneView, asked: Int64?) {
        self.init(zone: view.scope.ofZone, [view], asked: asked)
    }

    /// A hierarchical share beside a life of the zone that is encrypted per zone is left out: there is none there
    /// (R-SCOPE-2), and nothing in it is believed.
    public mutating func add(_ view: ZoneView) {
        let scopeID = view.roster.scopeID
        views[scopeID] = view
        heads[scopeID] = (view.roster.sequence, view.roster.incarnations.zone)
        if let own = own?.roster, own.encryptionScope == .perZone {
            for (id, head) in heads where id != zoneID && head.zoneIncarnation == own.incarnations.zone {
                views[id] = nil
                heads[id] = nil
            }
        }
        incarnation = heads.values.reduce(0) { max($0, $1.zoneIncarnation) }
    }

    /// Nil to participants of shares alone.
    public var own: ZoneView? { views[zoneID] }

    public subscript(scopeID: Digest) -> ZoneView? { views[scopeID] }

    /// Where what was seen is remembered: the zone's life.
    public var place: ScopePlace { ScopePlace(zoneID, incarnation) }

    /// The scopes that this account reads; nil for the zone's owner, who reads all of them. A participant of the whole
    /// zone is shown nothing of shares that were in it before.
    public var readableScopes: Set<ScopePlace>? {
        var places: Set<ScopePlace> = []
        for view in views.values {
            if view.user == zone.owner { return nil }
            places.insert(ScopePlace(view.roster.scopeID, view.roster.incarnations.scope))
        }
        return places
    }

    /// The first epoch of each life of a scope that something may be missing of, once a feed was read to an end.
    /// - Parameter heads: that the answer cites. What is of another zone, or in no verified roster, says nothing.
    public func caughtUp(_ heads: [Wire.ScopeHead]) -> [ScopePlace: Int64] {
        var caughtUp = marksWhenAsked
        for head in heads {
            let scope = head.shareRecordName.isEmpty ? zone : zone.ofShare(head.shareRecordName)
            guard head.isOf(scope), let roster = self[scope.id]?.roster,
                roster.has(sequence: head.sequence, hash: head.head)
            else { continue }
            for (place, epoch) in roster.marks(readTo: head.sequence) {
                caughtUp[place] = max(caughtUp[place] ?? .min, epoch)
            }
        }
        return caughtUp
    }

    /// Where a statement's record is.
    public func view(of statement: Statement) -> ZoneView? { views[statement.scopeID] }

    /// Whether a statement is of a later life of the zone, or cites a later head of its scope's roster. Nothing that is
    /// signed by this ground follows it: to readers it would be a step back.
    public func isBehind(_ statement: Statement) -> Bool {
        guard statement.zoneIncarnation == incarnation else { return statement.zoneIncarnation > incarnation }
        return heads[statement.scopeID].map { statement.rosterSequence > $0.sequence } ?? false
    }

    /// - Throws: `wrongContext` for a scope that is not one of these.
    public func opener(of verified: VerifiedStatement) throws(SealError) -> RecordOpener {
        guard let view = view(of: verified.statement) else { throw .wrongContext }
        return try RecordOpener(verified, epochKey: view.key(for: verified.statement))
    }

    /// Of late statements that the user wants to take over, those that may be (R-SEEN-14): to the zone's owner any, to
    /// a participant those that the zone still vouches for.
    public func acceptable(_ wanted: Set<Digest>, of sightings: [Sighting]) -> Set<Digest> {
        var may: Set<Digest> = []
        guard !wanted.isEmpty else { return may }
        let isOwners = readableScopes == nil
        for sighting in sightings where wanted.contains(sighting.hash) {
            if isOwners || vouches(for: sighting.statement) { may.insert(sighting.hash) }
        }
        return may
    }

    /// Whether a statement that was good at the head which it cites could be its author's as well now.
    public func vouches(for statement: Statement) -> Bool {
        view(of: statement)?.roster.vouches(for: statement) ?? false
    }
}

extension Scope {
    /// The zone's own scope.
    public var ofZone: Scope { Scope(container: container, environment: environment, owner: owner, zoneName: zoneName) }

    /// That of a hierarchical share in the zone.
    public func ofShare(_ recordName: String) -> Scope {
        Scope(
            container: container, environment: environment, owner: owner, zoneName: zoneName,
            shareRecordName: recordName)
    }
}

extension Wire.ScopeHead {
    public func isOf(_ scope: Scope) -> Bool {
        shareRecordName == scope.shareRecordName && zone?.zoneName == scope.zoneName
            && zone?.ownerName == scope.owner.recordName
    }
}

extension Roster {
    /// Of each life of the scope that began by the entry with that sequence: the epoch in force there; where the life
    /// ended by then, the one after its last, since nothing of it is still to come.
    public func marks(readTo sequence: UInt64) -> [ScopePlace: Int64] {
        var marks: [ScopePlace: Int64] = [:]
        for (index, epoch) in epochs.enumerated() {
            guard epoch.openedAt <= sequence else { break }
            let next = epochs[(index + 1)...].first
            let isLast = next.map { $0.context.incarnations != epoch.context.incarnations } ?? true
            // What opens the next life follows the close at once.
            let end = next?.openedAt ?? (isClosed ? nextSequence : nil)
            let isOver = isLast && end.map { sequence >= $0 - 1 } ?? false
            marks[ScopePlace(scopeID, epoch.context.incarnations.scope)] =
                Int64(epoch.number) + (isOver ? 1 : 0)
        }
        return marks
    }

    /// Whether a statement that was good at the head which it cites could be its author's as well now: who may write,
    /// and by which key, the owner and those to whom the owner gave it say with this roster.
    func vouches(for statement: Statement) -> Bool {
        guard !isClosed, statement.incarnations == incarnations,
            let then = standing(of: statement.author, at: statement.rosterSequence),
            let now = standing(of: statement.author, at: sequence),
            now.permission == .readWrite, now.identity.current.signingKey == then.identity.current.signingKey
        else { return false }
        return now.mayAdminister || !(statement.isShareRecord || statement.recordName == scope.shareRecordName)
    }
}
