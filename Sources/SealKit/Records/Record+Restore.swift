extension Record {
    /// Gives a field back that an app has kept beside ``encodeSystemFields()``, as what it was: for faces of the SDK
    /// that archive whole records.
    /// - Parameter isChanged: it was set since the record was fetched or saved, so that the next save sends it.
    package mutating func restore(_ content: Content?, for key: String, isEncrypted: Bool, isChanged: Bool) {
        switch content {
        case .value(let value): fields[key] = isEncrypted ? .encrypted(value) : .plain(value)
        case .asset(let asset): fields[key] = .asset(asset)
        case nil: fields[key] = nil
        }
        if isChanged { changed.insert(key) }
    }
}
