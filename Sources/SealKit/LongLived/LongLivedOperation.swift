package import Foundation
import SealPrimitives

/// What was begun and not ended, perhaps by a process that is gone (<doc:LongLived>).
public enum LongLivedOperation: Sendable {
    /// Saves and deletions.
    case modifyRecords(LongLivedModification)
    /// A file on its way to this device.
    case download(LongLivedDownload)
    /// Records that are to be fetched.
    case fetchRecords(LongLivedFetch)

    /// The same in every process; of this device alone.
    public var operationID: String {
        switch self {
        case .modifyRecords(let operation): operation.operationID
        case .download(let operation): operation.operationID
        case .fetchRecords(let operation): operation.operationID
        }
    }

    /// What it goes by, unless it is called inside of a `configuredWith`; nil for CloudKit's defaults.
    public var configuration: OperationConfiguration? {
        switch self {
        case .modifyRecords(let operation): operation.configuration
        case .download(let operation): operation.configuration
        case .fetchRecords(let operation): operation.configuration
        }
    }

    /// When all of its results were there first, by this device's clock; nil before that, and for a download.
    package var finished: Date? {
        get async throws(SealKitError) {
            switch self {
            case .modifyRecords(let operation): try await operation.finished
            case .download: nil
            case .fetchRecords(let operation): try await operation.finished
            }
        }
    }

    /// Forgets it.
    package func end() async throws(SealKitError) {
        switch self {
        case .modifyRecords(let operation): try await operation.end()
        case .download(let operation): try await operation.end()
        case .fetchRecords(let operation): try await operation.end()
        }
    }

    /// Of the database that it was begun in.
    package var databaseScope: Database.Scope {
        switch self {
        case .modifyRecords(let operation): operation.database.scope
        case .download(let operation): operation.database.scope
        case .fetchRecords(let operation): operation.database.scope
        }
    }

    /// - Returns: nil for one of another container, or that has ended.
    /// - Throws: `internalError` where it does not open.
    init?(_ id: ID16, in core: ContainerCore, _ journal: OperationJournal) async throws(SealKitError) {
        let rows = OperationRows(journal: journal, seal: JournalSeal(account: core.account), id: id)
        guard let input = try await rows.input(), input.container == core.identifier,
            input.environment == core.environment
        else { return nil }
        let database = Database(core: core, scope: input.scope)
        switch input.content {
        case .modification(let saving, let deleting, let policy, let isAtomic):
            self = .modifyRecords(
                LongLivedModification(
                    database: database, rows: rows, input: input, saving: saving, deleting: deleting,
                    savePolicy: policy, isAtomic: isAtomic))
        case .download(let remote, let file):
            self = .download(
                LongLivedDownload(database: database, rows: rows, input: input, remote: remote, file: file))
        case .fetch(let ids, let desiredKeys):
            self = .fetchRecords(
                LongLivedFetch(database: database, rows: rows, input: input, recordIDs: ids, desiredKeys: desiredKeys))
        }
    }
}

extension SealKitError {
    /// It keeps a long-lived operation from going on for now, and says nothing of its items: ask again later.
    package var isNoOutcome: Bool {
        let passes = passesWithTime && retryAfter != nil
        return passes || concernsWholeRequest || [.rollback, .serverRejectedRequest].contains(code)
    }
}
