public import SealPrimitives
public import SealStatements

/// Judges verified statements against what this device has seen, in one transaction of what remembers that.
///
/// A lower revision, another statement with the same number, one that what was seen cannot have become, and one that
/// was never seen under an epoch that this device has read past are refused.
public struct RecordJudge<Store: SightingStore> {
    public private(set) var store: Store
    private var marks = Marks()

    public init(_ store: Store) { self.store = store }

    /// How far scopes were read. Records that come together are in few, and mostly in the one of the record before.
    private struct Marks {
        var last: (place: ScopePlace, epoch: Int64?)?
        var others: [ScopePlace: Int64?] = [:]
    }

    private mutating func caughtUp(in place: ScopePlace) throws(Store.Failure) -> Int64? {
        if let last = marks.last, last.place == place { return last.epoch }
        let epoch: Int64?
        if let known = marks.others[place] {
            epoch = known
        } else {
            epoch = try store.caughtUp(in: place)
            marks.others.updateValue(epoch, forKey: place)
        }
        marks.last = (place, epoch)
        return epoch
    }

    // MARK: Statements

    /// Judges sightings, and remembers those that are accepted.
    /// - Parameters:
    ///   - sightings: in the order in which they came.
    ///   - asked: the moment at which the server was asked; nil for what is no answer.
    ///   - late: late statements that the user has accepted all the same.
    ///   - scopes: those that this account reads, where that is not all of the zone; nil for all.
    /// - Returns: a verdict of each, in order.
    public mutating func admit(
        _ sightings: [Sighting], asked: Int64?, accepting late: Set<Digest>, readable scopes: Set<ScopePlace>?
    ) throws(Store.Failure) -> [Verdict] {
        // Where nothing ever went, nobody has to be asked about each record.
        var anyGone = try store.hasAnyGone()
        // All that this transaction notes is noted at one moment.
        let now = try store.lastMoment() + 1
        var hasNoted = false
        // Where one record is new, so are those beside it, as a rule.
        var expectsNew = true
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(sightings.count)
        for sighting in sightings {
            if anyGone, let verdict = try derived(sighting) {
                verdicts.append(try judged(verdict, of: sighting.recordName, asked: asked))
                continue
            }
            let caughtUp = try caughtUp(in: sighting.place)
            let mayBeNew =
                sighting.revision == 1 && sighting.deletion == nil
                && caughtUp ?? .min <= Int64(sighting.statement.epoch)
            if mayBeNew, expectsNew {
                if try store.remember(sighting, at: now, onlyNew: true) {
                    hasNoted = true
                    verdicts.append(.accepted)
                    continue
                }
                expectsNew = false
            }
            let known: SeenStatement?
            switch try store.seen(sighting.recordName, comparedWith: sighting.deletion == nil ? sighting : nil) {
            case .never:
                known = nil
                if mayBeNew { expectsNew = true }
            case .same(isBeforeAbsence: false):
                verdicts.append(.accepted)
                continue
            case .same(isBeforeAbsence: true):
                _ = try store.remember(sighting, at: now, onlyNew: false)
                hasNoted = true
                verdicts.append(.accepted)
                continue
            case .other(let seen, _): known = seen
            }
            if let known, let verdict = sighting.verdict(after: known) {
                verdicts.append(try judged(verdict, of: sighting.recordName, asked: asked))
                continue
            }
            if try isBackdated(sighting, known: known, before: caughtUp) {
                // That something is gone which this device never had takes nothing from it, and an old deletion may
                // have left the feed. It is not remembered.
                guard sighting.isAcceptable, late.contains(sighting.hash) else {
                    verdicts.append(known == nil && sighting.isDeletion ? .unknownDeletion : .backdated)
                    continue
                }
                try store.noteLate(sighting)
            }
            _ = try store.remember(sighting, at: now, onlyNew: false)
            hasNoted = true
            if sighting.deletion != nil {
                // What the target has become since its deletion is for its own statements to say.
                try store.noteGone(sighting.recordName, sighting.hash, at: now)
                anyGone = true
            }
            verdicts.append(.accepted)
        }
        if hasNoted { try store.setMoment(now) }
        if let scopes { try lookBehind(sightings, &verdicts, readable: scopes) }
        return verdicts
    }

    /// An answer that is older than what this device knows is a rollback, unless the device knew less when it asked.
    private func judged(_ verdict: Verdict, of name: String, asked: Int64?) throws(Store.Failure) -> Verdict {
        guard verdict == .older, let asked, try store.isNoted(name, after: asked) else { return verdict }
        return .overtaken
    }

    /// Nothing that this device has not seen counts under an epoch that it has read past: neither the statement, nor
    /// the deletion that it is said to have gone with.
    private mutating func isBackdated(
        _ sighting: Sighting, known: SeenStatement?, before caughtUp: Int64?
    ) throws(Store.Failure) -> Bool {
        if known?.hash != sighting.hash {
            if let caughtUp, Int64(sighting.statement.epoch) < caughtUp { return true }
            // A departure by a key that was replaced there came before whatever the scope's feed has told since.
            if let replaced = sighting.replacedKey, let read = try self.caughtUp(in: replaced.place) {
                if read > replaced.epoch { return true }
            }
        }
        guard let caughtUp, let deletion = sighting.deletion, Int64(deletion.epoch) < caughtUp else { return false }
        return try newest(deletion.recordName)?.hash != deletion.hash
    }

    /// A record that left one share for another one was changed there, and then that one ended, or this account left
    /// it: of the first share there is no newer statement than that by which the record left it. What was seen since in
    /// scopes that this account may read says that it is not there; what was seen elsewhere does not.
    private func lookBehind(
        _ sightings: [Sighting], _ verdicts: inout [Verdict], readable scopes: Set<ScopePlace>
    ) throws(Store.Failure) {
        for (index, sighting) in sightings.enumerated() where sighting.isDeparture && verdicts[index] == .older {
            if try !isThere(sighting.recordName, readable: scopes) { verdicts[index] = .unknownDeletion }
        }
    }

    // MARK: Derived deletions

    /// What a derived deletion that was accepted says of a sighting; nil for nothing. Nobody signed the deletion of
    /// such a record, so this device remembers which statement it has accepted as gone.
    private func derived(_ sighting: Sighting) throws(Store.Failure) -> Verdict? {
        guard try store.gone(sighting.recordName) == sighting.hash else { return nil }
        // What is gone is shown again as if nothing had been.
        if case .newest = sighting.role { return .older }
        let known = try newest(sighting.recordName)
        return (known?.revision ?? 0) > sighting.revision ? .older : .accepted
    }

    // MARK: What is known

    /// The newest statement of a record that this device has seen.
    public func newest(_ name: String) throws(Store.Failure) -> SeenStatement? {
        if case .other(let seen, _) = try store.seen(name, comparedWith: nil) { seen } else { nil }
    }

    /// Whether this device has seen the record in the zone's present life, and whether only since it asked.
    /// - Parameters:
    ///   - scopes: those that are still this account's to read, where that is not all of the zone: what it knows from
    ///     another one it may not see any more.
    ///   - asked: the moment at which the server was asked.
    public func memory(
        of name: String, readable scopes: Set<ScopePlace>?, asked: Int64?
    ) throws(Store.Failure) -> Memory {
        guard try isThere(name, readable: scopes) else { return .unseen }
        guard let asked, try store.isNoted(name, after: asked) else { return .seen }
        return .seenSince
    }

    private func isThere(_ name: String, readable scopes: Set<ScopePlace>?) throws(Store.Failure) -> Bool {
        guard case .other(let seen, isBeforeAbsence: false) = try store.seen(name, comparedWith: nil) else {
            return false
        }
        return scopes?.contains(ScopePlace(seen.place)) ?? true
    }

    /// The scope that this device saw a record in last; nil for one that it has not seen, and for one that is gone.
    public func lastPlace(of name: String) throws(Store.Failure) -> Statement.FormerScope? {
        guard let seen = try newest(name), seen.kind == .save, try store.gone(name) != seen.hash else { return nil }
        return seen.place
    }

    /// The records that are there as far as this device knows, by name.
    /// - Parameters:
    ///   - scopes: those that are this account's to read, where that is not all of the zone.
    ///   - moment: those alone that were known by then; nil for all.
    ///   - isWanted: of a name, whether it is asked for.
    public func living(
        readable scopes: Set<ScopePlace>?, since moment: Int64?, where isWanted: (String) -> Bool
    ) throws(Store.Failure) -> [String] {
        var names: [String] = []
        for (name, place) in try store.living(metBy: moment, where: isWanted) {
            if let scopes {
                guard let place, scopes.contains(place) else { continue }
            }
            names.append(name)
        }
        return names
    }
}

/// What this device knows of a record.
public enum Memory: Sendable {
    case unseen
    case seen
    case seenSince
}
