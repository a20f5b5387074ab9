import Foundation
import SealKit
import Synchronization

/// The journal's part of an operation that saves and deletes records, where it has one.
final class LongLivedModifying: Sendable {
    private let begun: Mutex<SealKit.LongLivedModification?>
    private let operation: CKOperation

    /// - Parameter kept: what a former process began.
    init(_ kept: SealKit.LongLivedModification?, for operation: CKOperation) {
        begun = Mutex(kept)
        self.operation = operation
    }

    /// What is done by the journal: nothing of an operation that is not long-lived, and of one with a share in it,
    /// whose participants no journal keeps.
    /// - Parameter failure: why there is no journal, where there should be one.
    /// - Throws: where it cannot be kept: nothing is sent then.
    func modification(
        in database: SealKit.Database, saving: [any SavableRecord], deleting: [SealKit.Record.ID],
        policy: SealKit.Database.SavePolicy, isAtomic: Bool, failure: SealKitError?
    ) async throws(SealKitError) -> SealKit.LongLivedModification? {
        if let known = begun.withLock({ $0 }) { return known }
        let records = saving.compactMap { $0 as? SealKit.Record }
        guard operation.configuration.isLongLived, records.count == saving.count,
            !deleting.contains(where: { $0.recordName == SealKit.Share.recordName })
        else { return nil }
        if let failure { throw failure }
        let made = try await database.beginModifyingRecords(
            saving: records, deleting: deleting, savePolicy: policy, atomically: isAtomic,
            operationID: operation.journalID)
        begun.withLock { $0 = made }
        operation.tell { self.operation.longLivedOperationWasPersistedBlock() }
        await operation.toldAll()
        return made
    }

    /// The app was told how it ended.
    /// - Parameter failure: of the operation as a whole. One that is under way in another object is not this one's to
    ///   end.
    func end(_ failure: CKError?) async {
        guard let begun = begun.withLock({ $0 }), failure?.code != .constraintViolation else { return }
        // What cannot be removed is told once more after a restart.
        try? await begun.end()
    }
}
