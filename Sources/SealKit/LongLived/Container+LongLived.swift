import SealPrimitives

extension Container {
    /// What this account has begun on this device in this container, and not ended, in the order in which it began:
    /// CloudKit's `allLongLivedOperationIDs()`. Take each up where it is to go on.
    ///
    /// ```swift
    /// for operation in try await container.longLivedOperations {
    ///     guard case .modifyRecords(let operation) = operation else { continue }
    ///     let results = try await operation.results()
    ///     try keep(results.saveResults)
    ///     try await operation.end()
    /// }
    /// ```
    /// - Throws: `internalError` where the journal is damaged; `notAuthenticated`, `accountTemporarilyUnavailable`.
    public var longLivedOperations: [LongLivedOperation] {
        get async throws(SealKitError) {
            try await operations { _ in true }
        }
    }

    /// One of them by its id: CloudKit's `longLivedOperation(for:)`.
    /// - Returns: nil for one that has ended, or was never begun here.
    /// - Throws: as ``longLivedOperations``.
    public func longLivedOperation(withID operationID: String) async throws(SealKitError) -> LongLivedOperation? {
        try await operations { $0.hex == operationID }.first
    }

    private func operations(where isWanted: (ID16) -> Bool) async throws(SealKitError) -> [LongLivedOperation] {
        let core = core
        try core.requireSignedIn()
        guard let journal = core.journal else { return [] }
        var operations: [LongLivedOperation] = []
        for id in try await journal.operations(of: core.account.keys.rootKey) where isWanted(id) {
            if let operation = try await LongLivedOperation(id, in: core, journal) { operations.append(operation) }
        }
        return operations
    }
}
