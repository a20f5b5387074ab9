extension Result where Failure == CKError {
    var value: Success? { try? get() }
    var error: CKError? { if case .failure(let error) = self { error } else { nil } }
}

extension Array {
    /// What failed, bundled as one error; nil where nothing did.
    func partialError<ID: Hashable & Sendable, Value>() -> CKError? where Element == (ID, Result<Value, CKError>) {
        var errors: [ID: CKError] = [:]
        for (id, result) in self { if let error = result.error { errors[id] = error } }
        return errors.isEmpty ? nil : CKError(partial: errors)
    }

    /// What succeeded, by the IDs.
    func values<ID: Hashable, Value>() -> [ID: Value] where Element == (ID, Result<Value, CKError>) {
        Dictionary(compactMap { id, result in result.value.map { (id, $0) } }) { $1 }
    }
}

extension Array where Element: Hashable {
    /// Each once, where it comes first: what is named twice is told once.
    var eachOnce: [Element] {
        var told: Set<Element> = []
        return filter { told.insert($0).inserted }
    }
}

extension CKOperation {
    /// Tells the end in both forms.
    func end(
        _ error: CKError?, _ old: @escaping @Sendable ((any Error)?) -> Void,
        and new: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        tell {
            old(error)
            new(error.map { .failure($0) } ?? .success(()))
        }
    }
}
