import SealStatements

extension RecordType.Field {
    /// Which indexes such a field can have. Encrypted values have none: the server cannot read them. Assets have none
    /// either; lists do not order.
    public var allowedIndexes: RecordType.Indexes {
        guard !isEncrypted else { return [] }
        switch (type.kind, type.isList) {
        case (.asset, _): return []
        case (.string, false): return [.queryable, .sortable, .searchable]
        case (.string, true): return [.queryable, .searchable]
        case (_, true): return .queryable
        case (_, false): return [.queryable, .sortable]
        }
    }

    /// Which indexes development gives a field that appears with a save, so that queries work at once: equality for
    /// strings, numbers, dates, references, locations and lists of them, order where values have one, words for
    /// strings. Bytes get an index only where a schema asks for it.
    public var automaticIndexes: RecordType.Indexes {
        switch type.kind {
        case .data: []
        case .reference, .location: allowedIndexes.intersection(.queryable)
        default: allowedIndexes
        }
    }
}
