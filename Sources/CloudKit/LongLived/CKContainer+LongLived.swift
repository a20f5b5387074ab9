import Foundation
import SealKit

/// Operations that outlast their process: `configuration.isLongLived`.
///
/// There is no daemon here: what was begun goes on when an app adds it again, in this process or in a later one. It is
/// gone once its completion block was told its results, or after `cancel()`, or a day after it has finished. A failure
/// that leaves something to do (no network, a full disk, a locked account) ends the object and not the operation: get
/// it by its ID, and add it again. With the default quality of service it waits for network and server as `.utility`
/// does. Fetches and changes of records are kept; shares, whose participants no journal keeps, and operations of other
/// kinds run as if it were not set.
extension CKContainer {
    /// What this account has begun on this device in this container and was told no end of, in the order in which it
    /// began. While another process has the folder there is nothing.
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
        try await inCloudKitsWords {
            try await keptOperations().compactMap { Self.operationID($0.operationID) }
        }
    }

    /// One of them, with its input and its configuration, to be added to its database: it tells its results from the
    /// beginning.
    /// - Returns: nil for one that has ended, or was never begun here.
    public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? {
        try await inCloudKitsWords {
            try await keptOperations().first { Self.operationID($0.operationID) == operationID }.flatMap { kept in
                self.operation(kept, operationID)
            }
        }
    }

    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) { telling(completionHandler) { try await self.allLongLivedOperationIDs() } }

    @preconcurrency
    public func fetchLongLivedOperation(
        withID operationID: CKOperation.ID,
        completionHandler: @escaping @Sendable (CKOperation?, (any Error)?) -> Void
    ) {
        telling({ (result: Result<CKOperation?, any Error>) in
            switch result {
            case .success(let operation): completionHandler(operation, nil)
            case .failure(let error): completionHandler(nil, error)
            }
        }) { try await self.longLivedOperation(for: operationID) }
    }

    /// Without those that have finished a day ago, which go: nobody has asked what became of them.
    func keptOperations(at now: Date = Date()) async throws(SealKitError) -> [SealKit.LongLivedOperation] {
        let container = try await core.container()
        try core.requireReadableJournal()
        var kept: [SealKit.LongLivedOperation] = []
        for operation in try await container.longLivedOperations {
            guard let finished = try await operation.finished, now.timeIntervalSince(finished) > Self.secondsKept else {
                kept.append(operation)
                continue
            }
            // Its time is over, also where it cannot be removed now: the next one to ask tries again.
            try? await operation.end()
        }
        return kept
    }

    private static let secondsKept: TimeInterval = 86_400

    /// Nil for a download, which CloudKit has none of.
    private func operation(_ kept: SealKit.LongLivedOperation, _ id: CKOperation.ID) -> CKOperation? {
        let operation: CKDatabaseOperation
        switch kept {
        case .modifyRecords(let kept): operation = CKModifyRecordsOperation(kept)
        case .fetchRecords(let kept): operation = CKFetchRecordsOperation(kept)
        case .download: return nil
        }
        operation.operationID = id
        operation.configuration = CKOperationConfiguration(kept.configuration ?? OperationConfiguration())
        operation.configuration.isLongLived = true
        operation.configuration.container = self
        operation.isGoneOnWith = true
        operation.database = CKDatabase.Scope(rawValue: kept.databaseScope.rawValue).map { database(with: $0) }
        return operation
    }

    /// An operation's ID by the journal's word: a UUID's 16 bytes.
    static func operationID(_ kept: String) -> CKOperation.ID? {
        guard kept.utf8.count == 32 else { return nil }
        var text = ""
        for (index, digit) in kept.uppercased().enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
