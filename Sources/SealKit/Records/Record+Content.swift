extension Record {
    /// What a field holds: a value in the record itself, or a file beside it.
    public enum Content: Sendable {
        /// A value in the record itself.
        case value(RecordValue)
        /// A file beside it.
        case asset(Asset)

        /// nil for what the subscript does not show: encrypted fields, and those that were not asked for.
        init?(_ state: FieldState) {
            switch state {
            case .plain(let value): self = .value(value)
            case .asset(let asset): self = .asset(asset)
            case .encrypted, .omitted: return nil
            }
        }

        /// As an app casts it; nil for a list of several kinds, which no server has.
        var value: (any RecordValueConvertible)? {
            switch self {
            case .value(let value): value.swiftValue
            case .asset(let asset): asset
            }
        }
    }
}

extension Record.FieldState {
    init(_ content: Record.Content) {
        switch content {
        case .value(let value): self = .plain(value)
        case .asset(let asset): self = .asset(asset)
        }
    }
}
