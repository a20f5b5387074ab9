public import SealPrimitives
public import SealStatements

/// Which scope each record of a batch is signed for: the one of its parent, parents within the batch first; the zone's
/// own where it has none (R-PLACE-1, R-PLACE-5).
public struct WritingPlaces: Sendable {
    private struct Item {
        let parent: String?
        let isDeletion: Bool
        /// That of what it follows.
        let last: Digest?
        /// It is where it remains.
        let stays: Bool
    }

    private var items: [String: Item] = [:]
    /// Where the batch itself says so.
    private let targets: [String: Digest]
    private let ground: ZoneGround
    /// Of those outside the batch.
    private var parents: [String: Digest] = [:]

    /// - Parameter targets: of the records whose scope the batch itself decides: roots of shares that begin or end.
    public init(targets: [String: Digest], in ground: ZoneGround) { (self.targets, self.ground) = (targets, ground) }

    /// - Parameters:
    ///   - parent: that it is to have.
    ///   - base: what its statement follows; nil for a record that is new.
    public mutating func addSave(of recordName: String, parent: String?, after base: Statement?) {
        var stays = false
        if let base, base.kind == .save, base.share != nil || base.parent == parent,
            let view = ground.view(of: base), !view.roster.isClosed
        {
            stays = true
        }
        add(recordName, Item(parent: parent, isDeletion: false, last: base?.scopeID, stays: stays))
    }

    /// A deletion moves nothing.
    public mutating func addDeletion(of recordName: String, after base: Statement) {
        add(recordName, Item(parent: nil, isDeletion: true, last: base.scopeID, stays: false))
    }

    private mutating func add(_ recordName: String, _ item: Item) {
        if items[recordName] == nil { items[recordName] = item }
    }

    /// Parents that have to be looked up, ascending by name.
    public var unknownParents: [String] {
        var unknown: Set<String> = []
        for (name, item) in items where targets[name] == nil && !item.isDeletion && !item.stays {
            if let parent = item.parent, items[parent] == nil { unknown.insert(parent) }
        }
        return unknown.sorted()
    }

    /// What a look-up has shown of a parent, verified.
    public mutating func found(_ recordName: String, in scope: Digest) { parents[recordName] = scope }

    /// - Returns: nil where the account could not write such a record in the scopes that it sees.
    public func scope(of recordName: String) -> Digest? {
        var seen: Set<String> = []
        var next = recordName
        while seen.insert(next).inserted {
            if let target = targets[next] { return target }
            guard let item = items[next] else { break }
            if item.isDeletion || item.stays { return item.last }
            guard let parent = item.parent else { return ground.own?.roster.scopeID }
            // A parent that there is not the server names: what counts is that it is asked.
            guard items[parent] != nil else { return parents[parent] ?? onlyScope }
            next = parent
        }
        // Parents in a circle.
        return onlyScope
    }

    /// Where nothing says which: the zone's own, or the one share that this account is in. Of several shares it would
    /// be some other people's that a server chooses by keeping a parent back.
    private var onlyScope: Digest? {
        ground.own?.roster.scopeID ?? (ground.views.count == 1 ? ground.views.keys.first : nil)
    }

    // MARK: Whether it is placed

    public enum Verdict: Sendable, Equatable {
        case placed
        /// A deletion moves nothing, and nothing is signed for a share that has ended.
        case leftBehind
        /// It would leave its share, and only the zone's owner moves records.
        case moves
        /// It would not be in a hierarchy that is shared with this account.
        case outside
    }

    /// - Parameters:
    ///   - scope: as of `scope(of:)`.
    ///   - view: of that scope; nil where this device knows none.
    ///   - base: what the item's statement follows.
    ///   - opens: the scope begins with the batch.
    ///   - user: who writes.
    public static func verdict(
        isDeletion: Bool, after base: Statement?, in scope: Digest?, _ view: ZoneView?, opens: Bool, zone: Scope,
        by user: UserID
    ) -> Verdict {
        if isDeletion, let view, view.hasEndedAsShare { return .leftBehind }
        let isMove = base.map { $0.scopeID != scope } ?? false
        // Of a share that this account is out of only an old copy can be.
        let isOut = view.map { !opens && mayBeOut($0) } ?? true
        if scope != nil, !isOut, !isMove || zone.owner == user { return .placed }
        return isMove && scope != nil ? .moves : .outside
    }

    /// Whether a copy whose place is refused may be an old one, which does not say where its record is now: then what
    /// there is decides.
    /// - Parameters:
    ///   - base: what the copy was made of.
    ///   - isRekeying: it comes from a list of what there is.
    public static func mayBeOld(_ base: Statement?, policy: WritePolicy, isRekeying: Bool) -> Bool {
        base?.kind == .save && !isRekeying && policy != .restoring
    }

    /// This account is out of the share, as far as this device knows: nothing is refused for that before its tail is
    /// fetched.
    public static func mayBeOut(_ view: ZoneView) -> Bool { !view.isMember && !view.scope.shareRecordName.isEmpty }
}
