extension Record {
    /// A record's encrypted fields. They take no asset, which is sealed anyway: `encryptedValues["scan"] = Asset(…)`
    /// does not compile. A reference is refused when the record is saved (`invalidArguments`), since the server follows
    /// references.
    public struct EncryptedValues: Sendable {
        var fields: FieldList<FieldState>
        var changed: Set<String>

        /// Reading one of another type gives nil; writing nil removes the key.
        public subscript<T: InlineRecordValue>(key: String) -> T? {
            get { self.value(key).flatMap { T(recordValue: $0) } }
            set { setValue(key, newValue?.recordValue) }
        }

        /// The same of whatever kind, to be cast: `record.encryptedValues["title"] as? String`.
        @_disfavoredOverload
        public subscript(key: String) -> (any InlineRecordValue)? {
            get { self.value(key)?.swiftValue }
            set { setValue(key, newValue?.recordValue) }
        }

        /// An encrypted field of whatever kind.
        public func value(_ key: String) -> RecordValue? {
            guard case .encrypted(let value)? = fields[key] else { return nil }
            return value
        }

        /// Sets a field to a value whose type is known when the program runs; nil removes it.
        public mutating func setValue(_ key: String, _ value: RecordValue?) {
            fields[key] = value.map { .encrypted($0) }
            changed.insert(key)
        }

        /// The names of all encrypted fields.
        public func allKeys() -> [String] {
            fields.compactMap { if case .encrypted = $0.value { $0.key } else { nil } }
        }

        /// Encrypted keys that were set, and all keys that were removed, since the record was fetched or saved.
        public func changedKeys() -> [String] {
            changed.filter { key in fields[key].map { if case .encrypted = $0 { true } else { false } } ?? true }
                .sorted()
        }
    }

    /// Only what differs, or was set there, is touched: whoever reads them all, changes one and sets them has changed
    /// one.
    mutating func replaceEncryptedFields(by values: EncryptedValues) {
        // One that was not asked for is there as long as nobody has removed it.
        let removedUnseen = values.changed.filter { values.fields[$0] == nil && isOmitted($0) }
        for key in Set(encryptedValues.allKeys()).union(values.allKeys()).union(removedUnseen) {
            let value = values.value(key)
            guard encryptedValues.value(key) != value || values.changed.contains(key) || isOmitted(key) else {
                continue
            }
            set(key, value.map { .encrypted($0) })
        }
    }

    private func isOmitted(_ key: String) -> Bool { if case .omitted? = fields[key] { true } else { false } }
}
