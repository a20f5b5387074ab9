extension Result where Failure == CKError {
    var value: Success? { try? get() }
    var error: CKError? { if case .failure(let error) = self { error } else { nil } }
}

extension Array {
    /// - Throws: `partialFailure` with what failed, where something did.
    func throwFailures<ID: Hashable & Sendable, Value>() throws(CKError)
    where Element == (ID, Result<Value, CKError>) {
        var errors: [ID: CKError] = [:]
        for (id, result) in self { if let error = result.error { errors[id] = error } }
        if !errors.isEmpty { throw CKError(partial: errors) }
    }

    /// What succeeded, by the IDs.
    func values<ID: Hashable, Value>() -> [ID: Value] where Element == (ID, Result<Value, CKError>) {
        Dictionary(compactMap { id, result in result.value.map { (id, $0) } }) { $1 }
    }
}

extension CKOperation {
    /// - Throws: what items have failed with; `operationCancelled` where that is what some of them ended with.
    func throwFailures<ID: Hashable & Sendable, Value>(_ results: [(ID, Result<Value, CKError>)]) throws(CKError) {
        if isCancelled, results.contains(where: { $0.1.error?.code == .operationCancelled }) {
            throw CKError(any: CancellationError())
        }
        try results.throwFailures()
    }
}

/// What has come of an operation that saves and deletes, in the order in which it was asked for.
struct ModifyOutcomes<Item, ID: Hashable & Sendable> {
    private(set) var saved: [Item] = []
    private(set) var deleted: [ID] = []
    private var results: [(ID, Result<Void, CKError>)] = []

    mutating func add(saving id: ID, _ result: Result<Item, CKError>) {
        results.append((id, result.map { _ in }))
        if let item = result.value { saved.append(item) }
    }

    mutating func add(deleting id: ID, _ result: Result<Void, CKError>) {
        results.append((id, result))
        if result.error == nil { deleted.append(id) }
    }

    /// - Throws: `partialFailure` with what failed, where something did.
    func throwFailures() throws(CKError) { try results.throwFailures() }
}

extension Array where Element: Hashable {
    /// Each once, where it comes first: what is named twice is told once.
    var eachOnce: [Element] {
        var told: Set<Element> = []
        return filter { told.insert($0).inserted }
    }
}

extension CKError? {
    /// As the blocks of operations tell it.
    var asResult: Result<Void, any Error> { map { .failure($0) } ?? .success(()) }
}
