extension Record {
    /// A record's encrypted fields. They take no asset, which is sealed anyway: `encryptedValues["scan"] = Asset(…)` does not compile. A
    /// reference is refused when the record is saved (`invalidArguments`), since the server follows references.
    public struct EncryptedValues: Sendable {
        var fields: [String: FieldState]
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

        public mutating func setValue(_ key: String, _ value: RecordValue?) {
            fields[key] = value.map { .encrypted($0) }
            changed.insert(key)
        }

        public func allKeys() -> [String] {
            fields.compactMap { if case .encrypted = $0.value { $0.key } else { nil } }.sorted()
        }

        /// Encrypted keys that were set, and all keys that were removed, since the record was fetched or saved.
        public func changedKeys() -> [String] {
            changed.filter { key in fields[key].map { if case .encrypted = $0 { true } else { false } } ?? true }.sorted()
        }
    }

    mutating func replaceEncryptedFields(by values: EncryptedValues) {
        for key in encryptedValues.allKeys() where values.value(key) == nil { set(key, nil) }
        for (key, state) in values.fields {
            if case .encrypted = state { set(key, state) }
        }
    }
}
