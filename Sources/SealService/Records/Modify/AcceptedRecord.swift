import SealStatements

/// A record that may be written, as far as the stages have come.
struct AcceptedRecord {
    let content: RecordBatch.Content
    /// What the server has under its name, a tombstone included.
    let predecessor: Predecessor?
    /// The share that it is in, or comes into; nil for the zone's own scope.
    let share: ZoneShare?
    /// The statement changes nothing but keys: that which the record's key is wrapped under, or with it the record's
    /// key itself, under which the same values are sealed again. To apps nothing has changed.
    let isRewrap: Bool
    /// Its key is still one that was made under other keys than the scope's newest: who had those has it, a former
    /// member of the scope that it came from perhaps. Until it is sealed again it counts as stale (`StaleRecords`).
    let isKeyKnown: Bool

    var statement: Statement { content.statement }
    var name: String { content.statement.recordName }
    var isDeletion: Bool { content.statement.kind == .delete }
    /// A share's number, or 0.
    var scopeNumber: Int64 { share?.number ?? 0 }
    /// The record as it was; nil where there was none, or a tombstone.
    var former: Predecessor? { predecessor.flatMap { $0.isDeleted ? nil : $0 } }
    /// It comes from another scope of the zone.
    var changesScope: Bool { predecessor.map { $0.share != scopeNumber } ?? false }

    /// Kept through all revisions; a record that is made again has a new one.
    func created(now: Int64) -> Int64 { former?.created ?? now }
    func modified(now: Int64) -> Int64 { isRewrap ? predecessor?.modified ?? now : now }
}
