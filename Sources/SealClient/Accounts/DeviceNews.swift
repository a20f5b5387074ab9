public import SealPrimitives

/// What a verified list of an account's devices tells one of them.
public struct DeviceNews: Sendable, Equatable {
    /// Those that its user has not acknowledged.
    public let new: Set<ID16>
    /// Those of them that were not there before.
    public let fresh: Set<ID16>
    /// Those that it forgets, because they are gone.
    public let gone: [ID16]
    /// The list takes the place of the one before. One that another has overtaken, or of a server that was restored,
    /// does not: what it lacks is not gone by that.
    public let isNewest: Bool

    /// - Parameters:
    ///   - listed: those in the list.
    ///   - own: the one that looks.
    ///   - revision: of the list.
    ///   - last: the revision that was looked at last; 0 for none. Of the first list nothing is new.
    ///   - known: those that were seen before, and whether they are still new.
    public init(listed: [ID16], own: ID16, revision: UInt64, last: UInt64, known: [ID16: Bool]) {
        var new: Set<ID16> = []
        var fresh: Set<ID16> = []
        for id in listed where id != own {
            let before = known[id]
            guard before ?? (last != 0) else { continue }
            new.insert(id)
            if before == nil { fresh.insert(id) }
        }
        self.new = new
        self.fresh = fresh
        isNewest = revision >= last
        let held = Set(listed)
        // One that is new and was revoked since stays until the user has seen that it was there.
        gone = isNewest ? known.filter { !$0.value && !held.contains($0.key) }.map { $0.key }.sorted() : []
    }
}
