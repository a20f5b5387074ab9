import SealStatements

/// An accepted record with the places that it has got.
struct WrittenRecord {
    let accepted: AcceptedRecord
    /// Its place in the zone's feed.
    let position: Int64
    /// The number behind its change tag.
    let tag: Int64

    /// - Parameter position: the next place that is free.
    init(_ accepted: AcceptedRecord, at position: Int64) {
        self.accepted = accepted
        self.position = position
        tag = accepted.isRewrap ? accepted.predecessor?.tag ?? position : position
    }

    func change(now: Int64) -> RecordChange {
        let (statement, predecessor) = (accepted.statement, accepted.predecessor)
        return RecordChange(
            kind: accepted.isDeletion ? .deleted : accepted.former == nil ? .created : .updated, name: accepted.name,
            type: statement.recordType,
            position: position, creator: statement.creator, author: statement.author,
            created: accepted.created(now: now), modified: accepted.modified(now: now),
            fields: accepted.content.fields.bytes, words: accepted.content.fields.words,
            formerFields: predecessor?.fields ?? [], formerBytes: predecessor?.fieldBytes ?? 0,
            isNewRow: predecessor == nil,
            shares: shares,
            former: accepted.former.map { .init(modified: $0.modified, statement: $0.statement.bytes) })
    }

    /// The hierarchical shares that the record was or is in.
    private var shares: Set<Int64> {
        let (before, now) = (accepted.predecessor?.share ?? 0, accepted.scopeNumber)
        return before == 0 && now == 0 ? [] : Set([before, now]).subtracting([0])
    }
}
